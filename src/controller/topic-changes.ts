/**
 * Changes to topics that exist: more partitions, another configuration. The znode is written first
 * and what is served follows, so that a crash in between leaves what the next start completes.
 *
 * REQUIRES: no two changes, and no change beside a creation or deletion, at a time; `Topics` sees
 * to that with its queue.
 */
import type { BrokerConfig, TopicConfig } from '../config.js'
import type { Coordination } from '../coordination/coordination.js'
import { topicConfigZNode, topicZNode } from '../coordination/znodes.js'
import { KafkaError, ProtocolError } from '../errors.js'
import type { Replicas, TopicReplicas } from '../replication/replicas.js'
import { assignReplicas } from './assignment.js'

/** Partitions of one topic at most: each is a folder with open files. */
export const PARTITIONS_MAX = 10_000

export interface GrowthWish {
  name: string
  /** Partitions of the topic afterwards. */
  count: number
  /** Replica ids of each new partition; null leaves the choice to the controller. */
  assignments: readonly (readonly number[])[] | null
}

export class TopicChanges {
  readonly #coordination: Coordination
  readonly #replicas: Replicas
  readonly #config: BrokerConfig

  constructor(coordination: Coordination, replicas: Replicas, config: BrokerConfig) {
    this.#coordination = coordination
    this.#replicas = replicas
    this.#config = config
  }

  /**
   * Makes further partitions. Rejects with a `ProtocolError`: UNKNOWN_TOPIC_OR_PARTITION,
   * INVALID_PARTITIONS, INVALID_REPLICA_ASSIGNMENT.
   */
  async grow(wish: GrowthWish, validateOnly: boolean): Promise<void> {
    const { name, count } = wish
    const { topicId, partitions, config } = this.#served(name)
    const added = this.#decide(wish, partitions.length)
    if (validateOnly) return
    const path = topicZNode.path(name)
    const znode = await this.#coordination.get(path)
    if (!znode) throw new ProtocolError(KafkaError.UNKNOWN_TOPIC_OR_PARTITION)
    const present = topicZNode.decode(znode.data, name)
    const changed = { topicId, partitions: [...present.partitions, ...added] }
    const version = await this.#coordination.set(path, topicZNode.encode(changed), znode.version)
    try {
      await this.#replicas.serve(name, topicId, count, config)
    } catch (error) {
      await this.#coordination.set(path, znode.data, version).catch(() => {})
      throw error
    }
  }

  #decide({ name, count, assignments }: GrowthWish, present: number): number[][] {
    if (count === present) {
      const text = `Topic already has ${count} partition(s).`
      throw new ProtocolError(KafkaError.INVALID_PARTITIONS, text)
    }
    if (count < present) {
      const text = `Topic ${name} has ${present} partitions; ${count} would not be an increase.`
      throw new ProtocolError(KafkaError.INVALID_PARTITIONS, text)
    }
    if (count > PARTITIONS_MAX) {
      const text = `A topic has ${PARTITIONS_MAX} partitions at most.`
      throw new ProtocolError(KafkaError.INVALID_PARTITIONS, text)
    }
    const brokerId = this.#config.get('broker.id')
    if (assignments === null) return assignReplicas([brokerId], count - present, 1, present)
    if (assignments.length !== count - present) {
      const text = `${count - present} assignments are needed, ${assignments.length} are given.`
      throw new ProtocolError(KafkaError.INVALID_REPLICA_ASSIGNMENT, text)
    }
    if (!assignments.every((ids) => ids.length === 1 && ids[0] === brokerId)) {
      const text = `A manual assignment may name broker ${brokerId} only, once per partition.`
      throw new ProtocolError(KafkaError.INVALID_REPLICA_ASSIGNMENT, text)
    }
    return assignments.map((ids) => [...ids])
  }

  /**
   * Replaces the values that a topic has of its own. REQUIRES: `config` was read from `values`.
   * Rejects with UNKNOWN_TOPIC_OR_PARTITION.
   */
  async configure(
    name: string,
    values: Readonly<Record<string, string>>,
    config: TopicConfig,
  ): Promise<void> {
    this.#served(name)
    const path = topicConfigZNode.path(name)
    const data = topicConfigZNode.encode({ ...values })
    const znode = await this.#coordination.get(path)
    if (znode) await this.#coordination.set(path, data, znode.version)
    else await this.#coordination.create(path, data)
    this.#replicas.configure(name, config)
  }

  #served(name: string): TopicReplicas {
    const served = this.#replicas.topic(name)
    if (!served) throw new ProtocolError(KafkaError.UNKNOWN_TOPIC_OR_PARTITION)
    return served
  }
}
