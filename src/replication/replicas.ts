/**
 * All partitions that this broker holds, by topic and by topic id. The one place where a partition
 * comes into being or goes; handlers look partitions up here.
 */
import type { TopicConfig } from '../config.js'
import { SeglogError } from '../errors.js'
import type { TopicPartition } from '../storage/log-files.js'
import type { LogManager } from '../storage/log-manager.js'
import { Partition } from './partition.js'

/** The partitions of one topic by their index; a hole is a partition that is not served here. */
export interface TopicReplicas {
  readonly topic: string
  /** Base64url, 22 characters, as Kafka prints it. */
  readonly topicId: string
  readonly config: TopicConfig
  readonly partitions: (Partition | undefined)[]
}

/** Logs of a topic that are made together: each waits for the disk a few times. */
const MADE_AT_ONCE = 16

export class Replicas {
  readonly #logs: LogManager
  readonly #topics = new Map<string, TopicReplicas>()
  readonly #byId = new Map<string, TopicReplicas>()
  #stopping = false

  constructor(logs: LogManager) {
    this.#logs = logs
  }

  /**
   * Makes the logs of a topic that are missing and serves it. Rejects with nothing left of what was
   * missing; with CLOSED where the broker stops meanwhile, and then what was made is left for the
   * next start. With `mayBeElsewhere` a log that is missing while a disk is, is not made anew: its
   * offsets would start again.
   */
  async serve(
    topic: string,
    topicId: string,
    partitionCount: number,
    config: TopicConfig,
    { mayBeElsewhere = false } = {},
  ): Promise<TopicReplicas> {
    const known = this.#topics.get(topic)
    if (known && known.topicId !== topicId) {
      throw new SeglogError('EXISTS', `${topic} is served with another id, ${known.topicId}`)
    }
    const served = known ?? { topic, topicId, config, partitions: [] }
    const before = served.partitions.length
    const made: Partition[] = []
    try {
      for (let first = before; first < partitionCount; first += MADE_AT_ONCE) {
        if (this.#stopping) throw new SeglogError('CLOSED', `${topic}: the broker stops`)
        const count = Math.min(MADE_AT_ONCE, partitionCount - first)
        const indexes = Array.from({ length: count }, (_, i) => first + i)
        const attempts = indexes.map((index) => this.#make(served, index, mayBeElsewhere, made))
        const results = await Promise.allSettled(attempts)
        for (const result of results) {
          if (result.status === 'rejected') throw result.reason
          served.partitions.push(result.value)
        }
      }
    } catch (error) {
      served.partitions.length = before
      if (this.#stopping) throw error
      await this.#discard(made).catch(() => {})
      throw error
    }
    this.#topics.set(topic, served)
    this.#byId.set(topicId, served)
    return served
  }

  /** One partition; undefined where its log may be on a disk that is not there. */
  async #make(
    { topic, topicId, config }: TopicReplicas,
    index: number,
    mayBeElsewhere: boolean,
    made: Partition[],
  ): Promise<Partition | undefined> {
    const isNew = !this.#logs.has({ topic, partition: index })
    if (isNew && mayBeElsewhere && this.#logs.incomplete) return undefined
    const log = await this.#logs.openOrCreate({ topic, partition: index }, topicId)
    const partition = new Partition(topic, index, log, config)
    if (isNew) made.push(partition)
    return partition
  }

  /** Another configuration for a topic, from the next append on. */
  configure(name: string, config: TopicConfig): void {
    const known = this.#topics.get(name)
    if (!known) return
    const served = { ...known, config }
    this.#topics.set(name, served)
    this.#byId.set(served.topicId, served)
    for (const partition of served.partitions) partition?.configure(config)
  }

  /**
   * Writes down where the logs start and up to where they are on disk. Where that fails, the next
   * one that comes round does it.
   */
  async checkpoint(): Promise<void> {
    await this.#logs.checkpoint().catch(() => {})
  }

  /** Partitions whose last compaction failed; it is tried again. */
  get uncleanable(): readonly TopicPartition[] {
    return this.#logs.uncleanable
  }

  /** Whether a log directory cannot be used. `path` is absolute. */
  isOffline(path: string): boolean {
    const known = this.#logs.directories().find((directory) => directory.path === path)
    return known === undefined || known.offline !== undefined
  }

  /** No log is made from now on, and who is about to make many ends. */
  stopMaking(): void {
    this.#stopping = true
  }

  /**
   * Stops serving a topic and removes its logs, in whatever state they are. Whoever waits for it is
   * told first.
   */
  async remove(name: string): Promise<void> {
    const served = this.#topics.get(name)
    if (!served) return
    this.#topics.delete(name)
    this.#byId.delete(served.topicId)
    await this.#discard(served.partitions.filter((partition) => partition !== undefined))
  }

  async #discard(partitions: readonly Partition[]): Promise<void> {
    // A log that cannot be synced any more goes all the same.
    await Promise.allSettled(partitions.map((partition) => partition.close()))
    for (const { topic, index } of partitions) await this.#logs.remove({ topic, partition: index })
  }

  topic(name: string): TopicReplicas | undefined {
    return this.#topics.get(name)
  }

  topicById(id: string): TopicReplicas | undefined {
    return this.#byId.get(id)
  }

  partition(topic: string, index: number): Partition | undefined {
    return this.#topics.get(topic)?.partitions[index]
  }

  topics(): IterableIterator<TopicReplicas> {
    return this.#topics.values()
  }

  /**
   * Wakes whoever waits and closes every log. Rejects when one of them could not be closed in
   * order.
   */
  async close(): Promise<void> {
    const partitions = [...this.#topics.values()].flatMap((served) => served.partitions)
    const results = await Promise.allSettled(partitions.map((partition) => partition?.close()))
    const failed = results.find((result) => result.status === 'rejected')
    if (failed) throw failed.reason
  }
}
