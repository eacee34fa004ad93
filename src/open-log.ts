/**
 * The storage engine as a library: one log in one directory, opened by one user at a time.
 *
 * Appends are synchronous and end in the page cache: they survive a crash of the process, not of
 * the machine. `appendDurable` resolves once the records are on the disk, and calls that overlap
 * share one sync. Records that are read are copies or views of copies; nobody sees mapped memory.
 */
import { existsSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { checkBytes, checkOptions, checkWhole } from './arguments.js'
import { makeDirectory } from './atomic-file.js'
import { type Env, systemEnv, type Timer } from './env.js'
import { type Appended, type AppendOptions, AppendResult, withBatch } from './library/appending.js'
import {
  type CheckedOptions,
  checkedDirectory,
  checkedOptions,
  type OpenLogOptions,
} from './library/options.js'
import { ChunkReader, RecordReader, readBatches } from './library/reading.js'
import type { StoredRecord } from './library/stored-record.js'
import { native, Result, statusError } from './native.js'
import { type Offset, offsetNumber } from './offsets.js'
import { iterateBatches } from './records/batch.js'
import { iterateRecords } from './records/reader.js'
import type { RecordInput } from './records/record.js'
import { type DirectoryLock, lockExclusively, lockShared } from './storage/directory-lock.js'
import { Log } from './storage/log.js'
import { defaultLogOptions, type LogReport } from './storage/log-options.js'
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

/** Node 20 has the symbol from 20.4 on; compilers make do with this one before. */
const asyncDispose: unique symbol = (Symbol.asyncDispose ??
  Symbol.for('Symbol.asyncDispose')) as never

/** Bytes of a slice unless given. */
const SLICE_BYTES = 1024 * 1024

/**
 * Opens the log in `directory`, which is made where missing and recovered where the last user did
 * not close it. Rejects with BAD_ARGUMENT, LOCKED, CORRUPT, TOO_MANY_FILES, NO_SPACE or IO.
 */
export async function openLog(directory: string, options: OpenLogOptions = {}): Promise<OpenLog> {
  const path = resolve(checkedDirectory(directory))
  const chosen = checkedOptions(options)
  const { env = systemEnv } = options
  await makeDirectory(path)
  const locks = takeLocks(path)
  try {
    const log = await Log.open(path, { ...defaultLogOptions, ...chosen }, env.now(), env)
    return new OpenLog(log, locks, chosen, env)
  } catch (error) {
    for (const lock of locks) lock.release()
    throw error
  }
}

/**
 * The directory's own lock, and, in the data directory of a broker, the one that a broker would
 * take.
 */
function takeLocks(path: string): DirectoryLock[] {
  const own = lockExclusively(join(path, '.lock'))
  const parent = dirname(path)
  if (!existsSync(join(parent, 'meta.properties'))) return [own]
  try {
    return [own, lockShared(join(parent, '.lock'))]
  } catch (error) {
    own.release()
    throw error
  }
}

export class OpenLog {
  readonly #log: Log
  readonly #locks: DirectoryLock[]
  readonly #env: Env
  readonly #options: CheckedOptions
  readonly #put = (bytes: Uint8Array, sizeBytes: number) =>
    this.#log.appendFromClient(bytes, 0, sizeBytes, 0)
  #flushTimer: Timer | undefined
  #closing: Promise<void> | undefined

  /** Use `openLog`. */
  constructor(log: Log, locks: DirectoryLock[], options: CheckedOptions, env: Env) {
    this.#log = log
    this.#locks = locks
    this.#options = options
    this.#env = env
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
    const appendTime = this.#env.now()
    const { maxOutputBytes, flushMs } = this.#options
    const base = withBatch(records, options, appendTime, maxOutputBytes, this.#put)
    if (base < 0) throw statusError(base, this.#log.directory, native.results[Result.ERRNO])
    if (flushMs > 0) this.#flushLater(flushMs)
    return new AppendResult(base, records.length, appendTime)
  }

  /** As `append`, and resolves once the records are on the disk. A failed sync fences the log. */
  async appendDurable(records: readonly RecordInput[], options?: AppendOptions): Promise<Appended> {
    const appended = this.append(records, options)
    await this.#log.flush()
    return appended
  }

  #flushLater(ms: number): void {
    this.#flushTimer ??= this.#env.after(ms, () => {
      this.#flushTimer = undefined
      // The failure fences the log, which the next append reports.
      this.#log.flush().catch(() => {})
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
   * As `read`, in arrays of all that was read at once, at least one record each: the faster way,
   * since a loop waits once for each array and not for each record.
   */
  readBatches(options?: ReadOptions): AsyncIterableIterator<StoredRecord[]> {
    return readBatches(() => this.#reader(options), this.#env)
  }

  #reader(options: ReadOptions | undefined): ChunkReader {
    checkOptions('the options of read', options, ['from', 'to', 'maxBytes'])
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
    const { maxOutputBytes } = this.#options
    const batch = this.#log.batchForTimestamp(timestamp)?.bytes()
    if (!batch) return undefined
    for (const found of iterateBatches(batch)) {
      for (const record of iterateRecords(found, { maxOutputBytes })) {
        if (record.timestamp >= timestamp) return BigInt(record.offset)
      }
    }
    return undefined
  }

  /** Begins a new segment, unless the present one is empty. */
  roll(): void {
    this.#log.roll()
  }

  /**
   * Cuts everything at and above `offset`; a batch that holds it goes whole. At or above the end it
   * does nothing. Appends are refused with READ_ONLY meanwhile, and the offsets are given anew
   * afterwards. Rejects with BAD_ARGUMENT, OFFSET_TOO_LARGE, CLOSED, FENCED or IO.
   */
  async truncate(offset: Offset): Promise<void> {
    await this.#log.truncateTo(offsetNumber(offset, 'offset'))
  }

  /**
   * Moves the log's start up to `offset`: what lies below is out of range at once, and segments that
   * lie wholly below leave the disk a minute later, or when the log is closed. Below or at the start
   * it does nothing; the end offset always stays. Throws BAD_ARGUMENT, OFFSET_OUT_OF_RANGE (above
   * the end), OFFSET_TOO_LARGE, CLOSED, FENCED, READ_ONLY, or as `roll`.
   */
  deleteBefore(offset: Offset): void {
    this.#log.deleteBefore(offsetNumber(offset, 'offset'))
  }

  /** Resolves once everything appended before is on disk. */
  flush(): Promise<void> {
    return this.#log.flush()
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
    try {
      await this.#log.close()
    } finally {
      for (const lock of this.#locks) lock.release()
    }
  }
}
