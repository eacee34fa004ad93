/**
 * What a log keeps of its compaction: up to where it was compacted, and the one run that may be
 * under way.
 *
 * A run may be interrupted at any time, as a truncation or a close does: it notices within a few
 * milliseconds and leaves the log as it was. Only while cleaned segments take the place of others
 * (`swapping`) it goes on to the end of that. Nothing of it begins while the log is closed or cut.
 * JS thread.
 */
import assert from 'node:assert'

/** Why a run ended early: the log is being cut or closed, or it failed. No fault of its own. */
export class Interrupted extends Error {
  override readonly name = 'Interrupted'
}

export class CompactionState {
  /** All below was compacted (`cleaner-offset-checkpoint`); undefined: nothing ever was. */
  cleanedOffset: number | undefined
  /** Settles, and never rejects, when no segments are changing places. */
  swapping: Promise<void> = Promise.resolve()
  #run: Promise<unknown> | undefined
  #interruptions = 0

  constructor(cleanedOffset: number | undefined) {
    this.cleanedOffset = cleanedOffset
  }

  get running(): boolean {
    return this.#run !== undefined
  }

  /** Runs `work`, which asks now and then whether it is interrupted. REQUIRES: no run. */
  async run<T>(work: (isInterrupted: () => boolean) => Promise<T>): Promise<T> {
    assert(!this.#run, 'two compactions of one log')
    const begun = this.#interruptions
    const run = work(() => this.#interruptions !== begun)
    this.#run = run
    try {
      return await run
    } finally {
      this.#run = undefined
    }
  }

  /** Resolves when the run that may be under way has ended; never rejects. */
  async interrupt(): Promise<void> {
    this.#interruptions++
    await this.#run?.catch(() => {})
  }

  /** The log now ends at `offset`, and what was compacted above is gone. */
  cutTo(offset: number): void {
    if (this.cleanedOffset === undefined) return
    this.cleanedOffset = Math.min(this.cleanedOffset, offset)
  }
}
