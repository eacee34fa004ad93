/**
 * The log of one partition: its segments in order, appended to at the newest and read anywhere.
 *
 * Appends, rolls, lookups and deletion at the start are synchronous. Syncs, seals, truncation and
 * opening run in the pool; while the log is being truncated, appends get READ_ONLY.
 *
 * Errors of an append are values (`Status`), as a broker answers them; all else throws
 * `SeglogError`. A write or sync that fails fences the log: every later append gets FENCED until it
 * is opened again.
 *
 * Leaves to others: replication limits, waiting, which bytes a record holds. The files beside it
 * do the work: log-loader (recovery), append, flusher, truncation, deletion, segments (lookups).
 */
import { type Env, systemEnv, type Timer } from '../env.js'
import type { SeglogError } from '../errors.js'
import { AppendFlag, native } from '../native.js'
import { append, roll } from './append.js'
import { firstTimestampOf } from './compaction/age.js'
import {
  type CompactionNeed,
  type CompactionOptions,
  type CompactionReport,
  cleanable,
  compact,
} from './compaction/compact.js'
import { deleteBefore, deleteOldSegments, moveStart } from './deletion.js'
import { DerivedState } from './derived-state.js'
import type { LeaderEpochs } from './leader-epochs.js'
import { letGo, openSegments } from './log-loader.js'
import {
  defaultLogOptions,
  type LogOptions,
  type LogReport,
  type LogTuning,
} from './log-options.js'
import { LogState } from './log-state.js'
import type { ProducerState } from './producer-state.js'
import type { Slice } from './slice.js'
import { startAnew, truncate } from './truncation.js'

export class Log {
  readonly directory: string
  readonly report: LogReport
  readonly producers: ProducerState
  readonly #state: LogState
  #owedFlush: Promise<void> | undefined
  /** Runs from the first append that is not synced. */
  #flushTimer: Timer | undefined
  /** Truncations that began. */
  cuts = 0
  /** The last truncation that was asked for; later ones and `close` wait for it. */
  #truncation: Promise<void> = Promise.resolve()
  #closing: Promise<void> | undefined

  private constructor(state: LogState, report: LogReport) {
    this.#state = state
    this.directory = state.directory
    this.producers = state.derived.producers
    this.report = report
  }

  /**
   * Opens the folder, making it where missing, and recovers it: the newest segment is read batch by
   * batch unless the last stop was clean, and cut behind the last valid one. Rejects with IO,
   * TOO_MANY_FILES or CORRUPT.
   */
  static async open(
    directory: string,
    given: LogOptions,
    nowMs: number,
    env: Env = systemEnv,
  ): Promise<Log> {
    const options = { ...defaultLogOptions, ...given }
    const { segments, report, unsynced, startOffset } = await openSegments(directory, options)
    try {
      const derived = new DerivedState(directory)
      await derived.restore(segments, startOffset, nowMs, (line) => {
        report.damage ??= line
      })
      const endOffset = segments[segments.length - 1]!.nextOffset
      const known = options.clean ? endOffset : (options.recoveryPoint ?? startOffset)
      const recoveryPoint = Math.max(startOffset, Math.min(known, endOffset))
      const directoryDirty = report.segments === 0 || !options.clean
      const found = { segments, startOffset, recoveryPoint, derived, unsynced, directoryDirty }
      const onDamage = (line: string) => {
        report.damage ??= line
        given.onDamage?.(line)
      }
      return new Log(new LogState(directory, { ...options, onDamage }, found, env), report)
    } catch (error) {
      await letGo(segments)
      throw error
    }
  }

  get startOffset(): number {
    return this.#state.startOffset
  }

  /** The offset that the next record gets. */
  get endOffset(): number {
    return this.#state.endOffset
  }

  /** Everything below is on disk. */
  get recoveryPoint(): number {
    return this.#state.recoveryPoint
  }

  /** Which leader epoch begins where. */
  get epochs(): LeaderEpochs {
    return this.#state.derived.epochs
  }

  get segmentCount(): number {
    return this.#state.segments.count
  }

  /** Valid bytes of all segments. */
  get sizeBytes(): number {
    return this.#state.segments.sizeBytes
  }

  /**
   * Appends one batch from a client, stamping offset and leader epoch into `bytes`. Returns the
   * base offset, or a `Status` below 0 with the log unchanged; INVALID_RECORD leaves the index of
   * the record in `native.results[Result.DETAIL]`.
   */
  appendFromClient(bytes: Uint8Array, offset: number, length: number, leaderEpoch: number): number {
    return this.#append(bytes, offset, length, leaderEpoch, AppendFlag.FROM_CLIENT)
  }

  /**
   * Appends the one batch that the encoder of this process left at the start of `bytes`, without
   * its CRC, which is written into it. Returns as `appendFromClient`.
   */
  appendEncoded(bytes: Uint8Array, length: number): number {
    return this.#append(bytes, 0, length, 0, AppendFlag.FROM_ENCODER)
  }

  /**
   * Appends batches as a leader sent them, offsets and epochs kept. Returns as `appendFromClient`.
   */
  appendFromLeader(bytes: Uint8Array, offset: number, length: number): number {
    return this.#append(bytes, offset, length, 0, AppendFlag.FROM_LEADER)
  }

  #append(bytes: Uint8Array, offset: number, length: number, epoch: number, flag: number): number {
    const state = this.#state
    const baseOffset = append(state, bytes, offset, length, epoch, flag)
    const { flushMessages, flushMs } = state.options
    if (baseOffset < 0) return baseOffset
    if (flushMs !== Infinity) this.#flushLater(flushMs)
    if (flushMessages === 0) return baseOffset
    if (state.endOffset - state.flusher.coveredOffset >= flushMessages) {
      this.#owedFlush = this.flush()
      // The failure fences the log, which the next append reports.
      this.#owedFlush.catch(() => {})
    }
    return baseOffset
  }

  #flushLater(ms: number): void {
    this.#flushTimer ??= this.#state.env.after(ms, () => {
      this.#flushTimer = undefined
      // The failure fences the log, which the next append reports.
      if (!this.#state.closed) this.flush().catch(() => {})
    })
  }

  /** Lets nothing be written any more, because of what happened beside this log. */
  fence(error: SeglogError): void {
    this.#state.flusher.fence(error)
  }

  /**
   * The sync that `flushMessages` brought about with the last append, for those who answer only
   * after it.
   */
  takeOwedFlush(): Promise<void> | undefined {
    const owed = this.#owedFlush
    this.#owedFlush = undefined
    return owed
  }

  /** Changes what holds from the next append on. */
  configure(changes: Partial<LogTuning>): void {
    this.#state.options = { ...this.#state.options, ...changes }
  }

  /**
   * Begins a new segment at the log's end, unless the active one is empty. Throws CLOSED, FENCED,
   * READ_ONLY, NO_SPACE, TOO_MANY_FILES, IO.
   */
  roll(): void {
    roll(this.#state)
  }

  /**
   * The bytes from the batch that holds `offset`, up to `maxBytes` (at least one batch) and below
   * `limitOffset`; a slice never spans two segments. Undefined where nothing is to be read yet.
   * Throws OFFSET_OUT_OF_RANGE below the log's start and above its end, CORRUPT where the bytes on
   * disk are damaged.
   */
  slice(offset: number, maxBytes: number, limitOffset = this.endOffset): Slice | undefined {
    this.#state.checkOpen()
    this.#state.checkRange(offset)
    return this.#state.segments.slice(offset, maxBytes, limitOffset)
  }

  /**
   * The first batch, in offset order, that ends at or above `from` and holds a record at or after
   * `timestamp` (ms), as a slice of exactly that batch; undefined where there is none. The record
   * in it is for the caller to find; one below the log's start may be the only one in a batch.
   */
  batchForTimestamp(timestamp: number, from = this.startOffset): Slice | undefined {
    this.#state.checkOpen()
    return this.#state.segments.batchForTimestamp(timestamp, from)
  }

  /** The largest timestamp of any record in ms, or -1 for an empty log. */
  get maxTimestamp(): number {
    this.#state.checkOpen()
    return this.#state.segments.maxTimestamp(this.startOffset).timestamp
  }

  /**
   * Resolves once all that was appended before is on disk. Calls that overlap share a sync, or are
   * done by `close`. Rejects with IO or FENCED, and with TOO_MANY_FILES, which may be tried again.
   */
  flush(): Promise<void> {
    const { closed, truncating, options, flusher, endOffset } = this.#state
    if (closed || truncating || options.onFlush) return this.#flush()
    return flusher.flush(endOffset, () => this.#state.closed).then(() => this.#closing)
  }

  async #flush(): Promise<void> {
    const state = this.#state
    state.checkOpen()
    const target = state.endOffset
    while (state.truncating && !state.closed) await this.#truncation.catch(() => {})
    const { onFlush } = state.options
    const beganMs = onFlush && state.recoveryPoint < target ? state.env.monotonic() : undefined
    await state.flusher.flush(target, () => state.closed)
    if (beganMs !== undefined) onFlush?.(state.env.monotonic() - beganMs)
    await this.#closing
  }

  /** As `flush`, before it returns. Throws what that rejects with, CLOSED, READ_ONLY. */
  flushNow(): void {
    this.#state.checkWritable()
    this.#state.flusher.flushNow()
  }

  /**
   * Moves the log's start up to `offset`; below or at the start it does nothing. Whole segments
   * below stay until `deleteBefore` or retention. Throws OFFSET_OUT_OF_RANGE above the end, CLOSED,
   * FENCED, READ_ONLY.
   */
  incrementStartOffset(offset: number): void {
    moveStart(this.#state, offset)
  }

  /**
   * As `incrementStartOffset`; segments that lie wholly below leave the log at once and the disk
   * after `fileDeleteDelayMs`. Where nothing is left, a new segment keeps the end offset, which may
   * throw as `roll`.
   */
  deleteBefore(offset: number): void {
    deleteBefore(this.#state, offset)
  }

  /**
   * Removes the oldest segments as `retentionMs`, `retentionBytes` and the log's start ask, nothing
   * at or above `highWatermark`. Resolves with how many went. Rejects with CLOSED, FENCED,
   * READ_ONLY, IO.
   */
  deleteOldSegments(nowMs: number, highWatermark: number): Promise<number> {
    return deleteOldSegments(this.#state, nowMs, highWatermark)
  }

  /**
   * Compacts what `limitOffset` and the options allow (compaction/compact.ts). Appends, reads and
   * deletion at the start go on; truncation and close interrupt it. Resolves with undefined where
   * there is nothing to compact. Rejects with `Interrupted`, CORRUPT, NO_SPACE, IO and the like,
   * the log being as good as before. REQUIRES: one at a time.
   */
  compact(options: CompactionOptions): Promise<CompactionReport | undefined> {
    this.#state.checkWritable()
    return compact(this.#state, options)
  }

  /** Whether a compaction would pay, or is due. Rejects with CLOSED, CORRUPT, IO. */
  async compactionNeed(limitOffset: number): Promise<CompactionNeed> {
    const state = this.#state
    state.checkOpen()
    const { segments, range } = await cleanable(state, limitOffset)
    const { maxCompactionLagMs } = state.options
    const isDirty = range.end > range.firstDirty
    if (!isDirty || maxCompactionLagMs === Infinity) return { ratio: range.ratio, isOverdue: false }
    const dirty = segments.filter(({ endOffset }) => endOffset > range.firstDirty)
    const first = await firstTimestampOf(state.directory, dirty)
    return { ratio: range.ratio, isOverdue: state.env.now() - first > maxCompactionLagMs }
  }

  /** Resolves when the compaction that may be under way has ended, early; never rejects. */
  interruptCompaction(): Promise<void> {
    return this.#state.compaction.interrupt()
  }

  /** What the compaction goes by. */
  get compactionTuning(): Pick<LogTuning, 'compacts' | 'minCleanableDirtyRatio'> {
    return this.#state.options
  }

  /** Up to where the log was compacted; undefined: never. */
  get cleanedOffset(): number | undefined {
    return this.#state.compaction.cleanedOffset
  }

  /**
   * Cuts everything at and above `offset`, and with it all that was derived from it; a batch that
   * holds `offset` goes whole, and below the first segment the log starts anew at `offset`. At or
   * above the end it does nothing. Appends get READ_ONLY meanwhile. Rejects with CLOSED, FENCED,
   * and with IO and the like, the log being fenced.
   */
  truncateTo(offset: number): Promise<void> {
    return this.#exclusively(() => truncate(this.#state, offset))
  }

  /**
   * Removes everything and goes on at `offset`, which may lie anywhere. Rejects as `truncateTo`.
   */
  truncateFullyAndStartAt(offset: number): Promise<void> {
    return this.#exclusively(() => startAnew(this.#state, offset))
  }

  /** Runs `change` when nothing else changes or syncs the files; a failure of it fences the log. */
  async #exclusively(change: () => Promise<void>): Promise<void> {
    const state = this.#state
    state.checkOpen()
    this.cuts++
    const before = this.#truncation
    const run = async () => {
      await before.catch(() => {})
      state.truncating = true
      await state.compaction.interrupt()
      // A removal may wait for a sync, so that syncs are held only behind it.
      await state.removal.settled()
      if (state.flusher.fenced) throw state.flusher.fenced
      try {
        await state.flusher.hold(change)
      } catch (error) {
        state.flusher.fence(error)
        throw error
      } finally {
        state.flusher.directoryChanged()
      }
    }
    state.truncating = true
    const mine = run().finally(() => {
      state.truncating = false
    })
    this.#truncation = mine
    await mine
  }

  /**
   * Trims, syncs and lets go of every file; later calls get the same promise. Transfers under way
   * end well; other calls get CLOSED. Rejects when something could not be synced: the stop is then
   * not a clean one.
   */
  close(): Promise<void> {
    this.#state.closed = true
    this.#flushTimer?.cancel()
    this.#closing ??= this.#close()
    return this.#closing
  }

  async #close(): Promise<void> {
    const state = this.#state
    // What is under way needs the handles; a failure of it has fenced the log.
    await this.#truncation.catch(() => {})
    await state.compaction.interrupt()
    await state.flusher.settled()
    await state.removal.close()
    const closing = state.segments.list().map(({ handle }) => native.segmentClose(handle, true))
    const failed = (await Promise.allSettled(closing)).find(
      (result) => result.status === 'rejected',
    )
    await state.derived.settled()
    if (failed) throw failed.reason
    if (!state.flusher.fenced) await state.derived.snapshotIfRoom(state.endOffset)
    await state.flusher.finish()
    state.advance(state.startOffset, state.endOffset, state.endOffset)
  }
}
