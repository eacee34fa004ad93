/**
 * What a folder of the library remembers from one user to the next, in Kafka's files and inside the
 * folder itself, each with one entry:
 *
 *   recovery-point-offset-checkpoint   all below was on disk: the next user reads what is above
 *   log-start-offset-checkpoint        where the log begins, also inside a segment
 *   .kafka_cleanshutdown               the log was closed, and ends at the recovery point
 *
 * All of it can be derived anew, and is where it is damaged or does not fit the log. Files are
 * written in the pool, one after the other; the marker comes last and is gone, durably, before the
 * first append.
 *
 * In a broker's data directory, the folder above having a meta.properties, the start offset is
 * read from the broker's checkpoint and nothing is remembered; the broker's marker is removed, so
 * that it looks at what was written here.
 */
import { existsSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { removeDurably } from '../atomic-file.js'
import type { Env, Timer } from '../env.js'
import { OffsetCheckpoint, readOffsets, type Warn, writeOffsets } from '../storage/checkpoints.js'
import { parsePartitionDirectory } from '../storage/log-files.js'
import {
  readCleanShutdown,
  removeCleanShutdown,
  writeCleanShutdown,
} from '../storage/meta-files.js'

/** What is known of a log before its segments are looked at; undefined: nothing is. */
export interface Remembered {
  /** Closed in order, at `recoveryPoint`. */
  clean: boolean
  recoveryPoint: number | undefined
  logStartOffset: number | undefined
  /** What was damaged and left aside. */
  warning: string | undefined
}

/** The offsets of a log that are remembered. */
export interface RememberedLog {
  readonly startOffset: number
  readonly endOffset: number
  readonly recoveryPoint: number
}

/** The recovery point is written at most this often, ms. */
const SAVE_MS = 1000

/** Whether a broker has, or had, its partitions in this folder. */
export function isDataDirectory(path: string): boolean {
  return existsSync(join(path, 'meta.properties'))
}

function partitionOf(path: string) {
  const parsed = parsePartitionDirectory(basename(path))
  return parsed && !/\s/.test(parsed.topic) ? parsed : { topic: 'log', partition: 0 }
}

/** Reads, and changes nothing. Rejects with IO, TOO_LARGE, TOO_MANY_FILES. */
export async function readRemembered(path: string): Promise<Remembered> {
  let warning: string | undefined
  const warn = (line: string) => {
    warning ??= line
  }
  const nothing = { clean: false, recoveryPoint: undefined, logStartOffset: undefined }
  if (isDataDirectory(path)) return { ...nothing, warning }
  const parent = dirname(path)
  if (isDataDirectory(parent)) {
    const logStartOffset = await brokersStart(parent, path, warn)
    return { ...nothing, logStartOffset, warning }
  }
  const marker = await readCleanShutdown(path)
  const recoveryPoint = await ownOffset(path, OffsetCheckpoint.RECOVERY_POINT, warn)
  const logStartOffset = await ownOffset(path, OffsetCheckpoint.LOG_START, warn)
  const clean = marker !== undefined && recoveryPoint !== undefined && warning === undefined
  return { clean, recoveryPoint, logStartOffset, warning }
}

/** The folder may have been renamed since: its one entry is its own by whatever name. */
async function ownOffset(path: string, name: string, warn: Warn): Promise<number | undefined> {
  const file = join(path, name)
  const entries = await readOffsets(file, warn)
  if (entries === undefined) return undefined
  if (entries.length === 1) return entries[0]?.offset
  warn(`${file} has ${entries.length} entries, not one, and is left aside`)
  return undefined
}

async function brokersStart(parent: string, path: string, warn: Warn) {
  const { topic, partition } = partitionOf(path)
  const entries = await readOffsets(join(parent, OffsetCheckpoint.LOG_START), warn)
  return entries?.find((entry) => entry.topic === topic && entry.partition === partition)?.offset
}

export class FolderState {
  readonly #path: string
  readonly #env: Pick<Env, 'after'>
  readonly #isOwn: boolean
  #log: RememberedLog | undefined
  /** The recovery point in the file, or the larger one that is being written. */
  #point: number
  /** The one in the file; undefined where there is none, or where a write failed. */
  #inFile: number | undefined
  /** The start in the file; 0 where there is none. */
  #start: number
  /** No recovery point above it is written: the log is being cut there. */
  #ceiling = Infinity
  #timer: Timer | undefined
  #closed = false
  #writing: Promise<void> = Promise.resolve()

  private constructor(path: string, env: Pick<Env, 'after'>, isOwn: boolean, known: Remembered) {
    this.#path = path
    this.#env = env
    this.#isOwn = isOwn
    this.#point = known.recoveryPoint ?? 0
    this.#inFile = known.recoveryPoint
    // What is damaged is replaced, also where it would be left out otherwise.
    this.#start = known.logStartOffset ?? (known.warning === undefined ? 0 : -1)
  }

  /**
   * Reads what is remembered and takes away, durably, what is no longer true once the log is
   * appended to. REQUIRES: the folder's lock. Rejects with IO, TOO_LARGE, TOO_MANY_FILES.
   */
  static async take(path: string, env: Pick<Env, 'after'>) {
    const known = await readRemembered(path)
    const isBrokers = isDataDirectory(dirname(path))
    if (isBrokers) {
      await removeCleanShutdown(dirname(path))
      // Of a time when the folder lay elsewhere: the broker does not keep them.
      await removeCleanShutdown(path)
      await removeDurably(join(path, OffsetCheckpoint.RECOVERY_POINT))
      await removeDurably(join(path, OffsetCheckpoint.LOG_START))
    } else if (!isDataDirectory(path)) {
      await removeCleanShutdown(path)
    }
    const isOwn = !isBrokers && !isDataDirectory(path)
    return { known, state: new FolderState(path, env, isOwn, known) }
  }

  /** For one who reads only: remembers nothing. */
  static none(path: string, env: Pick<Env, 'after'>): FolderState {
    const nothing = { clean: false, recoveryPoint: undefined, logStartOffset: undefined }
    return new FolderState(path, env, false, { ...nothing, warning: undefined })
  }

  /** From here on it is known what to remember. */
  attach(log: RememberedLog): void {
    this.#log = log
  }

  /** Writes the first recovery point. Rejects with NO_SPACE, TOO_MANY_FILES, IO. */
  begin(): Promise<void> {
    return this.#isOwn ? this.#enqueue(() => this.#savePoint()) : Promise.resolve()
  }

  /** After a sync: has the recovery point written before long. */
  flushed(): void {
    if (this.#timer !== undefined || !this.#isOwn || this.#closed) return
    if (this.#log === undefined || this.#log.recoveryPoint <= this.#point) return
    this.#timer = this.#env.after(SAVE_MS, () => {
      this.#timer = undefined
      // The old one stays then, and more is read at the next open.
      this.#enqueue(() => this.#savePoint()).catch(() => {})
    })
  }

  /**
   * Must settle before the log is cut at `offset`, so that no crash leaves a recovery point that
   * vouches for what is written there afterwards; undefined where nothing has to be done.
   */
  lowerTo(offset: number): Promise<void> | undefined {
    this.#ceiling = Math.min(this.#ceiling, offset)
    if (!this.#isOwn || this.#point <= offset) return undefined
    return this.#enqueue(() => this.#savePoint())
  }

  /** No cut is under way any more. */
  cutIsOver(): void {
    this.#ceiling = Infinity
    this.flushed()
  }

  /** Resolves once the log's start is on disk. Rejects with NO_SPACE, TOO_MANY_FILES, IO. */
  saveStart(): Promise<void> {
    if (!this.#isOwn || this.#log === undefined) return Promise.resolve()
    return this.#enqueue(async () => {
      const offset = this.#log?.startOffset ?? 0
      if (offset === this.#start) return
      await this.#write(OffsetCheckpoint.LOG_START, offset)
      this.#start = offset
    })
  }

  /** Resolves when nothing is being written; never rejects. */
  settled(): Promise<void> {
    return this.#writing
  }

  /**
   * The last words of a log that `wasClean`, closed with all of it on disk. Rejects where the start
   * cannot be written; the rest only costs the next user a scan.
   */
  async close(wasClean: boolean): Promise<void> {
    this.#closed = true
    this.#timer?.cancel()
    if (!wasClean || !this.#isOwn) return this.#writing
    await this.saveStart()
    await this.#enqueue(async () => {
      await this.#savePoint()
      await writeCleanShutdown(this.#path, { brokerEpoch: -1 })
    }).catch(() => {})
  }

  async #savePoint(): Promise<void> {
    const offset = Math.min(this.#log?.recoveryPoint ?? 0, this.#ceiling)
    if (offset === this.#inFile) return
    this.#inFile = undefined
    this.#point = Math.max(this.#point, offset)
    await this.#write(OffsetCheckpoint.RECOVERY_POINT, offset)
    this.#point = this.#inFile = offset
  }

  #write(name: string, offset: number): Promise<void> {
    return writeOffsets(join(this.#path, name), [{ ...partitionOf(this.#path), offset }])
  }

  #enqueue(job: () => Promise<void>): Promise<void> {
    const done = this.#writing.then(job)
    this.#writing = done.catch(() => {})
    return done
  }
}
