/**
 * The log of one partition: its segments in order, appended to at the newest and read anywhere.
 *
 * Owns the folder's segment files and the offsets of the log; startOffset <= recoveryPoint <=
 * endOffset always, and the three change only in `advance`. Appends, rolls and lookups are
 * synchronous, so nothing can come between reading the log's end and writing there. Syncs, seals
 * and opening run in the pool.
 *
 * Errors of an append are values (`Status`), as a broker answers them; all else throws
 * `SeglogError`. A write or sync that fails fences the log: every later append gets FENCED until it
 * is opened again.
 *
 * Leaves to others: replication limits, waiting, retention, which bytes a record holds.
 */
import assert from 'node:assert'
import { join } from 'node:path'
import { syncDirectory } from '../atomic-file.js'
import { SeglogError } from '../errors.js'
import { AppendFlag, checked, native, Result, Status, statusError } from '../native.js'
import { readExtent } from '../records/sequence.js'
import { segmentName } from './log-files.js'
import {
  createSegment,
  emptySegment,
  letGo,
  openSegments,
  type SegmentEntry,
  syncSegment,
} from './log-loader.js'
import { type LogOptions, type LogReport, segmentOptions } from './log-options.js'
import { replayProducers } from './producer-replay.js'
import { ProducerState } from './producer-state.js'
import { Slice } from './slice.js'

export class Log {
  readonly directory: string
  readonly report: LogReport
  readonly producers: ProducerState
  #options: LogOptions
  readonly #segments: SegmentEntry[]
  readonly #sealing = new Set<Promise<void>>()
  #startOffset: number
  #recoveryPoint: number
  #endOffset: number
  #unflushedRecords = 0
  #directoryDirty: boolean
  /** Older segments that the last user may not have synced; the first flush does it. */
  #unsynced: number[] = []
  #flushing: Promise<void> | undefined
  #owedFlush: Promise<void> | undefined
  #fenced: SeglogError | undefined
  #closing: Promise<void> | undefined

  private constructor(
    directory: string,
    options: LogOptions,
    segments: SegmentEntry[],
    report: LogReport,
    producers: ProducerState,
  ) {
    this.directory = directory
    this.#options = options
    this.#segments = segments
    this.report = report
    this.producers = producers
    this.#startOffset = segments[0]!.baseOffset
    this.#endOffset = segments[segments.length - 1]!.nextOffset
    this.#recoveryPoint = options.clean ? this.#endOffset : this.#startOffset
    this.#directoryDirty = report.segments === 0 || !options.clean
    if (!options.clean) this.#unsynced = segments.slice(0, -1).map(({ baseOffset }) => baseOffset)
  }

  /**
   * Opens the folder, making it where missing, and recovers it: the newest segment is read batch by
   * batch unless the last stop was clean, and cut behind the last valid one. Rejects with IO,
   * TOO_MANY_FILES or CORRUPT.
   */
  static async open(directory: string, options: LogOptions, nowMs: number): Promise<Log> {
    const { segments, report } = await openSegments(
      directory,
      segmentOptions(options),
      options.clean,
    )
    try {
      const producers = new ProducerState()
      if (segments.length > 0) replayProducers(segments, producers, nowMs)
      else segments.push(createSegment(directory, segmentOptions(options)))
      return new Log(directory, options, segments, report, producers)
    } catch (error) {
      await letGo(segments)
      throw error
    }
  }

  get startOffset(): number {
    return this.#startOffset
  }

  /** The offset that the next record gets. */
  get endOffset(): number {
    return this.#endOffset
  }

  /** Everything below is on disk. */
  get recoveryPoint(): number {
    return this.#recoveryPoint
  }

  get segmentCount(): number {
    return this.#segments.length
  }

  /** Valid bytes of all segments. */
  get sizeBytes(): number {
    return this.#segments.reduce((sum, segment) => sum + segment.sizeBytes, 0)
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
   * Appends batches as a leader sent them, offsets and epochs kept. Returns as `appendFromClient`.
   */
  appendFromLeader(bytes: Uint8Array, offset: number, length: number): number {
    return this.#append(bytes, offset, length, 0, AppendFlag.FROM_LEADER)
  }

  #append(bytes: Uint8Array, offset: number, length: number, epoch: number, flag: number): number {
    if (this.#closing !== undefined) return Status.CLOSED
    if (this.#fenced) return Status.FENCED
    let status: number = Status.SEGMENT_FULL
    if (flag === AppendFlag.FROM_LEADER || !this.#isOutgrown(length)) {
      status = native.segmentAppend(this.#active.handle, bytes, offset, length, epoch, flag)
    }
    if (status === Status.SEGMENT_FULL) {
      status = this.#roll(
        flag === AppendFlag.FROM_LEADER ? readExtent(bytes, offset)?.baseOffset : undefined,
      )
      if (status < 0) return status
      status = native.segmentAppend(this.#active.handle, bytes, offset, length, epoch, flag)
    }
    if (status < 0) {
      if (status === Status.IO || status === Status.FENCED)
        this.#fence(statusError(status, this.directory))
      return status
    }
    const baseOffset = native.results[Result.BASE_OFFSET]!
    this.#noteAppend(native.results[Result.LAST_OFFSET]! + 1, native.results[Result.LENGTH]!)
    return baseOffset
  }

  /** A segment that was opened before `configure` knows another limit than the present one. */
  #isOutgrown(length: number): boolean {
    const { sizeBytes } = this.#active
    return sizeBytes > 0 && sizeBytes + length > this.#options.segmentBytes
  }

  #noteAppend(endOffset: number, appendedBytes: number): void {
    const segment = this.#active
    segment.sizeBytes += appendedBytes
    segment.nextOffset = endOffset
    this.#unflushedRecords += endOffset - this.#endOffset
    this.#advance(this.#startOffset, this.#recoveryPoint, endOffset)
    if (this.#options.flushMessages > 0 && this.#unflushedRecords >= this.#options.flushMessages) {
      this.#owedFlush = this.flush()
      // The failure fences the log, which the next append reports.
      this.#owedFlush.catch(() => {})
    }
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
  configure(changes: Partial<Omit<LogOptions, 'clean' | 'mapped'>>): void {
    this.#options = { ...this.#options, ...changes }
  }

  /**
   * Begins a new segment at the log's end, unless the active one is empty. Throws as `slice`, and
   * FENCED.
   */
  roll(): void {
    this.#checkOpen()
    if (this.#fenced) throw this.#fenced
    if (this.#active.nextOffset === this.#active.baseOffset) return
    const status = this.#roll(undefined)
    if (status < 0) throw statusError(status, this.directory)
  }

  #roll(baseOffset: number | undefined): number {
    const sealed = this.#active
    const base = Math.max(baseOffset ?? this.#endOffset, this.#endOffset)
    if (base === sealed.baseOffset) return Status.TOO_LARGE
    const status = this.#addSegment(base)
    if (status < 0) return status
    const sealing = native
      .segmentSeal(sealed.handle)
      .catch((error) => this.#fence(error))
      .finally(() => this.#sealing.delete(sealing))
    this.#sealing.add(sealing)
    return Status.OK
  }

  /** Returns a status below 0 where the files could not be made; the log is then as before. */
  #addSegment(baseOffset: number): number {
    const path = join(this.directory, segmentName(baseOffset))
    const handle = native.segmentCreate(path, baseOffset, segmentOptions(this.#options))
    if (handle < 0) return handle
    this.#segments.push(emptySegment(handle, baseOffset))
    this.#directoryDirty = true
    return Status.OK
  }

  get #active(): SegmentEntry {
    return this.#segments[this.#segments.length - 1]!
  }

  #advance(startOffset: number, recoveryPoint: number, endOffset: number): void {
    assert(
      startOffset <= recoveryPoint && recoveryPoint <= endOffset,
      'offsets of a log out of order',
    )
    this.#startOffset = startOffset
    this.#recoveryPoint = recoveryPoint
    this.#endOffset = endOffset
  }

  #fence(error: unknown): void {
    this.#fenced ??=
      error instanceof SeglogError ? error : new SeglogError('IO', String(error), { cause: error })
  }

  /**
   * The bytes from the batch that holds `offset`, up to `maxBytes` (at least one batch) and below
   * `limitOffset`; a slice never spans two segments. Undefined where nothing is to be read yet.
   * Throws OFFSET_OUT_OF_RANGE below the log's start and above its end, CORRUPT where the bytes on
   * disk are damaged.
   */
  slice(offset: number, maxBytes: number, limitOffset = this.#endOffset): Slice | undefined {
    this.#checkOpen()
    if (offset < this.#startOffset || offset > this.#endOffset) {
      const range = `${this.#startOffset} to ${this.#endOffset}`
      throw new SeglogError(
        'OFFSET_OUT_OF_RANGE',
        `offset ${offset} of ${this.directory} (${range})`,
      )
    }
    for (let i = this.#segmentIndex(offset); i < this.#segments.length; i++) {
      if (offset >= limitOffset) return undefined
      const { handle, baseOffset, nextOffset, damaged } = this.#segments[i]!
      // Behind damage a segment ends early, and what should follow is an error there, no gap.
      if (nextOffset <= offset && !damaged) continue
      const from = Math.max(offset, baseOffset)
      if (damaged && from >= nextOffset) {
        throw new SeglogError('CORRUPT', `offset ${from} of ${this.directory} is damaged`)
      }
      checked(native.segmentLocate(handle, from, maxBytes, limitOffset), this.directory)
      const length = native.results[Result.LENGTH]!
      if (length > 0) return new Slice(handle, native.results[Result.POSITION]!, length)
    }
    return undefined
  }

  #checkOpen(): void {
    if (this.#closing !== undefined) throw new SeglogError('CLOSED', `${this.directory} is closed`)
  }

  /** Index of the last segment whose base offset is at or below `offset`. */
  #segmentIndex(offset: number): number {
    let low = 0
    let high = this.#segments.length - 1
    while (low < high) {
      const middle = (low + high + 1) >>> 1
      if (this.#segments[middle]!.baseOffset <= offset) low = middle
      else high = middle - 1
    }
    return low
  }

  /**
   * The first batch, in offset order, that holds a record at or after `timestamp` (ms), as a slice
   * of exactly that batch; undefined where there is none. The record in it is for the caller to
   * find.
   */
  batchForTimestamp(timestamp: number): Slice | undefined {
    for (const { handle } of this.#segments) {
      const status = native.segmentLocateTimestamp(handle, timestamp)
      if (status === Status.NOT_FOUND) continue
      checked(status, this.directory)
      return new Slice(handle, native.results[Result.POSITION]!, native.results[Result.LENGTH]!)
    }
    return undefined
  }

  /** The largest timestamp of any record in ms, or -1 for an empty log. */
  get maxTimestamp(): number {
    let newest = -1
    for (const { handle } of this.#segments) {
      checked(native.segmentInfo(handle), this.directory)
      newest = Math.max(newest, native.results[Result.MAX_TIMESTAMP]!)
    }
    return newest
  }

  /**
   * Resolves once everything appended before the call is on disk. Calls that overlap share one
   * sync, and those that overlap with `close` are done by it.
   */
  async flush(): Promise<void> {
    this.#checkOpen()
    const target = this.#endOffset
    while (this.#recoveryPoint < target || this.#directoryDirty) {
      if (this.#closing !== undefined) return this.#closing
      if (this.#fenced) throw this.#fenced
      this.#flushing ??= this.#flushOnce().finally(() => {
        this.#flushing = undefined
      })
      await this.#flushing
    }
  }

  async #flushOnce(): Promise<void> {
    const end = this.#endOffset
    this.#unflushedRecords = 0
    try {
      const dirty = this.#directoryDirty
      this.#directoryDirty = false
      await Promise.all([...this.#sealing, native.segmentFlush(this.#active.handle)])
      await this.#syncOlder()
      if (dirty) await syncDirectory(this.directory)
    } catch (error) {
      this.#fence(error)
    }
    if (this.#fenced) throw this.#fenced
    this.#advance(this.#startOffset, end, this.#endOffset)
  }

  async #syncOlder(): Promise<void> {
    for (const base of this.#unsynced.splice(0)) await syncSegment(this.directory, base)
  }

  /**
   * Trims, syncs and lets go of every file; later calls get the same promise. Transfers under way
   * end well; other calls get CLOSED. Rejects when something could not be synced: the stop is then
   * not a clean one.
   */
  close(): Promise<void> {
    this.#closing ??= this.#close()
    return this.#closing
  }

  async #close(): Promise<void> {
    // A sync under way needs the handles; a failure of it has fenced the log.
    await this.#flushing?.catch(() => {})
    await Promise.all(this.#sealing)
    const closing = this.#segments.map((segment) => native.segmentClose(segment.handle, true))
    const failed = (await Promise.allSettled(closing)).find(
      (result) => result.status === 'rejected',
    )
    if (failed) throw failed.reason
    if (this.#fenced) throw this.#fenced
    await this.#syncOlder()
    await syncDirectory(this.directory)
    this.#advance(this.#startOffset, this.#endOffset, this.#endOffset)
  }
}
