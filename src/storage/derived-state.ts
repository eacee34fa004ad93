/**
 * What a log knows from its batches beside their offsets, and the files that save a start from
 * reading all of it: leader epochs (`leader-epoch-checkpoint`) and idempotent producers
 * (`%020d.snapshot`, taken at each roll and at a clean close).
 *
 * The log is the truth. Files are written one after the other, off the path of an append; a file
 * that is missing, damaged or behind is made up for from the batches. A snapshot is written only
 * after the epochs that begin below it, so that nothing below a snapshot is needed.
 */
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { readSmall, writeAtomically } from '../atomic-file.js'
import { SeglogError } from '../errors.js'
import { BatchField, HEADER_BYTES, LENGTH_OVERHEAD_BYTES, MAGIC } from '../records/format.js'
import { readExtent, readSequence } from '../records/sequence.js'
import { leaderEpochCheckpoint, readEpochs, type Warn, writeEpochs } from './checkpoints.js'
import { LeaderEpochs } from './leader-epochs.js'
import { segmentName, snapshotOffset } from './log-files.js'
import { replayBatches } from './producer-replay.js'
import { decodeSnapshot, encodeSnapshot } from './producer-snapshot.js'
import { ProducerState } from './producer-state.js'
import { unlinkQuietly } from './segment-removal.js'
import type { SegmentEntry } from './segments.js'

/** So many snapshots that were taken later wait at most for the one that is written. */
const SNAPSHOTS_WAITING_MAX = 8

export class DerivedState {
  readonly producers = new ProducerState()
  readonly #directory: string
  #epochs = new LeaderEpochs()
  /** Of the batch that was noted last; undefined after anything else happened to the epochs. */
  #notedEpoch: number | undefined
  #epochsDirty = false
  #epochsPending = false
  /** The newest snapshot; producers below it are known without a replay. */
  #snapshotOffset = 0
  #snapshotsWaiting = 0
  #writing: Promise<void> = Promise.resolve()

  constructor(directory: string) {
    this.#directory = directory
  }

  get epochs(): LeaderEpochs {
    return this.#epochs
  }

  /**
   * Reads the files, and from `segments` what they lack. REQUIRES: called first. Rejects with IO.
   */
  async restore(
    segments: readonly SegmentEntry[],
    startOffset: number,
    nowMs: number,
    warn: Warn,
  ): Promise<void> {
    const path = join(this.#directory, leaderEpochCheckpoint)
    const known = await readEpochs(path, warn)
    this.#epochs = new LeaderEpochs(known ?? [])
    const end = segments.at(-1)?.nextOffset ?? startOffset
    if (this.#epochs.truncateFromEnd(end)) this.#epochsDirty = true
    await this.#restoreProducers(segments, end, known ? undefined : 0, nowMs, warn)
    if (this.#epochs.truncateFromStart(startOffset)) this.#epochsDirty = true
    await this.#removeStrays(segments)
    if (this.#epochsDirty) this.#writeEpochsSoon()
  }

  /** `from`: where the walk begins if not at the snapshot. */
  async #restoreProducers(
    segments: readonly SegmentEntry[],
    end: number,
    from: number | undefined,
    nowMs: number,
    warn: Warn,
  ): Promise<void> {
    this.producers.clear()
    this.#snapshotOffset = await this.#loadSnapshot(end, warn)
    replayBatches(segments, from ?? this.#snapshotOffset, (bytes, at) => {
      this.#noteEpoch(bytes, at)
      const base = readExtent(bytes, at)?.baseOffset ?? 0
      if (base >= this.#snapshotOffset) this.#noteProducer(bytes, at, nowMs)
    })
  }

  /** Loads the newest sound snapshot at or below `end`, removes those above; 0 for none. */
  async #loadSnapshot(end: number, warn: Warn): Promise<number> {
    for (const offset of await this.#snapshots()) {
      const path = this.#snapshotPath(offset)
      const bytes = offset > end ? undefined : await readDerived(path)
      const batches = bytes && decodeSnapshot(bytes)
      if (batches === undefined) {
        const reason = 'is damaged and is left aside; its producers are read from the log'
        if (offset <= end) warn(`${path} ${reason}`)
        await unlinkQuietly(path)
        continue
      }
      for (const batch of batches) this.producers.replay(batch)
      return offset
    }
    return 0
  }

  /** Offsets of the snapshots, the newest first. */
  async #snapshots(): Promise<number[]> {
    const offsets: number[] = []
    for (const name of await readdir(this.#directory)) {
      const offset = snapshotOffset(name)
      if (offset !== undefined) offsets.push(offset)
    }
    return offsets.sort((a, b) => b - a)
  }

  /** Keeps the newest, and those that go with a segment. */
  async #removeStrays(segments: readonly SegmentEntry[]): Promise<void> {
    const bases = new Set(segments.map(({ baseOffset }) => baseOffset))
    for (const offset of (await this.#snapshots()).slice(1)) {
      if (!bases.has(offset)) await unlinkQuietly(this.#snapshotPath(offset))
    }
  }

  #snapshotPath(offset: number): string {
    return join(this.#directory, `${segmentName(offset)}.snapshot`)
  }

  /** Takes in the batches that were appended, as they stand in `bytes` now. */
  note(bytes: Uint8Array, offset: number, length: number, nowMs: number): void {
    for (let at = offset; at < offset + length; ) {
      if (this.#isOld(bytes, at)) {
        at += int32(bytes, at + BatchField.LENGTH) + LENGTH_OVERHEAD_BYTES
        continue
      }
      if (this.#noteEpoch(bytes, at)) this.#writeEpochsSoon()
      this.#noteProducer(bytes, at, nowMs)
      at += readExtent(bytes, at)?.sizeBytes ?? length
    }
  }

  /**
   * A batch that brings neither an epoch nor a producer: nearly all of them, and no object made.
   */
  #isOld(bytes: Uint8Array, at: number): boolean {
    return (
      bytes[at + BatchField.MAGIC] === MAGIC &&
      int32(bytes, at + BatchField.LEADER_EPOCH) === this.#notedEpoch &&
      (bytes[at + BatchField.PRODUCER_ID]! & 0x80) !== 0
    )
  }

  #noteEpoch(bytes: Uint8Array, at: number): boolean {
    if (bytes[at + BatchField.MAGIC] !== MAGIC) return false
    const view = new DataView(bytes.buffer, bytes.byteOffset + at, HEADER_BYTES)
    const epoch = view.getInt32(BatchField.LEADER_EPOCH)
    const base = readExtent(bytes, at)?.baseOffset ?? 0
    this.#notedEpoch = epoch
    // A replay also passes batches that the file knows, which are no news of an older epoch.
    if (epoch === this.#epochs.epochAt(base)) return false
    const changed = this.#epochs.assign(epoch, base)
    this.#epochsDirty ||= changed
    return changed
  }

  #noteProducer(bytes: Uint8Array, at: number, timestamp: number): void {
    // A negative id, none that is, shows in its first bit.
    if ((bytes[at + BatchField.PRODUCER_ID]! & 0x80) !== 0) return
    const sequence = readSequence(bytes, at)
    const extent = readExtent(bytes, at)
    if (!sequence || !extent) return
    const { producerId, producerEpoch, baseSequence: firstSequence, count } = sequence
    const { baseOffset } = extent
    const lastOffset = baseOffset + count - 1
    const batch = { producerId, producerEpoch, firstSequence, baseOffset, lastOffset, timestamp }
    this.producers.replay(batch)
  }

  #enqueue(job: () => Promise<void>): Promise<void> {
    const done = this.#writing.then(job)
    // What failed is made up for from the log, or by `close`, which reports it.
    this.#writing = done.catch(() => {})
    return done
  }

  #writeEpochsSoon(): void {
    if (this.#epochsPending) return
    this.#epochsPending = true
    this.#enqueue(() => this.#writeEpochs()).catch(() => {})
  }

  async #writeEpochs(): Promise<void> {
    this.#epochsPending = false
    if (!this.#epochsDirty) return
    this.#epochsDirty = false
    try {
      await writeEpochs(join(this.#directory, leaderEpochCheckpoint), this.#epochs.entries)
    } catch (error) {
      this.#epochsDirty = true
      throw error
    }
  }

  /** As `snapshot`; without space for it the next start derives it from the log. */
  async snapshotIfRoom(offset: number): Promise<void> {
    try {
      await this.snapshot(offset)
    } catch (error) {
      if (!(error instanceof SeglogError) || error.code !== 'NO_SPACE') throw error
    }
  }

  /** Saves the producers as they are now; REQUIRES: all batches below `offset` were noted. */
  snapshot(offset: number): Promise<void> {
    if (offset <= this.#snapshotOffset) return this.#enqueue(() => this.#writeEpochs())
    this.#snapshotOffset = offset
    const bytes = encodeSnapshot(this.producers.entries())
    this.#snapshotsWaiting++
    return this.#enqueue(async () => {
      this.#snapshotsWaiting--
      await this.#writeEpochs()
      // One that a cut has overtaken would speak of batches that are gone.
      if (offset > this.#snapshotOffset) return
      // A log that rolls faster than they are written does well with the newest.
      if (this.#snapshotsWaiting > SNAPSHOTS_WAITING_MAX) return
      await writeAtomically(this.#snapshotPath(offset), bytes)
    })
  }

  /** The log ends at `end`, its last segments being `segments`. Rejects with IO. */
  async truncateTo(end: number, segments: readonly SegmentEntry[], nowMs: number): Promise<void> {
    this.#snapshotOffset = Math.min(this.#snapshotOffset, end)
    this.#notedEpoch = undefined
    await this.#writing
    if (this.#epochs.truncateFromEnd(end)) this.#epochsDirty = true
    await this.#restoreProducers(segments, end, undefined, nowMs, () => {})
    if (this.#epochsDirty) await this.#enqueue(() => this.#writeEpochs())
  }

  /** The log begins at `start`. */
  truncateFromStart(start: number): void {
    this.#notedEpoch = undefined
    if (!this.#epochs.truncateFromStart(start)) return
    this.#epochsDirty = true
    this.#writeEpochsSoon()
  }

  /** Nothing is left, and the log goes on at another offset. Rejects with IO. */
  async clear(): Promise<void> {
    this.#snapshotOffset = -1
    this.#notedEpoch = undefined
    await this.#writing
    for (const offset of await this.#snapshots()) await unlinkQuietly(this.#snapshotPath(offset))
    this.producers.clear()
    this.#epochsDirty = this.#epochs.entries.length > 0
    this.#epochs = new LeaderEpochs()
    await this.#enqueue(() => this.#writeEpochs())
  }

  /** Resolves when no file is being written; never rejects. */
  settled(): Promise<void> {
    return this.#writing
  }
}

/** What is too large to be one is none. */
async function readDerived(path: string): Promise<Buffer | undefined> {
  try {
    return await readSmall(path)
  } catch (error) {
    if (error instanceof SeglogError && error.code === 'TOO_LARGE') return undefined
    throw error
  }
}

function int32(bytes: Uint8Array, at: number): number {
  return (bytes[at]! << 24) | (bytes[at + 1]! << 16) | (bytes[at + 2]! << 8) | bytes[at + 3]!
}
