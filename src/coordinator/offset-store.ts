/**
 * Where committed offsets live, and in what shape groups are kept: in memory here, which forgets
 * them with the process, and in the topic __consumer_offsets in `topic-store.ts`. A commit is
 * acknowledged by a promise, and what it changes is seen by reads only then.
 */
import { KafkaError, type KafkaErrorCode } from '../errors.js'
import type { StoredGroup } from './group-records.js'

export interface CommittedOffset {
  topic: string
  partition: number
  offset: number
  /** -1: not known. */
  leaderEpoch: number
  metadata: string
  /** ms since 1970. */
  commitTimestamp: number
  /** ms since 1970 where the client named a retention time of its own. */
  expireTimestamp?: number
}

export interface OffsetStore {
  /** Stores all of them or none; the error is that of each. */
  commit(groupId: string, offsets: readonly CommittedOffset[]): Promise<KafkaErrorCode>
  get(groupId: string, topic: string, partition: number): CommittedOffset | undefined
  /** All offsets of a group, grouped by topic. Do not change the store meanwhile. */
  all(groupId: string): Iterable<CommittedOffset>
  has(groupId: string): boolean
  /** Whether what was kept of a group could not be read: nothing is known of it then. */
  isUnread(groupId: string): boolean
  remove(groupId: string, offsets: readonly CommittedOffset[]): Promise<void>
  /** Keeps what a group is, in place of what was kept of it before. */
  saveGroup(groupId: string, group: StoredGroup): Promise<KafkaErrorCode>
  /** Takes a group away with all of its offsets. */
  removeGroup(groupId: string): Promise<void>
}

type Partitions = Map<number, CommittedOffset>

export class MemoryOffsetStore implements OffsetStore {
  readonly #groups = new Map<string, Map<string, Partitions>>()
  readonly #offsetsMax: number
  #count = 0

  /** Refuses, above `offsetsMax` partitions of all groups, commits for further ones. */
  constructor(offsetsMax = 2_000_000) {
    this.#offsetsMax = offsetsMax
  }

  async commit(groupId: string, offsets: readonly CommittedOffset[]): Promise<KafkaErrorCode> {
    if (!this.hasRoom(groupId, offsets)) return KafkaError.INVALID_COMMIT_OFFSET_SIZE
    for (const offset of offsets) this.put(groupId, offset)
    return KafkaError.NONE
  }

  hasRoom(groupId: string, offsets: readonly CommittedOffset[]): boolean {
    const fresh = offsets.filter(({ topic, partition }) => !this.get(groupId, topic, partition))
    return this.#count + fresh.length <= this.#offsetsMax
  }

  get(groupId: string, topic: string, partition: number): CommittedOffset | undefined {
    return this.#groups.get(groupId)?.get(topic)?.get(partition)
  }

  *all(groupId: string): Iterable<CommittedOffset> {
    for (const partitions of this.#groups.get(groupId)?.values() ?? []) yield* partitions.values()
  }

  has(groupId: string): boolean {
    return this.#groups.has(groupId)
  }

  isUnread(_groupId: string): boolean {
    return false
  }

  groupIds(): Iterable<string> {
    return this.#groups.keys()
  }

  async remove(groupId: string, offsets: readonly CommittedOffset[]): Promise<void> {
    for (const { topic, partition } of offsets) this.drop(groupId, topic, partition)
  }

  drop(groupId: string, topic: string, partition: number): void {
    const topics = this.#groups.get(groupId)
    const partitions = topics?.get(topic)
    if (!partitions?.delete(partition)) return
    this.#count--
    if (partitions.size === 0) topics?.delete(topic)
    if (topics?.size === 0) this.#groups.delete(groupId)
  }

  async saveGroup(): Promise<KafkaErrorCode> {
    return KafkaError.NONE
  }

  async removeGroup(groupId: string): Promise<void> {
    for (const partitions of this.#groups.get(groupId)?.values() ?? []) {
      this.#count -= partitions.size
    }
    this.#groups.delete(groupId)
  }

  put(groupId: string, offset: CommittedOffset): void {
    const topics = this.#groups.get(groupId) ?? new Map<string, Partitions>()
    this.#groups.set(groupId, topics)
    const partitions = topics.get(offset.topic) ?? new Map<number, CommittedOffset>()
    topics.set(offset.topic, partitions)
    if (!partitions.has(offset.partition)) this.#count++
    partitions.set(offset.partition, offset)
  }
}
