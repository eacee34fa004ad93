/** An `Env` whose clock stands still until a test moves it, and whose randomness is seeded. It has no sockets. */
import type { Env, Timer } from '../../src/env.js'

interface Pending {
  atMs: number
  callback: () => void
}

export class ManualEnv implements Env {
  nowMs = 1_700_000_000_000
  #elapsedMs = 0
  #seed = 42
  readonly #pending = new Set<Pending>()

  now = () => this.nowMs
  monotonic = () => this.#elapsedMs

  after(ms: number, callback: () => void): Timer {
    const pending = { atMs: this.#elapsedMs + ms, callback }
    this.#pending.add(pending)
    return { cancel: () => void this.#pending.delete(pending) }
  }

  soon(callback: () => void): void {
    this.after(0, callback)
  }

  random = {
    bytes: (length: number) => Buffer.from(Array.from({ length }, () => this.random.below(256))),
    below: (below: number) => {
      this.#seed = (this.#seed * 1_103_515_245 + 12_345) % 2_147_483_648
      return Math.floor((this.#seed / 2_147_483_648) * below)
    },
    uuid: () => this.random.bytes(16).toString('hex'),
  }

  listen(): never {
    throw new Error('this env has no sockets')
  }

  connect(): never {
    throw new Error('this env has no sockets')
  }

  get timers(): number {
    return this.#pending.size
  }

  /** Lets `ms` pass, calling what falls due in the order of its time. */
  pass(ms: number): void {
    const until = this.#elapsedMs + ms
    for (;;) {
      const due = [...this.#pending].filter(({ atMs }) => atMs <= until)
      const next = due.sort((a, b) => a.atMs - b.atMs)[0]
      if (!next) break
      this.#pending.delete(next)
      this.#move(next.atMs)
      next.callback()
    }
    this.#move(until)
  }

  #move(toMs: number): void {
    this.nowMs += toMs - this.#elapsedMs
    this.#elapsedMs = toMs
  }
}
