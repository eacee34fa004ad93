/**
 * Offsets that clients of before Kafka 0.8.2 commit (OffsetCommit and OffsetFetch 0): the znode
 * `/consumers/[group]/offsets/[topic]/[partition]` holds the number as text, where tools of that
 * time look for it. They have nothing to do with what the same group commits by later versions, as
 * in Kafka. Bounded: above `offsetsMax` znodes no further one is made.
 */
import type { Coordination } from '../coordination/coordination.js'
import { consumerOffsetZNode } from '../coordination/znodes.js'
import { KafkaError, type KafkaErrorCode, SeglogError } from '../errors.js'

export class TreeOffsets {
  readonly #coordination: Coordination
  readonly #offsetsMax: number
  /** How many znodes were made by this process. */
  #made = 0

  constructor(coordination: Coordination, offsetsMax = 10_000) {
    this.#coordination = coordination
    this.#offsetsMax = offsetsMax
  }

  /** INVALID_GROUP_ID for what cannot be a znode's name; COORDINATOR_NOT_AVAILABLE. */
  async commit(
    groupId: string,
    topic: string,
    partition: number,
    offset: number,
  ): Promise<KafkaErrorCode> {
    if (!isName(groupId)) return KafkaError.INVALID_GROUP_ID
    const path = consumerOffsetZNode.path(groupId, topic, partition)
    const data = consumerOffsetZNode.encode(offset)
    try {
      const present = await this.#coordination.get(path)
      if (present) await this.#coordination.set(path, data, present.version)
      else if (this.#made >= this.#offsetsMax) return KafkaError.INVALID_COMMIT_OFFSET_SIZE
      else {
        await this.#coordination.create(path, data)
        this.#made++
      }
      return KafkaError.NONE
    } catch (error) {
      // The tree cannot be written, or somebody else was faster: the client tries again.
      if (!(error instanceof SeglogError)) throw error
      return KafkaError.COORDINATOR_NOT_AVAILABLE
    }
  }

  /** Undefined where nothing was committed, or nothing that can be read. */
  async fetch(groupId: string, topic: string, partition: number): Promise<number | undefined> {
    if (!isName(groupId)) return undefined
    const path = consumerOffsetZNode.path(groupId, topic, partition)
    const znode = await this.#coordination.get(path)
    return znode && consumerOffsetZNode.decode(znode.data)
  }
}

function isName(groupId: string): boolean {
  return groupId !== '' && groupId !== '.' && groupId !== '..' && !/[/\0]/.test(groupId)
}
