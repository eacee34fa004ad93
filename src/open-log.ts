/**
 * The storage engine as a library: one log in one directory, opened by one user at a time.
 *
 * Appends are synchronous and end in the page cache: they survive a crash of the process, not of
 * the machine. `appendDurable` resolves once the records are on the disk, and calls that overlap
 * share one sync. Records that are read are copies or views of copies; nobody sees mapped memory.
 */
import { existsSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { makeDirectory } from './atomic-file.js'
import { type Env, systemEnv, type Timer } from './env.js'
import { SeglogError } from './errors.js'
import { native, Result, statusError } from './native.js'
import { type Offset, offsetNumber } from './offsets.js'
import { iterateBatches } from './records/batch.js'
import type { CompressionName } from './records/compression.js'
import { BatchEncoder } from './records/encoder.js'
import { iterateRecords } from './records/reader.js'
import type { RecordInput } from './records/record.js'
import { readStored, StoredRecord } from './records/stored.js'
import { type DirectoryLock, lockExclusively, lockShared } from './storage/directory-lock.js'
import { Log } from './storage/log.js'
import { defaultLogOptions, type LogReport } from './storage/log-options.js'
import type { Slice } from './storage/slice.js'

export interface OpenLogOptions {
  /** Size of a segment, bytes; 1 GiB unless given. */
  segmentBytes?: number
  /** Bytes of log between two entries of the sparse index; 4096 unless given. */
  indexIntervalBytes?: number
  /**
   * When to sync without being asked: after so many records, or so many ms after an append; 0 is
   * never.
   */
  flush?: { messages?: number; ms?: number }
  env?: Env
}

export interface AppendOptions {
  compression?: CompressionName
}

export interface Appended {
  baseOffset: bigint
  lastOffset: bigint
  /** Wall clock of the append, ms since 1970; the timestamp of records that had none. */
  appendTime: number
}

export { StoredRecord }

export interface ReadOptions {
  /** First offset; the log's start unless given. */
  from?: Offset
  /** Where to stop, exclusive; the log's end at the time of the call unless given. */
  to?: Offset
  /** Stop after batches of so many bytes; the batch that passes it is still given whole. */
  maxBytes?: number
}

/** Read at once; also the memory that a reader takes, unless a single batch is larger. */
const CHUNK_BYTES = 256 * 1024

/**
 * Opens the log in `directory`, which is made where missing and recovered where the last user did
 * not close it. Rejects with BAD_ARGUMENT, LOCKED, CORRUPT, TOO_MANY_FILES, NO_SPACE or IO.
 */
export async function openLog(directory: string, options: OpenLogOptions = {}): Promise<OpenLog> {
  const path = resolve(directory)
  const chosen = logOptions(options)
  await makeDirectory(path)
  const locks = takeLocks(path)
  try {
    const log = await Log.open(path, chosen, (options.env ?? systemEnv).now())
    return new OpenLog(log, locks, options)
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

function logOptions({ segmentBytes, indexIntervalBytes, flush = {} }: OpenLogOptions) {
  const { messages = 0, ms = 0 } = flush
  const chosen = { ...defaultLogOptions, flushMessages: messages }
  chosen.segmentBytes = segmentBytes ?? chosen.segmentBytes
  chosen.indexIntervalBytes = indexIntervalBytes ?? chosen.indexIntervalBytes
  checkRange('segmentBytes', chosen.segmentBytes, 1)
  checkRange('indexIntervalBytes', chosen.indexIntervalBytes, 1)
  checkRange('flush.messages', messages, 0)
  checkRange('flush.ms', ms, 0)
  return chosen
}

function checkRange(name: string, value: number, min: number): void {
  if (Number.isSafeInteger(value) && value >= min && value < 2 ** 31) return
  throw new SeglogError('BAD_ARGUMENT', `${name} is from ${min} to 2^31 - 1, not ${value}`)
}

export class OpenLog {
  readonly #log: Log
  readonly #locks: DirectoryLock[]
  readonly #env: Env
  readonly #flushMs: number
  readonly #encoder = new BatchEncoder()
  #flushTimer: Timer | undefined
  #closing: Promise<void> | undefined

  /** Use `openLog`. */
  constructor(log: Log, locks: DirectoryLock[], { env = systemEnv, flush }: OpenLogOptions) {
    this.#log = log
    this.#locks = locks
    this.#env = env
    this.#flushMs = flush?.ms ?? 0
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
  append(records: readonly RecordInput[], options: AppendOptions = {}): Appended {
    const appendTime = this.#env.now()
    const { compression = 'none' } = options
    const size = this.#encoder.encode(records, { compression, timestamp: appendTime })
    const base = this.#log.appendFromClient(this.#encoder.bytes, 0, size, 0)
    if (base < 0) throw statusError(base, this.#log.directory, native.results[Result.ERRNO])
    if (this.#flushMs > 0) this.#flushLater()
    const lastOffset = BigInt(base + records.length - 1)
    return { baseOffset: BigInt(base), lastOffset, appendTime }
  }

  /** As `append`, and resolves once the records are on the disk. A failed sync fences the log. */
  async appendDurable(
    records: readonly RecordInput[],
    options: AppendOptions = {},
  ): Promise<Appended> {
    const appended = this.append(records, options)
    await this.#log.flush()
    return appended
  }

  #flushLater(): void {
    this.#flushTimer ??= this.#env.after(this.#flushMs, () => {
      this.#flushTimer = undefined
      // The failure fences the log, which the next append reports.
      this.#log.flush().catch(() => {})
    })
  }

  /**
   * Records in offset order. What is appended while reading is not waited for. Rejects with
   * OFFSET_OUT_OF_RANGE, with CORRUPT at a batch that is damaged, CLOSED or IO.
   */
  async *read(options: ReadOptions = {}): AsyncGenerator<StoredRecord, void, undefined> {
    for await (const records of this.readChunks(options)) yield* records
  }

  /**
   * As `read`, in arrays of the records that were read from the log together: several times faster
   * where records are small. No array is empty.
   */
  async *readChunks(options: ReadOptions = {}): AsyncGenerator<StoredRecord[], void, undefined> {
    const { from = this.startOffset, to = this.endOffset, maxBytes = Infinity } = options
    const end = Math.min(offsetNumber(to, 'to'), this.#log.endOffset)
    if (!(maxBytes >= 0)) throw new SeglogError('BAD_ARGUMENT', `maxBytes is ${maxBytes}`)
    const range = { next: offsetNumber(from, 'from'), end, leftBytes: maxBytes }
    let failure: unknown
    while (range.leftBytes > 0) {
      const slice = this.#log.slice(range.next, Math.min(CHUNK_BYTES, range.leftBytes), end)
      if (!slice) return
      const records: StoredRecord[] = []
      try {
        readStored(slice.bytes(), range, records)
      } catch (error) {
        // What stands before the damage is given first.
        failure = error
      }
      if (records.length > 0) yield records
      if (failure !== undefined) throw failure
      if (range.next >= end) return
      // A long read takes turns with everything else in the process.
      await new Promise<void>((resolve) => this.#env.soon(resolve))
    }
  }

  /**
   * Stored batches from the one that holds `from`, up to `maxBytes` and at least one, for sending
   * without a copy: `slice.sendTo(socket)`, or `slice.bytes()`. Undefined at the log's end. Throws
   * OFFSET_OUT_OF_RANGE.
   */
  slice(from: Offset, maxBytes = CHUNK_BYTES): Slice | undefined {
    return this.#log.slice(offsetNumber(from, 'from'), maxBytes)
  }

  /**
   * The first offset whose record is at or after `timestamp` (ms), or undefined where there is
   * none.
   */
  offsetForTimestamp(timestamp: number): bigint | undefined {
    const batch = this.#log.batchForTimestamp(timestamp)?.bytes()
    if (!batch) return undefined
    for (const found of iterateBatches(batch)) {
      for (const record of iterateRecords(found)) {
        if (record.timestamp >= timestamp) return BigInt(record.offset)
      }
    }
    return undefined
  }

  /** Begins a new segment, unless the present one is empty. */
  roll(): void {
    this.#log.roll()
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

  async #close(): Promise<void> {
    this.#flushTimer?.cancel()
    try {
      await this.#log.close()
    } finally {
      for (const lock of this.#locks) lock.release()
    }
  }
}
