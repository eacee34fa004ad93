/**
 * A simulated `Env`: time stands still until `advance`, timers fire in the order of their time and
 * then of their making, randomness comes from a seed. It has no sockets. The same seed and the same
 * calls give the same run.
 */
import type { Env, Timer } from '../../src/env.js'

interface Pending {
  at: number
  callback: () => void
}

export class SimEnv implements Env {
  readonly random: Env['random']
  readonly #start: number
  readonly #timers = new Set<Pending>()
  #now: number
  #seed: number

  constructor({ now = 1_600_000_000_000, seed = 1 } = {}) {
    this.#start = now
    this.#now = now
    this.#seed = seed
    this.random = {
      bytes: (length) => Buffer.from(Array.from({ length }, () => this.#below(256))),
      below: (below) => this.#below(below),
      uuid: () => this.#uuid(),
    }
  }

  /** Timers that have neither fired nor been cancelled. */
  get timers(): number {
    return this.#timers.size
  }

  now(): number {
    return this.#now
  }

  monotonic(): number {
    return this.#now - this.#start
  }

  after(ms: number, callback: () => void): Timer {
    if (!(ms >= 0 && ms <= 2147483647)) throw new Error(`a timer of ${ms} ms`)
    const timer = { at: this.#now + ms, callback }
    this.#timers.add(timer)
    return { cancel: () => void this.#timers.delete(timer) }
  }

  soon(callback: () => void): void {
    this.after(0, callback)
  }

  listen(): Promise<never> {
    return Promise.reject(new Error('there are no sockets in this simulation'))
  }

  connect(): never {
    throw new Error('there are no sockets in this simulation')
  }

  /** Lets `ms` pass. Promises settle before, between and after the timers. */
  async advance(ms: number): Promise<void> {
    const end = this.#now + ms
    await settle()
    for (let timer = this.#next(end); timer !== undefined; timer = this.#next(end)) {
      this.#timers.delete(timer)
      this.#now = timer.at
      timer.callback()
      await settle()
    }
    this.#now = end
  }

  #next(end: number): Pending | undefined {
    let next: Pending | undefined
    for (const timer of this.#timers) {
      if (timer.at <= end && (next === undefined || timer.at < next.at)) next = timer
    }
    return next
  }

  /** Mulberry32, a generator with 32 bits of state. */
  #below(below: number): number {
    this.#seed = (this.#seed + 0x6d2b79f5) | 0
    let mixed = Math.imul(this.#seed ^ (this.#seed >>> 15), this.#seed | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32) * below)
  }

  #uuid(): string {
    const hex = this.random.bytes(16).toString('hex')
    return hex.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-')
  }
}

/** Lets all promises settle that can. */
export function settle(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve)
  })
}
