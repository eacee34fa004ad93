/**
 * Which leader epoch begins at which offset of a log (KIP-101, KIP-279): by it a follower finds out
 * where its log and its leader's part.
 *
 * Pure. Epochs and start offsets both rise strictly. The checkpoint file of it is written by
 * derived-state.ts; what the file lacks is read from the batches at recovery.
 */
import type { EpochStart } from './checkpoints.js'

export interface EpochEnd {
  /** The largest epoch at or below the one asked for, or -1. */
  epoch: number
  /** One above its last offset, or -1. */
  endOffset: number
}

const UNKNOWN: EpochEnd = { epoch: -1, endOffset: -1 }

export class LeaderEpochs {
  #entries: EpochStart[]

  /** REQUIRES: `entries` rise in both fields. */
  constructor(entries: readonly EpochStart[] = []) {
    this.#entries = [...entries]
  }

  get entries(): readonly EpochStart[] {
    return this.#entries
  }

  /** The epoch of the last batch, or -1. */
  get latest(): number {
    return this.#entries.at(-1)?.epoch ?? -1
  }

  /**
   * A batch of `epoch` begins at `startOffset`. Entries that contradict it are dropped: the log is
   * the truth. Returns whether anything changed; negative epochs, of a log without leaders, do not.
   */
  assign(epoch: number, startOffset: number): boolean {
    const last = this.#entries.at(-1)
    if (epoch < 0 || (last?.epoch === epoch && startOffset >= last.startOffset)) return false
    const contradicts = (entry: EpochStart) =>
      entry.epoch >= epoch || entry.startOffset >= startOffset
    while (this.#entries.length > 0 && contradicts(this.#entries.at(-1)!)) this.#entries.pop()
    this.#entries.push({ epoch, startOffset })
    return true
  }

  /** Where `epoch` ends, as OffsetsForLeaderEpoch answers; -1 and -1 where it is not known. */
  endOffsetFor(epoch: number, logEndOffset: number): EpochEnd {
    if (epoch < 0) return UNKNOWN
    if (epoch === this.latest) return { epoch, endOffset: logEndOffset }
    const higher = this.#entries.findIndex((entry) => entry.epoch > epoch)
    const next = this.#entries[higher]
    if (next === undefined) return UNKNOWN
    // Below all that are known, everything of that epoch lies before the first of them.
    return { epoch: this.#entries[higher - 1]?.epoch ?? epoch, endOffset: next.startOffset }
  }

  /** The epoch of the batch that holds `offset`, or -1. */
  epochAt(offset: number): number {
    return this.#entries.findLast(({ startOffset }) => startOffset <= offset)?.epoch ?? -1
  }

  /** Forgets epochs that begin at or above `offset`. Returns whether there was one. */
  truncateFromEnd(offset: number): boolean {
    const before = this.#entries.length
    this.#entries = this.#entries.filter(({ startOffset }) => startOffset < offset)
    return this.#entries.length < before
  }

  /**
   * Forgets epochs that end at or below `offset`; the one that goes on there begins there. Returns
   * whether anything changed.
   */
  truncateFromStart(offset: number): boolean {
    const index = this.#entries.findLastIndex(({ startOffset }) => startOffset <= offset)
    const first = this.#entries[index]
    if (first === undefined || (index === 0 && first.startOffset === offset)) return false
    this.#entries.splice(0, index + 1, { epoch: first.epoch, startOffset: offset })
    return true
  }
}
