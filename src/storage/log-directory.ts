/**
 * One log directory: its lock, whose it is, the logs in it, and what it remembers of them between
 * two starts.
 *
 * The marker of a clean stop is removed before any log is opened, and written again only when every
 * log was closed in order. Where it is missing, the recovery points say from where on a log must be
 * scanned; where they are missing too, everything is. A directory whose disk fails goes offline:
 * its logs take nothing any more, the other directories go on, and no marker is written for it.
 */
import { readdir, rename, rm } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { makeDirectory, syncDirectory } from '../atomic-file.js'
import type { Env } from '../env.js'
import type { SeglogError } from '../errors.js'
import { checked, native } from '../native.js'
import {
  OffsetCheckpoint,
  type PartitionOffset,
  readOffsets,
  type Warn,
  writeOffsets,
} from './checkpoints.js'
import type { Log } from './log.js'
import {
  deletedDirectory,
  isDeletedDirectory,
  parsePartitionDirectory,
  partitionDirectory,
  type TopicPartition,
} from './log-files.js'
import type { LogOptions } from './log-options.js'
import {
  readCleanShutdown,
  readTopicId,
  removeCleanShutdown,
  writeCleanShutdown,
} from './meta-files.js'

/** A log that is open, and which partition it is of. */
export interface OpenLog extends TopicPartition {
  readonly log: Log
  topicId: string | undefined
}

/** What the directory remembers of a log, as `Log.open` takes it. */
export type Remembered = Pick<
  LogOptions,
  'clean' | 'recoveryPoint' | 'logStartOffset' | 'isCompacted' | 'cleanedOffset'
>

type OpenFolder = (path: string, remembered: Remembered) => Promise<Log>

/** Logs that are opened at the same time. */
const OPEN_AT_ONCE = 8
/** How often at most a full disk is told, ms. */
const FULL_MS = 60_000

function isSame(a: ReadonlyMap<string, number>, b: ReadonlyMap<string, number>): boolean {
  return a.size === b.size && [...a].every(([name, offset]) => b.get(name) === offset)
}

export class LogDirectory {
  readonly path: string
  readonly logs = new Map<string, OpenLog>()
  /** Logs that are being made. */
  making = 0
  readonly #lock: number
  readonly #clean: boolean
  #recoveryPoints: Map<string, number> | undefined
  #startOffsets: Map<string, number> | undefined
  /** Logs that were compacted. */
  #cleaned: Map<string, number> | undefined
  /** When a full disk was told last. */
  #fullMs = Number.NEGATIVE_INFINITY
  #offline: SeglogError | undefined
  #writing: Promise<void> = Promise.resolve()

  private constructor(path: string, lock: number, clean: boolean) {
    this.path = path
    this.#lock = lock
    this.#clean = clean
  }

  /** Makes the directory where missing and locks it. Rejects with LOCKED, IO, TOO_MANY_FILES. */
  static async open(path: string): Promise<LogDirectory> {
    const absolute = resolve(path)
    await makeDirectory(absolute)
    const lock = checked(native.lockAcquire(join(absolute, '.lock')), absolute)
    try {
      const clean = (await readCleanShutdown(absolute)) !== undefined
      return new LogDirectory(absolute, lock, clean)
    } catch (error) {
      native.lockRelease(lock)
      throw error
    }
  }

  /** Why it is offline; undefined while it is not. */
  get offline(): SeglogError | undefined {
    return this.#offline
  }

  /**
   * Opens every log that is found, telling `opened` after each. Rejects with the first error; what
   * was opened stays in `logs`.
   */
  async load(
    openFolder: OpenFolder,
    warn: (line: string) => void,
    opened: (count: number, total: number) => void = () => {},
  ): Promise<void> {
    this.#recoveryPoints = await this.#read(OffsetCheckpoint.RECOVERY_POINT, warn)
    this.#startOffsets = await this.#read(OffsetCheckpoint.LOG_START, warn)
    this.#cleaned = await this.#read(OffsetCheckpoint.CLEANER, warn)
    await removeCleanShutdown(this.path)
    const entries = await readdir(this.path, { withFileTypes: true })
    const names = entries.filter((entry) => entry.isDirectory()).map((entry) => entry.name)
    const total = names.filter((name) => parsePartitionDirectory(name)).length
    const queue = names.values()
    const worker = async () => {
      for (const name of queue) {
        await this.#openFound(name, openFolder)
        opened(this.logs.size, total)
      }
    }
    const results = await Promise.allSettled(Array.from({ length: OPEN_AT_ONCE }, worker))
    const failed = results.find((result) => result.status === 'rejected')
    if (failed) throw failed.reason
    if (!this.#recoveryPoints) await this.#beginCheckpoints()
  }

  /**
   * Nothing said what is on disk, so all that is there was taken as it is. From now on a checkpoint
   * says it, and tells a crash before the first one from a checkpoint that was lost.
   */
  async #beginCheckpoints(): Promise<void> {
    for (const { log } of this.logs.values()) await log.flush()
    await this.checkpoint()
  }

  /** Says that there is no space, at most once a minute. */
  noteFull(nowMs: number, warn: Warn): void {
    if (nowMs - this.#fullMs < FULL_MS) return
    this.#fullMs = nowMs
    warn(`${this.path}: no space is left on the disk; what is to be appended is refused`)
  }

  async #openFound(name: string, openFolder: OpenFolder): Promise<void> {
    const path = join(this.path, name)
    if (isDeletedDirectory(name)) await rm(path, { recursive: true, force: true })
    const partition = parsePartitionDirectory(name)
    if (!partition) return
    const topicId = await readTopicId(path)
    const log = await openFolder(path, {
      clean: this.#clean,
      // A log that a checkpoint does not know was made after it.
      recoveryPoint: this.#recoveryPoints && (this.#recoveryPoints.get(name) ?? 0),
      logStartOffset: this.#startOffsets?.get(name),
      isCompacted: this.#cleaned?.has(name) ?? false,
      cleanedOffset: this.#cleaned?.get(name),
    })
    this.logs.set(name, { ...partition, log, topicId })
  }

  async #read(
    name: string,
    warn: (line: string) => void,
  ): Promise<Map<string, number> | undefined> {
    const entries = await readOffsets(join(this.path, name), warn)
    return entries && new Map(entries.map((entry) => [partitionDirectory(entry), entry.offset]))
  }

  /** Moves a partition's folder aside, which takes its name away at once, and then removes it. */
  async discard(partition: TopicPartition, env: Env): Promise<void> {
    const unique = env.random.bytes(16).toString('hex')
    const aside = join(this.path, deletedDirectory(partition, unique))
    await rename(join(this.path, partitionDirectory(partition)), aside)
    await syncDirectory(this.path)
    await rm(aside, { recursive: true, force: true })
  }

  /** Takes the directory out of service; its logs take nothing from now on. */
  fail(error: SeglogError): void {
    if (this.#offline) return
    this.#offline = error
    for (const { log } of this.logs.values()) log.fence(error)
  }

  /**
   * Writes down from where on an unclean start has to look, where the logs start, and up to where
   * they are committed. Rejects with NO_SPACE or IO.
   */
  checkpoint(): Promise<void> {
    const written = this.#writing.then(() => this.#checkpoint())
    this.#writing = written.catch(() => {})
    return written
  }

  async #checkpoint(): Promise<void> {
    if (this.#offline) return
    await this.#write(OffsetCheckpoint.RECOVERY_POINT, (log) => log.recoveryPoint)
    await this.#write(OffsetCheckpoint.LOG_START, (log) => log.startOffset || undefined)
    await this.#write(OffsetCheckpoint.HIGH_WATERMARK, (log) => log.endOffset)
    await this.#writeCleaned()
  }

  /** Writes down up to where the logs are compacted. Rejects with NO_SPACE or IO. */
  checkpointCleaned(): Promise<void> {
    const written = this.#writing.then(() => this.#writeCleaned())
    this.#writing = written.catch(() => {})
    return written
  }

  /** A directory in which nothing was ever compacted has no such file. */
  async #writeCleaned(): Promise<void> {
    if (this.#offline) return
    const cleaned = new Map<string, number>()
    for (const [name, { log }] of this.logs) {
      if (log.cleanedOffset !== undefined) cleaned.set(name, log.cleanedOffset)
    }
    const before = this.#cleaned ?? new Map<string, number>()
    if (isSame(cleaned, before)) return
    await this.#write(OffsetCheckpoint.CLEANER, (log) => log.cleanedOffset)
    this.#cleaned = cleaned
  }

  async #write(name: string, offsetOf: (log: Log) => number | undefined): Promise<void> {
    const entries: PartitionOffset[] = []
    for (const { topic, partition, log } of this.logs.values()) {
      const offset = offsetOf(log)
      if (offset !== undefined) entries.push({ topic, partition, offset })
    }
    await writeOffsets(this.#file(name), entries)
  }

  #file(name: string): string {
    return join(this.path, name)
  }

  /** Closes every log, and marks the stop as clean where all of that went well. */
  async close(): Promise<void> {
    try {
      await this.#closeLogs()
      if (this.#offline) throw this.#offline
      await this.checkpoint()
      await writeCleanShutdown(this.path, { brokerEpoch: -1 })
    } finally {
      await this.#writing
      native.lockRelease(this.#lock)
    }
  }

  async #closeLogs(): Promise<void> {
    const closing = [...this.logs.values()].map(({ log }) => log.close())
    const results = await Promise.allSettled(closing)
    const failed = results.find((result) => result.status === 'rejected')
    if (failed) throw failed.reason
  }

  /** Lets go of everything without a word about how clean it is. */
  async abandon(): Promise<void> {
    await this.#closeLogs().catch(() => {})
    await this.#writing
    native.lockRelease(this.#lock)
  }
}
