/**
 * Lets a long piece of work give way: to the event loop after a few milliseconds, and to whoever
 * interrupts it.
 */
import type { Env } from '../../env.js'
import { Interrupted } from './compaction-state.js'

/** The longest time that the event loop waits, apart from a single batch. */
const SLICE_MS = 2

export class Pace {
  readonly #env: Pick<Env, 'monotonic' | 'soon'>
  readonly #isInterrupted: () => boolean
  #since: number

  constructor(env: Pick<Env, 'monotonic' | 'soon'>, isInterrupted: () => boolean) {
    this.#env = env
    this.#isInterrupted = isInterrupted
    this.#since = env.monotonic()
  }

  /** Throws `Interrupted`. Returns whether it is time for a rest. */
  isOver(): boolean {
    this.check()
    return this.#env.monotonic() - this.#since >= SLICE_MS
  }

  check(): void {
    if (this.#isInterrupted()) throw new Interrupted('a compaction was interrupted')
  }

  async rest(): Promise<void> {
    await new Promise<void>((resolve) => this.#env.soon(resolve))
    this.resume()
  }

  /** Something was waited for, so that others had their turn. */
  resume(): void {
    this.#since = this.#env.monotonic()
    this.check()
  }
}
