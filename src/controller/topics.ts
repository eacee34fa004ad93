/**
 * The controller's part in topics: checks a wish to make one, decides its id and replicas, writes
 * it to the coordination tree, and has the brokers serve it. A topic exists when its znode does; it
 * is served before the creation is answered, so that the first produce finds its leader.
 *
 * Creations run one after the other, which makes two clients that create the same topic at once
 * safe.
 */
import { AssertionError } from 'node:assert'
import { type BrokerConfig, TopicConfig } from '../config.js'
import type { Coordination } from '../coordination/coordination.js'
import {
  deletionsPath,
  deletionZNode,
  type TopicAssignment,
  topicConfigZNode,
  topicsPath,
  topicZNode,
} from '../coordination/znodes.js'
import type { Env } from '../env.js'
import { KafkaError, ProtocolError, SeglogError } from '../errors.js'
import type { Replicas } from '../replication/replicas.js'
import { assignReplicas } from './assignment.js'
import { type GrowthWish, PARTITIONS_MAX, TopicChanges } from './topic-changes.js'
import { collidingTopic, topicNameFault } from './topic-names.js'

export interface TopicWish {
  name: string
  /** -1 takes the broker's default. */
  partitionCount: number
  /** -1 takes the broker's default. */
  replicationFactor: number
  /** Replica ids by partition, instead of the two counts. */
  assignment?: number[][]
  configs?: Record<string, string>
}

/** A topic as it was made. */
export interface CreatedTopic extends TopicAssignment {
  topicId: string
  config: TopicConfig
}

export class Topics {
  readonly #coordination: Coordination
  readonly #replicas: Replicas
  readonly #env: Env
  readonly #brokerId: number
  readonly #config: BrokerConfig
  readonly #changes: TopicChanges
  #queue: Promise<unknown> = Promise.resolve()
  #closed = false

  constructor(coordination: Coordination, replicas: Replicas, env: Env, config: BrokerConfig) {
    this.#coordination = coordination
    this.#replicas = replicas
    this.#env = env
    this.#brokerId = config.get('broker.id')
    this.#config = config
    this.#changes = new TopicChanges(coordination, replicas, config)
  }

  /**
   * Serves every topic of the tree, adopts those found on disk alone, and ends deletions that were
   * begun. For the start of a broker.
   */
  async load(
    found: Map<string, { topicId: string | undefined; partitions: number; logs: number }>,
  ): Promise<void> {
    const names = new Set([...(await this.#coordination.children(topicsPath)), ...found.keys()])
    for (const name of names) {
      const znode = await this.#coordination.get(topicZNode.path(name))
      const onDisk = found.get(name)
      const fault = topicNameFault(name)
      if (znode && fault) throw new SeglogError('CORRUPT', `${topicZNode.path(name)}: ${fault}`)
      // A folder such as backup-20261231 looks like one of many partitions, and is none.
      if (!znode && (fault || (onDisk && !isTopic(onDisk)))) continue
      const assignment = znode
        ? topicZNode.decode(znode.data, name)
        : {
            // Nothing but what a log says is known of it.
            topicId: onDisk?.topicId,
            partitions: assignReplicas([this.#brokerId], onDisk?.partitions ?? 1, 1, 0),
          }
      const topicId = assignment.topicId ?? onDisk?.topicId ?? this.#newTopicId()
      const complete = { topicId, partitions: assignment.partitions }
      if (!znode)
        await this.#coordination.create(topicZNode.path(name), topicZNode.encode(complete))
      const config = TopicConfig.parse(await this.#storedConfig(name), this.#config)
      await this.#replicas.serve(name, topicId, assignment.partitions.length, config)
    }
    for (const name of await this.#coordination.children(deletionsPath)) await this.#remove(name)
  }

  /**
   * Makes a topic, or with `validateOnly` only says whether it could be made. Rejects with a
   * `ProtocolError`: INVALID_TOPIC_EXCEPTION, TOPIC_ALREADY_EXISTS, INVALID_PARTITIONS,
   * INVALID_REPLICATION_FACTOR, INVALID_REPLICA_ASSIGNMENT, INVALID_CONFIG, KAFKA_STORAGE_ERROR.
   */
  create(wish: TopicWish, validateOnly = false): Promise<CreatedTopic> {
    return this.#serially(() => this.#create(wish, validateOnly))
  }

  /**
   * Makes further partitions of a topic, or with `validateOnly` says whether it could. Rejects with
   * a `ProtocolError`: as `TopicChanges.grow`, KAFKA_STORAGE_ERROR.
   */
  grow(wish: GrowthWish, validateOnly = false): Promise<void> {
    return this.#serially(() =>
      this.#changes.grow(wish, validateOnly).catch((error) => {
        throw storageFault(wish.name, error)
      }),
    )
  }

  /**
   * Replaces the values that a topic has of its own by what `change` makes of the present ones, or
   * with `validateOnly` says whether it could. Rejects with a `ProtocolError`:
   * UNKNOWN_TOPIC_OR_PARTITION, INVALID_CONFIG, KAFKA_STORAGE_ERROR, and what `change` throws.
   */
  configure(
    name: string,
    change: (present: Readonly<Record<string, string>>) => Record<string, string>,
    validateOnly = false,
  ): Promise<void> {
    return this.#serially(async () => {
      try {
        const served = this.#replicas.topic(name)
        if (!served) throw new ProtocolError(KafkaError.UNKNOWN_TOPIC_OR_PARTITION)
        const values = change(served.config.own())
        const config = this.#parseConfig(values)
        if (!validateOnly) await this.#changes.configure(name, values, config)
      } catch (error) {
        throw storageFault(name, error)
      }
    })
  }

  #serially<T>(act: () => Promise<T>): Promise<T> {
    const change = this.#queue.then(() => {
      this.#checkOpen()
      return act()
    })
    this.#queue = change.catch(() => {})
    return change
  }

  /** Refuses what waits, and resolves when the change under way is done. */
  async close(): Promise<void> {
    this.#closed = true
    this.#replicas.stopMaking()
    await this.#queue
  }

  #checkOpen(): void {
    if (this.#closed) throw new ProtocolError(KafkaError.NOT_CONTROLLER, 'The broker stops.')
  }

  async #create(wish: TopicWish, validateOnly: boolean) {
    const { name } = wish
    const fault = topicNameFault(name)
    if (fault) throw new ProtocolError(KafkaError.INVALID_TOPIC_EXCEPTION, fault)
    if (this.#replicas.topic(name)) {
      throw new ProtocolError(KafkaError.TOPIC_ALREADY_EXISTS, `Topic '${name}' already exists.`)
    }
    const other = collidingTopic(name, this.#topicNames())
    if (other) {
      const text = `Topic '${name}' collides with existing topic: ${other}`
      throw new ProtocolError(KafkaError.INVALID_TOPIC_EXCEPTION, text)
    }
    const assignment = { topicId: this.#newTopicId(), partitions: this.#decide(wish) }
    const config = this.#parseConfig(wish.configs ?? {})
    if (validateOnly) return { ...assignment, config }
    try {
      await this.#write(name, assignment, wish.configs ?? {})
      await this.#replicas.serve(name, assignment.topicId, assignment.partitions.length, config)
    } catch (error) {
      // What is in the tree is made to its end by the next start.
      this.#checkOpen()
      // Where not even this can be written, the next attempt takes the znodes for what they are.
      await this.#forget(name).catch(() => {})
      throw storageFault(name, error)
    }
    return { ...assignment, config }
  }

  /**
   * Removes a topic, its records with it. Rejects with a `ProtocolError`:
   * UNKNOWN_TOPIC_OR_PARTITION, KAFKA_STORAGE_ERROR. A znode marks the topic first, so that a crash
   * in between leaves neither folders that a start would adopt nor a topic without its records.
   */
  delete(name: string): Promise<void> {
    return this.#serially(() => this.#delete(name))
  }

  async #delete(name: string): Promise<void> {
    if (!this.#replicas.topic(name)) throw new ProtocolError(KafkaError.UNKNOWN_TOPIC_OR_PARTITION)
    try {
      await this.#mark(name)
      await this.#remove(name)
    } catch (error) {
      throw storageFault(name, error)
    }
  }

  async #mark(name: string): Promise<void> {
    try {
      await this.#replace(deletionZNode.path(name), Buffer.alloc(0))
    } catch (error) {
      if (!(error instanceof SeglogError) || error.code !== 'NO_SPACE') throw error
      // Its records are what takes the space. A crash now would leave the topic without them, which
      // nobody was told of, and which the next attempt ends.
      await this.#replicas.remove(name)
    }
  }

  async #remove(name: string): Promise<void> {
    await this.#replicas.remove(name)
    await this.#forget(name)
  }

  /** Takes all znodes of a topic away, the mark of its deletion last. */
  async #forget(name: string): Promise<void> {
    for (const { path } of [topicConfigZNode, topicZNode, deletionZNode]) {
      await this.#clear(path(name))
    }
  }

  async #clear(path: string): Promise<void> {
    const znode = await this.#coordination.get(path)
    if (znode) await this.#coordination.delete(path, znode.version)
  }

  async #replace(path: string, data: Buffer): Promise<void> {
    await this.#clear(path)
    await this.#coordination.create(path, data)
  }

  async #storedConfig(name: string): Promise<Record<string, string>> {
    const znode = await this.#coordination.get(topicConfigZNode.path(name))
    return znode ? topicConfigZNode.decode(znode.data, name) : {}
  }

  #parseConfig(configs: Record<string, string>): TopicConfig {
    try {
      return TopicConfig.parse(configs, this.#config)
    } catch (error) {
      if (!(error instanceof SeglogError)) throw error
      throw new ProtocolError(KafkaError.INVALID_CONFIG, error.message)
    }
  }

  /**
   * What an attempt that failed left of this topic is replaced: it is not served, so nobody knows
   * it.
   */
  async #write(name: string, assignment: TopicAssignment, configs: Record<string, string>) {
    await this.#forget(name)
    if (Object.keys(configs).length > 0) {
      await this.#replace(topicConfigZNode.path(name), topicConfigZNode.encode(configs))
    }
    await this.#replace(topicZNode.path(name), topicZNode.encode(assignment))
  }

  #decide(wish: TopicWish): number[][] {
    const partitionCount =
      wish.partitionCount === -1 ? this.#config.get('num.partitions') : wish.partitionCount
    const factor =
      wish.replicationFactor === -1
        ? this.#config.get('default.replication.factor')
        : wish.replicationFactor
    if (wish.assignment && wish.assignment.length > 0) return this.#checkAssignment(wish.assignment)
    if (partitionCount < 1 || partitionCount > PARTITIONS_MAX) {
      const text = `Number of partitions must be from 1 to ${PARTITIONS_MAX}.`
      throw new ProtocolError(KafkaError.INVALID_PARTITIONS, text)
    }
    if (factor < 1) {
      const text = 'Replication factor must be larger than 0.'
      throw new ProtocolError(KafkaError.INVALID_REPLICATION_FACTOR, text)
    }
    if (factor > 1) {
      const text = `The partition cannot be replicated ${factor} time(s): there is 1 broker.`
      throw new ProtocolError(KafkaError.INVALID_REPLICATION_FACTOR, text)
    }
    return assignReplicas([this.#brokerId], partitionCount, factor, 0)
  }

  #checkAssignment(assignment: number[][]): number[][] {
    const known = (replicas: number[]) => replicas.length === 1 && replicas[0] === this.#brokerId
    if (!assignment.every(known) || assignment.length > PARTITIONS_MAX) {
      const text = `A manual assignment may name broker ${this.#brokerId} only, once per partition.`
      throw new ProtocolError(KafkaError.INVALID_REPLICA_ASSIGNMENT, text)
    }
    return assignment
  }

  *#topicNames() {
    for (const { topic } of this.#replicas.topics()) yield topic
  }

  #newTopicId(): string {
    return this.#env.random.bytes(16).toString('base64url')
  }
}

/**
 * What a client is told where znodes or logs could not be written. Broken assumptions stay what
 * they are.
 */
function storageFault(name: string, error: unknown): unknown {
  if (error instanceof AssertionError || error instanceof ProtocolError) return error
  const text = `Topic '${name}': ${error instanceof Error ? error.message : error}`
  return new ProtocolError(KafkaError.KAFKA_STORAGE_ERROR, text)
}

/** Kafka writes an id into each folder; without one, all partitions must be there. */
function isTopic(found: { topicId: string | undefined; partitions: number; logs: number }) {
  const { topicId, partitions, logs } = found
  return partitions <= PARTITIONS_MAX && (topicId !== undefined || logs === partitions)
}
