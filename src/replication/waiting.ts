/**
 * Requests that wait for something to happen or for a time to pass. One timer serves all of them: a
 * heap holds the deadlines, and the timer is set for the earliest. A waiter leaves the heap when it
 * is cancelled, so that ten thousand parked fetches cost their memory and nothing else.
 */
import type { Env, Timer } from '../env.js'

/** A parked callback. `cancel` is idempotent and never calls it. */
export class Deadline {
  /** Place in the heap; -1 when it is not waiting any more. */
  index = -1

  constructor(
    readonly atMs: number,
    readonly expire: () => void,
    private readonly owner: Deadlines,
  ) {}

  cancel(): void {
    this.owner.remove(this)
  }
}

export class Deadlines {
  readonly #env: Env
  readonly #heap: Deadline[] = []
  #timer: Timer | undefined
  #timerAtMs = Number.POSITIVE_INFINITY

  constructor(env: Env) {
    this.#env = env
  }

  get size(): number {
    return this.#heap.length
  }

  /** Calls `expire` once after `ms`, unless it is cancelled before. */
  after(ms: number, expire: () => void): Deadline {
    const deadline = new Deadline(this.#env.monotonic() + ms, expire, this)
    deadline.index = this.#heap.push(deadline) - 1
    this.#up(deadline.index)
    this.#arm()
    return deadline
  }

  remove(deadline: Deadline): void {
    const { index } = deadline
    if (index < 0) return
    deadline.index = -1
    const last = this.#heap.pop()!
    if (last === deadline) return
    this.#place(last, index)
    this.#up(index)
    this.#down(last.index)
  }

  /** Calls every waiter now, as if its time had passed. */
  expireAll(): void {
    for (const deadline of [...this.#heap]) {
      if (deadline.index < 0) continue
      this.remove(deadline)
      deadline.expire()
    }
  }

  /** Drops every waiter without calling it. */
  close(): void {
    for (const deadline of this.#heap) deadline.index = -1
    this.#heap.length = 0
    this.#timer?.cancel()
    this.#timer = undefined
  }

  #arm(): void {
    const first = this.#heap[0]
    if (!first || first.atMs >= this.#timerAtMs) return
    this.#timer?.cancel()
    this.#timerAtMs = first.atMs
    const ms = Math.max(0, Math.ceil(first.atMs - this.#env.monotonic()))
    this.#timer = this.#env.after(ms, () => this.#fire())
  }

  #fire(): void {
    this.#timer = undefined
    this.#timerAtMs = Number.POSITIVE_INFINITY
    const now = this.#env.monotonic()
    for (let first = this.#heap[0]; first && first.atMs <= now; first = this.#heap[0]) {
      this.remove(first)
      first.expire()
    }
    this.#arm()
  }

  #place(deadline: Deadline, index: number): void {
    this.#heap[index] = deadline
    deadline.index = index
  }

  #up(index: number): void {
    const moving = this.#heap[index]!
    while (index > 0) {
      const parent = (index - 1) >>> 1
      if (this.#heap[parent]!.atMs <= moving.atMs) break
      this.#place(this.#heap[parent]!, index)
      index = parent
    }
    this.#place(moving, index)
  }

  #down(index: number): void {
    const moving = this.#heap[index]!
    for (;;) {
      let child = 2 * index + 1
      if (child >= this.#heap.length) break
      const right = this.#heap[child + 1]
      if (right && right.atMs < this.#heap[child]!.atMs) child++
      if (this.#heap[child]!.atMs >= moving.atMs) break
      this.#place(this.#heap[child]!, index)
      index = child
    }
    this.#place(moving, index)
  }
}
