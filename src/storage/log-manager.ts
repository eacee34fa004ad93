/**
 * All log directories of a broker: takes their locks, checks whose they are, opens every
 * partition's log in them, keeps house while they are open, and closes all of it so that the next
 * start knows what is safe.
 *
 * A directory that cannot be used, at the start or later, goes offline and the others go on; a
 * start with none left is refused. What is wrong with its identity (another broker's, damaged, in
 * use) is for a person to solve and refuses the start.
 */
import { existsSync } from 'node:fs'
import { readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Env } from '../env.js'
import { SeglogError } from '../errors.js'
import {
  type CleanableLog,
  Cleaner,
  type CleanerOptions,
  defaultCleanerOptions,
  type Uncleanable,
} from './compaction/cleaner.js'
import { Log } from './log.js'
import { LogDirectory, type OpenLog, type Remembered } from './log-directory.js'
import { parsePartitionDirectory, partitionDirectory, type TopicPartition } from './log-files.js'
import type { LogOptions } from './log-options.js'
import { readMetaProperties, writeMetaProperties, writeTopicId } from './meta-files.js'
import { Periodic } from './periodic.js'

export interface LogManagerOptions {
  /** `log.dirs`; made where missing. */
  directories: readonly string[]
  brokerId: number
  log: Omit<LogOptions, keyof Remembered>
  intervals?: Partial<Intervals>
  /** Asked anew for each round, as most of it may change. */
  cleaner?: () => Partial<CleanerOptions>
  /** A warning or a note for the operator. */
  warn(line: string): void
}

/** How often the house is kept, ms. Names in brackets are those of Kafka's configuration. */
export interface Intervals {
  /** `log.retention.check.interval.ms` */
  retentionMs: number
  /** `log.flush.offset.checkpoint.interval.ms` */
  checkpointMs: number
}

/** Kafka's. */
const defaultIntervals: Intervals = { retentionMs: 300_000, checkpointMs: 60_000 }

/** How often a long start says how far it is. */
const PROGRESS_MS = 5000

export class LogManager {
  readonly clusterId: string
  readonly #options: LogManagerOptions
  readonly #env: Env
  readonly #directories: LogDirectory[]
  readonly #periodic: Periodic
  readonly #cleaner: Cleaner

  private constructor(
    options: LogManagerOptions,
    env: Env,
    directories: LogDirectory[],
    clusterId: string,
  ) {
    this.#env = env
    this.#options = options
    this.#directories = directories
    this.clusterId = clusterId
    this.#periodic = new Periodic(env, options.warn)
    const cleanable = () => this.#cleanableLogs()
    this.#cleaner = new Cleaner(cleanable, () => this.#cleanerOptions, options.warn)
  }

  /**
   * Rejects with LOCKED where another process or broker has a directory open, CORRUPT where
   * meta.properties is damaged, INVALID_CONFIG where a directory belongs to another broker or
   * cluster or two of them hold the same partition; with IO where no directory can be used.
   */
  static async open(options: LogManagerOptions, env: Env): Promise<LogManager> {
    const directories: LogDirectory[] = []
    try {
      await openDirectories(options, directories)
      const clusterId = await identify(directories, options, env)
      const manager = new LogManager(options, env, directories, clusterId)
      await manager.#load()
      manager.#refuseTwins()
      manager.#keepHouse()
      return manager
    } catch (error) {
      await Promise.all(directories.map((directory) => directory.abandon()))
      throw error
    }
  }

  async #load(): Promise<void> {
    const { warn } = this.#options
    for (const directory of this.#directories) {
      try {
        const openFolder = (path: string, remembered: Remembered) =>
          this.#openLog(directory, path, remembered)
        await directory.load(openFolder, warn, this.#progressOf(directory))
      } catch (error) {
        if (!isOfTheDisk(error)) throw error
        await this.#lose(directory, error)
      }
    }
    if (this.#online.length === 0) throw this.#directories[0]?.offline ?? noDirectory()
  }

  /** A line now and then while the opening of many logs takes its time. */
  #progressOf({ path }: LogDirectory): (count: number, total: number) => void {
    let toldMs = this.#env.monotonic()
    return (count, total) => {
      const nowMs = this.#env.monotonic()
      if (nowMs - toldMs < PROGRESS_MS || count >= total) return
      toldMs = nowMs
      this.#options.warn(`${path}: ${count} of ${total} logs are open`)
    }
  }

  /** At the start: what was opened of it is let go of again, as if it had not been given. */
  async #lose(directory: LogDirectory, error: SeglogError): Promise<void> {
    this.#fail(directory, error)
    await Promise.allSettled([...directory.logs.values()].map(({ log }) => log.close()))
    directory.logs.clear()
  }

  #fail(directory: LogDirectory, error: SeglogError): void {
    if (directory.offline) return
    directory.fail(error)
    this.#options.warn(`${directory.path} goes offline: ${error.message}`)
  }

  get #online(): LogDirectory[] {
    return this.#directories.filter(({ offline }) => !offline)
  }

  /** Every directory that was opened, and why it is offline where it is. */
  directories(): { path: string; offline: SeglogError | undefined }[] {
    return this.#directories.map(({ path, offline }) => ({ path, offline }))
  }

  /**
   * Every topic that has a log here: its id where a file tells, and one above its highest
   * partition.
   */
  topics(): Map<string, { topicId: string | undefined; partitions: number; logs: number }> {
    const topics: ReturnType<LogManager['topics']> = new Map()
    for (const { topic, partition, topicId } of this.#openLogs()) {
      const known = topics.get(topic)
      topics.set(topic, {
        topicId: known?.topicId ?? topicId,
        partitions: Math.max(known?.partitions ?? 0, partition + 1),
        logs: (known?.logs ?? 0) + 1,
      })
    }
    return topics
  }

  /** Whether a log that is not found may be on a disk that is not there. */
  get incomplete(): boolean {
    return this.#online.length < this.#options.directories.length
  }

  has(partition: TopicPartition): boolean {
    return this.#homeOf(partition) !== undefined
  }

  #homeOf(partition: TopicPartition): LogDirectory | undefined {
    const name = partitionDirectory(partition)
    return this.#directories.find(({ logs }) => logs.has(name))
  }

  /**
   * The log of a partition, made in the directory that holds the fewest where it is missing.
   * Rejects with NO_SPACE, TOO_MANY_FILES or IO, and nothing is left of it then; with
   * INVALID_CONFIG where the log is of a topic of that name with another id.
   */
  async openOrCreate(partition: TopicPartition, topicId: string): Promise<Log> {
    const known = this.#homeOf(partition)?.logs.get(partitionDirectory(partition))
    if (!known) return this.#create(partition, topicId)
    if (known.topicId !== undefined && known.topicId !== topicId) {
      const place = `${known.log.directory} is of the topic with id ${known.topicId}`
      throw new SeglogError('INVALID_CONFIG', `${place}, not of the one with ${topicId}`)
    }
    if (known.topicId === undefined) {
      await writeTopicId(known.log.directory, topicId)
      known.topicId = topicId
    }
    return known.log
  }

  async #create(partition: TopicPartition, topicId: string): Promise<Log> {
    const [first, ...others] = this.#online
    if (!first) throw noDirectory()
    const load = ({ logs, making }: LogDirectory) => logs.size + making
    const home = others.reduce((a, b) => (load(b) < load(a) ? b : a), first)
    return this.#createIn(home, partition, topicId)
  }

  async #createIn(home: LogDirectory, partition: TopicPartition, topicId: string): Promise<Log> {
    const name = partitionDirectory(partition)
    const path = join(home.path, name)
    // A folder that is not known is what a removal that failed left: its records belong to no topic
    // any more.
    home.making++
    let log: Log
    try {
      if (existsSync(path)) await home.discard(partition, this.#env)
      log = await this.#openLog(home, path, { clean: true })
      home.logs.set(name, { ...partition, log, topicId })
    } catch (error) {
      await rm(path, { recursive: true, force: true })
      throw error
    } finally {
      home.making--
    }
    try {
      await writeTopicId(path, topicId)
      return log
    } catch (error) {
      home.logs.delete(name)
      await log.close().catch(() => {})
      await rm(path, { recursive: true, force: true })
      throw error
    }
  }

  /** Removes the closed log of a partition: out of the way by a rename first, then file by file. */
  async remove(partition: TopicPartition): Promise<void> {
    const home = this.#homeOf(partition)
    if (!home) return
    home.logs.delete(partitionDirectory(partition))
    await home.discard(partition, this.#env)
    // Of a topic that is made anew under this name, nothing was compacted.
    await home.checkpointCleaned().catch(() => {})
  }

  async #openLog(home: LogDirectory, path: string, remembered: Remembered): Promise<Log> {
    const { log: options, warn } = this.#options
    const onFailure = (error: SeglogError) => this.#fail(home, error)
    const onDamage = (line: string) => warn(`${path}: ${line}`)
    const onFull = () => home.noteFull(this.#env.now(), warn)
    const all = { ...options, ...remembered, onFailure, onDamage, onFull }
    const log = await Log.open(path, all, this.#env.now(), this.#env)
    if (log.report.damage) warn(`${path}: ${log.report.damage}`)
    return log
  }

  /** Which of two folders holds the records that count, only a person can tell. */
  #refuseTwins(): void {
    const homes = new Map<string, string>()
    for (const { path, logs } of this.#directories) {
      for (const name of logs.keys()) {
        const other = homes.get(name)
        if (other === undefined) homes.set(name, path)
        else throw new SeglogError('INVALID_CONFIG', `${other} and ${path} both hold ${name}`)
      }
    }
  }

  *#openLogs(): Generator<OpenLog> {
    for (const { logs } of this.#directories) yield* logs.values()
  }

  #keepHouse(): void {
    const { retentionMs, checkpointMs } = { ...defaultIntervals, ...this.#options.intervals }
    this.#periodic.start({
      name: 'the check of the retention',
      everyMs: retentionMs,
      run: () => this.deleteOld(),
    })
    this.#periodic.start({
      name: 'the checkpoint of the offsets',
      everyMs: checkpointMs,
      run: () => this.checkpoint(),
    })
    const backoffMs = () => this.#cleanerOptions.backoffMs
    this.#periodic.start({
      name: 'the compaction of logs',
      get everyMs() {
        return Math.max(1, backoffMs())
      },
      run: () => this.compact(),
    })
  }

  get #cleanerOptions(): CleanerOptions {
    return { ...defaultCleanerOptions, ...this.#options.cleaner?.() }
  }

  *#cleanableLogs(): Generator<CleanableLog> {
    for (const directory of this.#online) {
      for (const { topic, partition, log } of directory.logs.values()) {
        const checkpoint = () => directory.checkpointCleaned()
        yield { topic, partition, log, limitOffset: log.endOffset, checkpoint }
      }
    }
  }

  /** Compacts what needs it, the dirtiest log first. */
  compact(): Promise<void> {
    return this.#cleaner.round()
  }

  /** Logs whose last compaction failed, and why. */
  get uncleanable(): Uncleanable[] {
    return this.#cleaner.uncleanable
  }

  /** Deletes what the retention of each log has no place for. */
  async deleteOld(): Promise<void> {
    for (const { log } of [...this.#openLogs()]) {
      await log.deleteOldSegments(this.#env.now(), log.endOffset)
    }
  }

  /** Writes down what an unclean start would want to know. */
  async checkpoint(): Promise<void> {
    for (const directory of this.#online) await directory.checkpoint()
  }

  /** Lets go of everything without a word about how clean it is: for a start that failed. */
  async abandon(): Promise<void> {
    this.#cleaner.stop()
    await this.#periodic.stop()
    await Promise.all(this.#directories.map((directory) => directory.abandon()))
  }

  /**
   * Closes every log; writes checkpoints and the marker of a clean stop where all of a directory
   * went well.
   */
  async close(): Promise<void> {
    this.#cleaner.stop()
    await this.#periodic.stop()
    const closing = this.#directories.map((directory) => directory.close())
    const failed = (await Promise.allSettled(closing)).find(({ status }) => status === 'rejected')
    if (failed?.status === 'rejected') throw failed.reason
  }
}

/** An error that says something of a disk, and nothing of whose the directory is. */
function isOfTheDisk(error: unknown): error is SeglogError {
  return error instanceof SeglogError && error.code === 'IO'
}

function noDirectory(): SeglogError {
  return new SeglogError('IO', 'no log directory is online')
}

async function openDirectories(
  { directories, warn }: LogManagerOptions,
  opened: LogDirectory[],
): Promise<void> {
  let failure: SeglogError | undefined
  for (const path of directories) {
    try {
      opened.push(await LogDirectory.open(path))
    } catch (error) {
      if (!isOfTheDisk(error)) throw error
      failure ??= error
      warn(`${path} stays offline: ${error.message}`)
    }
  }
  if (opened.length === 0) throw failure ?? noDirectory()
}

/** Reads whose directories these are, and marks new ones. Resolves with the id of the cluster. */
async function identify(
  directories: readonly LogDirectory[],
  { brokerId, warn }: LogManagerOptions,
  env: Env,
): Promise<string> {
  const found = await Promise.all(directories.map(({ path }) => readMetaProperties(path)))
  const clusterId =
    found.find((meta) => meta)?.clusterId ?? env.random.bytes(16).toString('base64url')
  for (const [i, { path }] of directories.entries()) {
    const meta = found[i]
    if (meta && (meta.brokerId !== brokerId || meta.clusterId !== clusterId)) {
      const owner = `broker ${meta.brokerId} of cluster ${meta.clusterId}`
      const here = `broker ${brokerId} of ${clusterId}`
      throw new SeglogError('INVALID_CONFIG', `${path} belongs to ${owner}, not to ${here}`)
    }
    if (meta) continue
    if (await hasPartitions(path)) {
      warn(`${path} holds logs and no meta.properties; it is taken for one of cluster ${clusterId}`)
    }
    await writeMetaProperties(path, { brokerId, clusterId })
  }
  return clusterId
}

async function hasPartitions(path: string): Promise<boolean> {
  return (await readdir(path)).some((name) => parsePartitionDirectory(name) !== undefined)
}
