/**
 * Work that takes long on the JavaScript thread, one piece in each turn of the event loop whoever
 * asks for it: between two of them everybody else is served. The queue is bounded by those who ask,
 * since each connection asks for one piece at a time.
 */
import type { Env } from '../env.js'

export class Turns {
  readonly #env: Env
  #last: Promise<unknown> = Promise.resolve()

  constructor(env: Env) {
    this.#env = env
  }

  /** Settles as `work` does. */
  run<T>(work: () => T): Promise<T> {
    const turn = this.#last
      .then(() => new Promise<void>((resolve) => this.#env.soon(resolve)))
      .then(work)
    this.#last = turn.catch(() => {})
    return turn
  }
}
