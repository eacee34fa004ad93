/**
 * Warnings that strangers bring about, at a rate that no stranger sets: beyond it they are counted,
 * and told as a number with the next one.
 */
import type { Env } from '../env.js'
import type { Logger } from '../logger.js'

/** So many lines in so long a time, ms. */
const LINES_MAX = 50
const WINDOW_MS = 10_000

export class Complaints {
  readonly #env: Pick<Env, 'monotonic'>
  readonly #logger: Logger
  #sinceMs = Number.NEGATIVE_INFINITY
  #told = 0
  #untold = 0

  constructor(env: Pick<Env, 'monotonic'>, logger: Logger) {
    this.#env = env
    this.#logger = logger
  }

  tell(line: string): void {
    const nowMs = this.#env.monotonic()
    if (nowMs - this.#sinceMs >= WINDOW_MS) {
      if (this.#untold > 0) this.#logger.warn(`${this.#untold} more lines like these were left out`)
      this.#sinceMs = nowMs
      this.#told = this.#untold = 0
    }
    if (this.#told++ < LINES_MAX) this.#logger.warn(line)
    else this.#untold++
  }
}
