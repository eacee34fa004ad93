/**
 * The storage engine as a library: one log in one directory, opened by one user at a time.
 *
 * Appends are synchronous and end in the page cache: they survive a crash of the process, not of
 * the machine. `appendDurable` resolves once the records are on the disk, and calls that overlap
 * share one sync. Records that are read are copies or views of copies; nobody sees mapped memory.
 */
import { resolve } from 'node:path'
import { checkBytes, checkOptions, checkWhole } from './arguments.js'
import { type Env, systemEnv, type Timer } from './env.js'
import { SeglogError } from './errors.js'
import { type Appended, type AppendOptions, AppendResult, withBatch } from './library/appending.js'
import { FolderState } from './library/folder-state.js'
import { RecordReader, readBatches } from './library/iteration.js'
import { LogView } from './library/log-view.js'
import { batchBase, openForWriting } from './library/opening.js'
import {
  type CheckedOptions,
  checkedDirectory,
  checkedOptions,
  type OpenLogOptions,
} from './library/options.js'
import { ChunkReader } from './library/reading.js'
import type { StoredRecord } from './library/stored-record.js'
import { native, Result, statusError } from './native.js'
import { type Offset, offsetNumber } from './offsets.js'
import { iterateBatches } from './records/batch.js'
import { iterateRecords } from './records/reader.js'
import type { RecordInput } from './records/record.js'
import type { DirectoryLock } from './storage/directory-lock.js'
import { Log } from './storage/log.js'
import type { LogReport } from './storage/log-options.js'
import type { Slice } from './storage/slice.js'

export type { Appended, AppendOptions, OpenLogOptions, StoredRecord }

export interface ReadOptions {
  /** First offset; the log's start unless given. */
  from?: Offset | undefined
  /** Where to stop, exclusive; the log's end at the time of the first step unless given. */
  to?: Offset | undefined
  /** Stop after batches of so many bytes; the batch that passes it is still given whole. */
  maxBytes?: number | undefined
}

/** Node has the symbol from 20.4 on; compilers make do with this one before. */
const asyncDispose: typeof Symbol.asyncDispose = (Symbol.asyncDispose ??
  Symbol.for('Symbol.asyncDispose')) as never

/** How often a log looks for what its retention lets go, ms. */
const RETENTION_CHECK_MS = 60_000

const noBytes = new Uint8Array(0)

/** Bytes of a slice unless given. */
const SLICE_BYTES = 1024 * 1024

/**
 * Opens the log in `directory`, which is made where missing and recovered where the last user did
 * not close it. Rejects with BAD_ARGUMENT, LOCKED, CORRUPT, TOO_MANY_FILES, NO_SPACE or IO; with
 * `readOnly` also with NOT_FOUND, as nothing is made then.
 */
export async function openLog(directory: string, options: OpenLogOptions = {}): Promise<OpenLog> {
  const path = resolve(checkedDirectory(directory))
  const chosen = checkedOptions(options)
  const { env = systemEnv } = options
  if (chosen.readOnly) {
    const view = await LogView.open(path)
    return new OpenLog(view, [], FolderState.none(path, env), chosen, env)
  }
  const { log, locks, folder } = await openForWriting(path, chosen.tuning, env)
  return new OpenLog(log, locks, folder, chosen, env)
}

export class OpenLog {
  readonly #log: Log | LogView
  readonly #locks: readonly DirectoryLock[]
  readonly #folder: FolderState
  readonly #env: Env
  readonly #options: CheckedOptions
  readonly #put = (bytes: Uint8Array, sizeBytes: number) =>
    this.#writer().appendEncoded(bytes, sizeBytes)
  #flushTimer: Timer | undefined
  #retentionTimer: Timer | undefined
  /** Cuts that have been asked for and are not over. */
  #cuts = 0
  #closing: Promise<void> | undefined

  /** Use `openLog`. */
  constructor(
    log: Log | LogView,
    locks: readonly DirectoryLock[],
    folder: FolderState,
    options: CheckedOptions,
    env: Env,
  ) {
    this.#log = log
    this.#locks = locks
    this.#folder = folder
    this.#options = options
    this.#env = env
    const { retentionMs = -1, retentionBytes = -1 } = options.tuning
    if (options.readOnly) return
    if (retentionMs >= 0 || retentionBytes >= 0) this.#retainLater()
  }

  #retainLater(): void {
    this.#retentionTimer = this.#env.after(RETENTION_CHECK_MS, () => {
      this.#retainLater()
      // What cannot go now is looked at again; what fenced the log, the next append reports.
      this.deleteOldSegments().catch(() => {})
    })
  }

  get startOffset(): bigint {
    return BigInt(this.#log.startOffset)
  }

  /** The offset that the next record gets. */
  get endOffset(): bigint {
    return BigInt(this.#log.endOffset)
  }

  /** Everything below is on disk. */
  get recoveryPoint(): bigint {
    return BigInt(this.#log.recoveryPoint)
  }

  /** Bytes of all segments. */
  get sizeBytes(): number {
    return this.#log.sizeBytes
  }

  /** What opening had to do. */
  get report(): LogReport {
    return this.#log.report
  }

  /**
   * Appends records as one batch, in the page cache when it returns. All or nothing. Throws
   * BAD_ARGUMENT, TOO_LARGE, NO_SPACE, FENCED (a sync failed before: reopen), CLOSED or IO, with
   * the log as before.
   */
  append(records: readonly RecordInput[], options?: AppendOptions): Appended {
    const writer = this.#writer()
    const appendTime = this.#env.now()
    const { maxOutputBytes, flushMs, tuning } = this.#options
    const base = withBatch(records, options, appendTime, maxOutputBytes, this.#put)
    if (base < 0) throw statusError(base, this.#log.directory, native.results[Result.ERRNO])
    if (flushMs > 0) this.#flushLater(flushMs)
    if (tuning.flushMessages) this.#noteFlush(writer.takeOwedFlush())
    return new AppendResult(base, records.length, appendTime)
  }

  /** As `append`, and resolves once the records are on the disk. A failed sync fences the log. */
  appendDurable(records: readonly RecordInput[], options?: AppendOptions): Promise<Appended> {
    try {
      const log = this.#writer()
      const appended = this.append(records, options)
      return log.flush().then(() => {
        this.#folder.flushed()
        return appended
      })
    } catch (error) {
      return Promise.reject(error)
    }
  }

  /** A failure fences the log, which the next append reports. */
  #noteFlush(flush: Promise<void> | undefined): void {
    flush?.then(
      () => this.#folder.flushed(),
      () => {},
    )
  }

  #flushLater(ms: number): void {
    this.#flushTimer ??= this.#env.after(ms, () => {
      this.#flushTimer = undefined
      if (this.#log instanceof Log) this.#noteFlush(this.#log.flush())
    })
  }

  /**
   * Records in offset order. What is appended while reading is not waited for. Rejects with
   * BAD_ARGUMENT, OFFSET_OUT_OF_RANGE (also where the log was cut or deleted below the reader
   * meanwhile), with CORRUPT at a batch that is damaged (`error.nextOffset` is where to read on),
   * TOO_LARGE, UNSUPPORTED_COMPRESSION, CLOSED or IO.
   */
  read(options?: ReadOptions): AsyncIterableIterator<StoredRecord> {
    return new RecordReader(() => this.#reader(options), this.#env)
  }

  /**
   * As `read`, in arrays of all that was read at once, at least one record each: a loop waits once
   * for each array and not for each record.
   */
  readBatches(options?: ReadOptions): AsyncIterableIterator<StoredRecord[]> {
    return readBatches(() => this.#reader(options), this.#env)
  }

  #reader(options: ReadOptions | undefined): ChunkReader {
    checkOptions('read', options, ['from', 'to', 'maxBytes'])
    const log = this.#log
    const { from = log.startOffset, to = log.endOffset, maxBytes = Infinity } = options ?? {}
    return new ChunkReader(log, {
      from: offsetNumber(from, 'from'),
      to: Math.min(offsetNumber(to, 'to'), log.endOffset),
      maxBytes: checkBytes('maxBytes', maxBytes),
      maxOutputBytes: this.#options.maxOutputBytes,
    })
  }

  /**
   * Stored batches from the one that holds `from`, up to `maxBytes` and at least one, for sending
   * without a copy: `slice.sendTo(socket)`, or `slice.bytes()`. Undefined at the log's end. Throws
   * OFFSET_OUT_OF_RANGE.
   */
  slice(from: Offset, maxBytes = SLICE_BYTES): Slice | undefined {
    return this.#log.slice(offsetNumber(from, 'from'), checkBytes('maxBytes', maxBytes))
  }

  /**
   * The first offset whose record is at or after `timestamp` (ms), or undefined where there is
   * none.
   */
  offsetForTimestamp(timestamp: number): bigint | undefined {
    checkWhole('timestamp', timestamp, 0, Number.MAX_SAFE_INTEGER)
    return this.#find(timestamp, this.#log.startOffset)
  }

  #find(timestamp: number, from: number): bigint | undefined {
    const { maxOutputBytes } = this.#options
    const start = this.#log.startOffset
    const batch = this.#log.batchForTimestamp(timestamp, from)?.bytes()
    for (const found of iterateBatches(batch ?? noBytes)) {
      for (const { offset, timestamp: its } of iterateRecords(found, { maxOutputBytes })) {
        if (offset >= start && its >= timestamp) return BigInt(offset)
      }
      // What fits in a batch may lie below the log's start, or have been compacted away.
      const { lastOffset } = found.header
      if (from <= lastOffset) return this.#find(timestamp, lastOffset + 1)
    }
    return undefined
  }

  /** Begins a new segment, unless the present one is empty. */
  roll(): void {
    this.#writer().roll()
  }

  /**
   * Cuts everything at and above `offset`; a batch that holds it goes whole. At or above the end it
   * does nothing. Appends are refused with READ_ONLY meanwhile, and the offsets are given anew
   * afterwards. Rejects with BAD_ARGUMENT, OFFSET_TOO_LARGE, CLOSED, FENCED, NO_SPACE or IO.
   */
  async truncate(offset: Offset): Promise<void> {
    const cut = offsetNumber(offset, 'offset')
    const log = this.#writable()
    // The recovery point must not vouch for what is written at a cut afterwards.
    const lowered = cut < log.endOffset ? this.#folder.lowerTo(batchBase(log, cut)) : undefined
    this.#cuts++
    try {
      await lowered
      await log.truncateTo(cut)
    } finally {
      this.#cuts--
      if (this.#cuts === 0) this.#folder.cutIsOver()
    }
    await this.#folder.saveStart()
  }

  #writable(): Log {
    // What is remembered of the folder may be another's to write by now.
    if (this.#closing !== undefined) throw closed(this.#log.directory)
    if (this.#log instanceof Log) return this.#log
    throw new SeglogError('READ_ONLY', `${this.#log.directory} was opened to be read only`)
  }

  /** For what may not come between a cut and its end. */
  #writer(): Log {
    const log = this.#writable()
    if (this.#cuts === 0) return log
    throw new SeglogError('READ_ONLY', `${log.directory} is being truncated; call again after it`)
  }

  /**
   * Moves the log's start up to `offset`: what lies below is out of range at once, and segments
   * that lie wholly below leave the disk `fileDeleteDelayMs` later, or when the log is closed.
   * Below or at the start it does nothing; the end offset always stays. Throws BAD_ARGUMENT,
   * OFFSET_OUT_OF_RANGE (above the end), OFFSET_TOO_LARGE, CLOSED, FENCED, READ_ONLY, or as
   * `roll`.
   *
   * Resolves once the start is on disk, and holds after any crash from then on; so does a `flush`
   * that is called later. Rejects with NO_SPACE, TOO_MANY_FILES or IO.
   */
  deleteBefore(offset: Offset): Promise<void> {
    const start = offsetNumber(offset, 'offset')
    this.#writer().deleteBefore(start)
    return this.#saveStart()
  }

  /**
   * Deletes what `retention` says, as the log does by itself once a minute. Resolves with how many
   * segments went; an active segment that is too old is one of them, and a new one takes its place.
   * Rejects with CLOSED, FENCED, READ_ONLY, NO_SPACE, TOO_MANY_FILES or IO.
   */
  async deleteOldSegments(): Promise<number> {
    const log = this.#writer()
    const count = await log.deleteOldSegments(this.#env.now(), log.endOffset)
    if (count > 0) await this.#folder.saveStart()
    return count
  }

  /** May be left unawaited: what failed is tried again by the next flush and by `close`. */
  #saveStart(): Promise<void> {
    const saved = this.#folder.saveStart()
    saved.catch(() => {})
    return saved
  }

  /** Resolves once everything appended before is on disk, and the log's start. */
  async flush(): Promise<void> {
    if (!(this.#log instanceof Log)) return
    await this.#log.flush()
    this.#folder.flushed()
    await this.#folder.saveStart()
  }

  /**
   * Returns once everything appended before is on disk; the thread does nothing else meanwhile. For
   * a script or worker that has nothing else to do: one call costs less than a `flush` that is
   * awaited, and many that overlap cost more. Throws CLOSED, FENCED, READ_ONLY (a truncation is
   * under way), NO_SPACE, TOO_MANY_FILES or IO.
   */
  flushSync(): void {
    this.#writer().flushNow()
    this.#folder.flushed()
  }

  /**
   * With `readOnly`: takes in what the writer has appended, rolled, cut and deleted before the
   * call. A writer sees all of it without. Rejects with CLOSED, NOT_FOUND, TOO_MANY_FILES or IO,
   * what is seen staying as before.
   */
  async refresh(): Promise<void> {
    if (this.#closing !== undefined) throw closed(this.#log.directory)
    if (this.#log instanceof LogView) await this.#log.refresh()
  }

  /** Syncs and closes; later calls get the same promise. */
  close(): Promise<void> {
    this.#closing ??= this.#close()
    return this.#closing
  }

  /** For `await using`: closes. */
  [asyncDispose](): Promise<void> {
    return this.close()
  }

  async #close(): Promise<void> {
    this.#flushTimer?.cancel()
    this.#retentionTimer?.cancel()
    try {
      await this.#log.close().catch(async (error: unknown) => {
        await this.#folder.close(false)
        throw error
      })
      await this.#folder.close(true)
    } finally {
      for (const lock of this.#locks) lock.release()
    }
  }
}

const closed = (directory: string) => new SeglogError('CLOSED', `${directory} is closed`)
