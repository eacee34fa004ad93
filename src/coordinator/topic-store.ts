/**
 * Committed offsets and groups in the topic `__consumer_offsets`, in Kafka's records: an append is
 * what makes a commit last, memory answers the reads. The topic is made when the first record
 * comes, and read once when the broker starts; the later record of a key holds.
 *
 * Records of one group go to one partition, one batch for each call, so that what a call changes is
 * there as a whole or not at all after a crash.
 */
import type { Env } from '../env.js'
import { KafkaError, type KafkaErrorCode, ProtocolError, SeglogError } from '../errors.js'
import { iterateBatches } from '../records/batch.js'
import { buildBatch } from '../records/encoder.js'
import { iterateRecords } from '../records/reader.js'
import type { RecordInput } from '../records/record.js'
import type { Partition } from '../replication/partition.js'
import type { Replicas } from '../replication/replicas.js'
import {
  type GroupRecord,
  groupRecord,
  offsetRecord,
  offsetTombstone,
  partitionOf,
  readGroupRecord,
  type StoredGroup,
} from './group-records.js'
import { type CommittedOffset, MemoryOffsetStore, type OffsetStore } from './offset-store.js'

const OFFSETS_TOPIC = '__consumer_offsets'

const CHUNK_BYTES = 1024 * 1024

export interface TopicStoreOptions {
  replicas: Replicas
  env: Env
  /** Makes `__consumer_offsets`; resolves when it is served. */
  makeTopic(): Promise<void>
  warn(line: string): void
}

export class TopicOffsetStore implements OffsetStore {
  readonly #memory = new MemoryOffsetStore()
  readonly #options: TopicStoreOptions
  /** Partitions of the topic that are not served, or damaged. */
  readonly #unread = new Set<number>()
  #making: Promise<void> | undefined

  constructor(options: TopicStoreOptions) {
    this.#options = options
  }

  /**
   * Reads the whole topic and resolves with the groups in it. Lets others take turns. A partition
   * that cannot be read to its end is told with a warning, and its groups are unread from then on:
   * an offset that is older than the last one committed, or none, would have a consumer begin at
   * the wrong place. Groups of other partitions are served all the same.
   */
  async load(): Promise<Map<string, StoredGroup>> {
    const groups = new Map<string, StoredGroup>()
    for (const [index, partition] of this.#partitions().entries()) {
      try {
        if (!partition) throw new SeglogError('NOT_FOUND', 'its log is on a disk that is gone')
        await this.#read(partition, (record) => this.#apply(record, groups))
      } catch (error) {
        this.#unread.add(index)
        const place = `${OFFSETS_TOPIC}-${index}`
        this.#options.warn(`${place} is not loaded, and its groups are refused: ${String(error)}`)
      }
    }
    return groups
  }

  #partitions(): readonly (Partition | undefined)[] {
    return this.#options.replicas.topic(OFFSETS_TOPIC)?.partitions ?? []
  }

  isUnread(groupId: string): boolean {
    return this.#unread.has(partitionOf(groupId, Math.max(this.#partitions().length, 1)))
  }

  async #read(partition: Partition, take: (record: GroupRecord) => void): Promise<void> {
    const { env } = this.#options
    let next = partition.log.startOffset
    while (true) {
      const slice = partition.read(next, CHUNK_BYTES)
      if (!slice) return
      for (const batch of iterateBatches(slice.bytes())) {
        next = batch.header.lastOffset + 1
        // Markers of transactions say nothing of groups.
        if (batch.header.isControl) continue
        for (const { key, value } of iterateRecords(batch)) {
          const record = readGroupRecord(key, value)
          if (record) take(record)
        }
      }
      await new Promise<void>((resolve) => env.soon(resolve))
    }
  }

  #apply(record: GroupRecord, groups: Map<string, StoredGroup>): void {
    const { groupId } = record
    if (record.kind === 'offset') {
      if (record.committed) this.#memory.put(groupId, record.committed)
      else this.#memory.drop(groupId, record.place.topic, record.place.partition)
    } else if (record.group) groups.set(groupId, record.group)
    else groups.delete(groupId)
  }

  async commit(groupId: string, offsets: readonly CommittedOffset[]): Promise<KafkaErrorCode> {
    if (offsets.length === 0) return KafkaError.NONE
    if (!this.#memory.hasRoom(groupId, offsets)) return KafkaError.INVALID_COMMIT_OFFSET_SIZE
    const records = offsets.map((offset) => offsetRecord(groupId, offset))
    const error = await this.#append(groupId, records)
    if (error !== KafkaError.NONE) return error
    for (const offset of offsets) this.#memory.put(groupId, offset)
    return error
  }

  get(groupId: string, topic: string, partition: number): CommittedOffset | undefined {
    return this.#memory.get(groupId, topic, partition)
  }

  all(groupId: string): Iterable<CommittedOffset> {
    return this.#memory.all(groupId)
  }

  has(groupId: string): boolean {
    return this.#memory.has(groupId)
  }

  /** Groups that have committed something, for those that never had a member. */
  groupIds(): Iterable<string> {
    return this.#memory.groupIds()
  }

  async remove(groupId: string, offsets: readonly CommittedOffset[]): Promise<void> {
    const records = offsets.map((offset) => offsetTombstone(groupId, offset))
    if (records.length > 0) await this.#appendOrThrow(groupId, records)
    await this.#memory.remove(groupId, offsets)
  }

  saveGroup(groupId: string, group: StoredGroup): Promise<KafkaErrorCode> {
    return this.#append(groupId, [groupRecord(groupId, group)])
  }

  async removeGroup(groupId: string): Promise<void> {
    const offsets = [...this.#memory.all(groupId)]
    const records = offsets.map((offset) => offsetTombstone(groupId, offset))
    await this.#appendOrThrow(groupId, [...records, groupRecord(groupId, null)])
    await this.#memory.removeGroup(groupId)
  }

  async #appendOrThrow(groupId: string, records: readonly RecordInput[]): Promise<void> {
    const error = await this.#append(groupId, records)
    if (error !== KafkaError.NONE) throw new ProtocolError(error)
  }

  async #append(groupId: string, records: readonly RecordInput[]): Promise<KafkaErrorCode> {
    const { replicas, env } = this.#options
    try {
      if (!replicas.topic(OFFSETS_TOPIC)) await this.#makeTopic()
      const partitions = this.#partitions()
      const partition = partitions[partitionOf(groupId, Math.max(partitions.length, 1))]
      if (!partition) return KafkaError.COORDINATOR_NOT_AVAILABLE
      const batch = buildBatch(records, { timestamp: env.now() })
      const { errorCode, flushed } = partition.append(batch, env.now())
      await flushed
      return answerOf(errorCode)
    } catch (error) {
      this.#options.warn(`${OFFSETS_TOPIC} cannot be written: ${String(error)}`)
      return KafkaError.COORDINATOR_NOT_AVAILABLE
    }
  }

  #makeTopic(): Promise<void> {
    this.#making ??= this.#options.makeTopic().finally(() => {
      this.#making = undefined
    })
    return this.#making
  }
}

/** What a client of a group is told of an append that failed; it knows nothing of the topic. */
function answerOf(errorCode: KafkaErrorCode): KafkaErrorCode {
  switch (errorCode) {
    case KafkaError.NONE:
      return KafkaError.NONE
    case KafkaError.MESSAGE_TOO_LARGE:
    case KafkaError.RECORD_LIST_TOO_LARGE:
      return KafkaError.INVALID_COMMIT_OFFSET_SIZE
    default:
      return KafkaError.COORDINATOR_NOT_AVAILABLE
  }
}
