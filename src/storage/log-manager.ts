/**
 * All log directories of a broker: takes their locks, checks whose they are, opens every
 * partition's log in them, and closes all of it so that the next start knows what is safe.
 *
 * The marker of a clean stop is removed before any log is opened, and written again only when every
 * log of its directory was closed in order; without it each newest segment is scanned. Opening runs
 * a bounded number of logs at a time.
 */
import { existsSync } from 'node:fs'
import { readdir, rename, rm } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { makeDirectory } from '../atomic-file.js'
import type { Env } from '../env.js'
import { SeglogError } from '../errors.js'
import { checked, native } from '../native.js'
import { OffsetCheckpoint, writeOffsets } from './checkpoints.js'
import { Log } from './log.js'
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
  readMetaProperties,
  readTopicId,
  removeCleanShutdown,
  writeCleanShutdown,
  writeMetaProperties,
  writeTopicId,
} from './meta-files.js'

export interface LogManagerOptions {
  /** `log.dirs`; made where missing. */
  directories: readonly string[]
  brokerId: number
  log: Omit<LogOptions, 'clean'>
  /** A warning or a note for the operator. */
  warn(line: string): void
}

interface LogDirectory {
  readonly path: string
  readonly lock: number
  readonly clean: boolean
  readonly logs: Map<string, OpenLog>
}

interface OpenLog extends TopicPartition {
  log: Log
  topicId: string | undefined
}

const OPEN_AT_ONCE = 8

export class LogManager {
  readonly clusterId: string
  readonly #options: LogManagerOptions
  readonly #env: Env
  readonly #directories: LogDirectory[]

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
  }

  /**
   * Rejects with LOCKED where another process or broker has a directory open, CORRUPT where
   * meta.properties is damaged, INVALID_CONFIG where a directory belongs to another broker or
   * cluster or two of them hold the same partition, IO.
   */
  static async open(options: LogManagerOptions, env: Env): Promise<LogManager> {
    const directories: LogDirectory[] = []
    try {
      for (const path of options.directories) directories.push(await lockDirectory(path))
      const clusterId = await identify(directories, options.brokerId, env)
      const manager = new LogManager(options, env, directories, clusterId)
      for (const directory of directories) await manager.#openAll(directory)
      manager.#refuseTwins()
      return manager
    } catch (error) {
      await abandon(directories)
      throw error
    }
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

  has(partition: TopicPartition): boolean {
    const name = partitionDirectory(partition)
    return this.#directories.some(({ logs }) => logs.has(name))
  }

  /** The log of a partition, made in the directory that holds the fewest where it is missing. */
  async openOrCreate(partition: TopicPartition, topicId: string): Promise<Log> {
    const name = partitionDirectory(partition)
    const known = this.#directories.find(({ logs }) => logs.has(name))?.logs.get(name)
    if (known) {
      if (known.topicId === undefined) {
        await writeTopicId(known.log.directory, topicId)
        known.topicId = topicId
      }
      return known.log
    }
    const home = this.#directories.reduce((a, b) => (b.logs.size < a.logs.size ? b : a))
    const path = join(home.path, name)
    // A folder that is not known is what a removal that failed left: its records belong to no topic
    // any more.
    if (existsSync(path)) await this.#discard(home, partition)
    try {
      const log = await this.#openLog(path, true)
      home.logs.set(name, { ...partition, log, topicId })
      await writeTopicId(path, topicId)
      return log
    } catch (error) {
      await home.logs
        .get(name)
        ?.log.close()
        .catch(() => {})
      home.logs.delete(name)
      await rm(path, { recursive: true, force: true })
      throw error
    }
  }

  /** Removes the closed log of a partition: out of the way by a rename first, then file by file. */
  async remove(partition: TopicPartition): Promise<void> {
    const name = partitionDirectory(partition)
    const home = this.#directories.find(({ logs }) => logs.has(name))
    if (!home) return
    home.logs.delete(name)
    await this.#discard(home, partition)
  }

  async #discard({ path }: LogDirectory, partition: TopicPartition): Promise<void> {
    const unique = this.#env.random.bytes(16).toString('hex')
    const aside = join(path, deletedDirectory(partition, unique))
    await rename(join(path, partitionDirectory(partition)), aside)
    await rm(aside, { recursive: true, force: true })
  }

  async #openAll(directory: LogDirectory): Promise<void> {
    await removeCleanShutdown(directory.path)
    const names = (await readdir(directory.path, { withFileTypes: true }))
      .filter((entry) => entry.isDirectory())
      .map((entry) => entry.name)
    const queue = names.values()
    const worker = async () => {
      for (const name of queue) await this.#openFound(directory, name)
    }
    const results = await Promise.allSettled(Array.from({ length: OPEN_AT_ONCE }, worker))
    const failed = results.find((result) => result.status === 'rejected')
    if (failed) throw failed.reason
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

  async #openFound(directory: LogDirectory, name: string): Promise<void> {
    const path = join(directory.path, name)
    if (isDeletedDirectory(name)) await rm(path, { recursive: true, force: true })
    const partition = parsePartitionDirectory(name)
    if (!partition) return
    const topicId = await readTopicId(path)
    const log = await this.#openLog(path, directory.clean)
    if (log.report.damage) this.#options.warn(`${path}: ${log.report.damage}`)
    directory.logs.set(name, { ...partition, log, topicId })
  }

  #openLog(path: string, clean: boolean): Promise<Log> {
    return Log.open(path, { ...this.#options.log, clean }, this.#env.now())
  }

  *#openLogs(): Generator<OpenLog> {
    for (const { logs } of this.#directories) yield* logs.values()
  }

  /** Lets go of everything without a word about how clean it is: for a start that failed. */
  async abandon(): Promise<void> {
    await abandon(this.#directories)
  }

  /**
   * Closes every log; writes checkpoints and the marker of a clean stop where all of a directory
   * went well.
   */
  async close(): Promise<void> {
    const failures: unknown[] = []
    for (const directory of this.#directories) {
      try {
        await closeDirectory(directory)
      } catch (error) {
        failures.push(error)
      }
      native.lockRelease(directory.lock)
    }
    if (failures.length > 0) throw failures[0]
  }
}

async function closeLog({ log }: OpenLog): Promise<void> {
  await log.close()
}

async function abandon(directories: LogDirectory[]): Promise<void> {
  await Promise.allSettled(directories.flatMap(({ logs }) => [...logs.values()].map(closeLog)))
  for (const { lock } of directories) native.lockRelease(lock)
}

async function closeDirectory(directory: LogDirectory): Promise<void> {
  const logs = [...directory.logs.values()]
  const results = await Promise.allSettled(logs.map(closeLog))
  const failed = results.find((result) => result.status === 'rejected')
  if (failed) throw failed.reason
  const offsets = logs.map(({ topic, partition, log }) => {
    return { topic, partition, offset: log.endOffset }
  })
  await writeOffsets(join(directory.path, OffsetCheckpoint.RECOVERY_POINT), offsets)
  await writeOffsets(join(directory.path, OffsetCheckpoint.HIGH_WATERMARK), offsets)
  await writeCleanShutdown(directory.path, { brokerEpoch: -1 })
}

async function lockDirectory(path: string): Promise<LogDirectory> {
  const absolute = resolve(path)
  await makeDirectory(absolute)
  const lock = checked(native.lockAcquire(join(absolute, '.lock')), absolute)
  try {
    const clean = (await readCleanShutdown(absolute)) !== undefined
    return { path: absolute, lock, clean, logs: new Map() }
  } catch (error) {
    native.lockRelease(lock)
    throw error
  }
}

/** Reads whose directories these are, and marks new ones. Resolves with the id of the cluster. */
async function identify(directories: LogDirectory[], brokerId: number, env: Env): Promise<string> {
  const found = await Promise.all(directories.map(({ path }) => readMetaProperties(path)))
  const clusterId =
    found.find((meta) => meta)?.clusterId ?? env.random.bytes(16).toString('base64url')
  for (const [i, directory] of directories.entries()) {
    const meta = found[i]
    if (meta && (meta.brokerId !== brokerId || meta.clusterId !== clusterId)) {
      const owner = `broker ${meta.brokerId} of cluster ${meta.clusterId}`
      const here = `broker ${brokerId} of ${clusterId}`
      const text = `${directory.path} belongs to ${owner}, not to ${here}`
      throw new SeglogError('INVALID_CONFIG', text)
    }
    if (!meta) await writeMetaProperties(directory.path, { brokerId, clusterId })
  }
  return clusterId
}
