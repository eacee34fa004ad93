/**
 * The brokers of a cluster as a client sees them: a connection to each that is needed, and a
 * picture of topics and leaders that is asked for when it is wanted and kept until it is old or
 * proves wrong.
 *
 * Connections are made when first used, one per broker, and again after they ended. Whoever asks
 * for metadata while it is being fetched gets the same answer. Nothing is retried here but the
 * choice among the bootstrap addresses: `retrying` of retry.ts does that for whole operations.
 */
import { findCoordinator } from '../apis/find-coordinator.js'
import { metadata as metadataApi } from '../apis/metadata.js'
import { type Env, systemEnv } from '../env.js'
import { KafkaError, SeglogError } from '../errors.js'
import type { Api } from '../protocol/schema.js'
import {
  type Address,
  Connection,
  type ConnectionOptions,
  type RequestOptions,
} from './connection.js'
import { BrokerError, checkCode } from './errors.js'
import { Metadata, type TopicMetadata } from './metadata.js'

export interface ClusterOptions {
  /** Any brokers of the cluster; the first that answers tells of the others. */
  bootstrap: readonly Address[]
  clientId?: string
  env?: Env
  /** ms, default 10,000. */
  connectTimeoutMs?: number
  /** `request.timeout.ms`, default 30,000. */
  requestTimeoutMs?: number
  /** `metadata.max.age.ms`, default 300,000. */
  metadataMaxAgeMs?: number
  /** Bytes, default 128 MiB. */
  maxResponseBytes?: number
}

interface Entry<T> {
  readonly value: T
  readonly atMs: number
}

export class Cluster {
  readonly env: Env
  readonly #bootstrap: readonly Address[]
  readonly #connectionOptions: ConnectionOptions
  readonly #metadataMaxAgeMs: number
  /** By node id, or by address for the bootstrap ones. */
  readonly #connections = new Map<string, Promise<Connection>>()
  readonly #brokers = new Map<number, Address>()
  readonly #topics = new Map<string, Entry<TopicMetadata>>()
  readonly #fetching = new Map<string, Promise<Metadata>>()
  readonly #coordinators = new Map<string, number>()
  #closed = false

  constructor(options: ClusterOptions) {
    if (options.bootstrap.length === 0) {
      throw new SeglogError('BAD_ARGUMENT', 'bootstrap: at least one address is needed')
    }
    this.env = options.env ?? systemEnv
    this.#bootstrap = options.bootstrap
    this.#metadataMaxAgeMs = options.metadataMaxAgeMs ?? 300_000
    this.#connectionOptions = {
      env: this.env,
      clientId: options.clientId ?? 'seglog',
      connectTimeoutMs: options.connectTimeoutMs ?? 10_000,
      requestTimeoutMs: options.requestTimeoutMs ?? 30_000,
      maxResponseBytes: options.maxResponseBytes ?? 128 * 1024 * 1024,
    }
  }

  /**
   * Asks for topics by name, or for all of them by null, and keeps the answer. An error of a single
   * topic stands in its `errorCode`.
   */
  metadata(names: readonly string[] | null, { create = false } = {}): Promise<Metadata> {
    const key = `${create}:${names === null ? '*' : JSON.stringify(names)}`
    const known = this.#fetching.get(key)
    if (known) return known
    const fetching = this.#fetchMetadata(names, create).finally(() => this.#fetching.delete(key))
    this.#fetching.set(key, fetching)
    return fetching
  }

  /** A topic from the picture, or asked for. Rejects with BROKER_ERROR where it has an error. */
  async topic(name: string, { create = false } = {}): Promise<TopicMetadata> {
    const kept = this.#topics.get(name)
    if (kept && this.env.monotonic() - kept.atMs < this.#metadataMaxAgeMs) return kept.value
    const topic = (await this.metadata([name], { create })).topic(name)
    if (!topic) throw new BrokerError(KafkaError.UNKNOWN_TOPIC_OR_PARTITION, `topic ${name}`)
    checkCode(topic.errorCode, `topic ${name}`)
    return topic
  }

  /** The node id of a partition's leader. Rejects with BROKER_ERROR where it has none. */
  async leaderOf(topic: string, partition: number): Promise<number> {
    const { partitions } = await this.topic(topic)
    const what = `partition ${partition} of ${topic}`
    const found = partitions.find(({ index }) => index === partition)
    if (!found) throw new BrokerError(KafkaError.UNKNOWN_TOPIC_OR_PARTITION, what)
    if (found.leaderId < 0) {
      this.forgetTopic(topic)
      throw new BrokerError(KafkaError.LEADER_NOT_AVAILABLE, what)
    }
    return found.leaderId
  }

  /** What was known of a topic proved wrong; the next who asks gets it anew. */
  forgetTopic(name: string): void {
    this.#topics.delete(name)
  }

  /** The node id of the broker that looks after a group. Kept until `forgetCoordinator`. */
  async coordinatorOf(group: string): Promise<number> {
    const known = this.#coordinators.get(group)
    if (known !== undefined) return known
    const connection = await this.any()
    const what = `coordinator of group ${group}`
    const body = { key: group, keyType: 0, coordinatorKeys: [group] }
    const response = await connection.request(findCoordinator, body)
    const found = response.coordinators[0] ?? response
    checkCode(found.errorCode, what, found.errorMessage)
    this.#brokers.set(found.nodeId, { host: found.host, port: found.port })
    this.#coordinators.set(group, found.nodeId)
    return found.nodeId
  }

  forgetCoordinator(group: string): void {
    this.#coordinators.delete(group)
  }

  /** Sends a request to a broker by its id; see `Connection.request`. */
  async request<Q, QI, S, SI>(
    nodeId: number,
    api: Api<Q, QI, S, SI>,
    body: QI,
    options?: RequestOptions,
  ): Promise<S> {
    return (await this.connection(nodeId)).request(api, body, options)
  }

  /** The connection to a broker, made where there is none. */
  async connection(nodeId: number): Promise<Connection> {
    if (!this.#brokers.has(nodeId)) await this.metadata([])
    const address = this.#brokers.get(nodeId)
    if (!address) {
      throw new BrokerError(KafkaError.BROKER_NOT_AVAILABLE, `broker ${nodeId}`)
    }
    return this.#connect(String(nodeId), address)
  }

  /** A connection to any broker: to the one that answered last, else to the first that does. */
  async any(): Promise<Connection> {
    for (const made of [...this.#connections.values()]) {
      const connection = await made.catch(() => undefined)
      if (connection && !connection.closed) return connection
    }
    let failed: unknown
    for (const address of [...this.#bootstrap, ...this.#brokers.values()]) {
      try {
        return await this.#connect(`${address.host}:${address.port}`, address)
      } catch (error) {
        failed ??= error
      }
    }
    throw failed
  }

  /** Ends all connections; what waits is rejected with DISCONNECTED. */
  async close(): Promise<void> {
    this.#closed = true
    const made = [...this.#connections.values()]
    this.#connections.clear()
    const connections = await Promise.allSettled(made)
    for (const each of connections) if (each.status === 'fulfilled') await each.value.finish()
  }

  #connect(key: string, address: Address): Promise<Connection> {
    if (this.#closed) {
      return Promise.reject(new SeglogError('CLOSED', 'the client was closed'))
    }
    const known = this.#connections.get(key)
    if (known) return known
    const forget = () => {
      if (this.#connections.get(key) === opening) this.#connections.delete(key)
    }
    const opening = Connection.open(address, this.#connectionOptions)
    this.#connections.set(key, opening)
    opening.then((connection) => connection.onClose(forget), forget)
    return opening
  }

  async #fetchMetadata(names: readonly string[] | null, create: boolean): Promise<Metadata> {
    const connection = await this.any()
    // Version 0 knows no null and means all by an empty list; no broker speaks it alone.
    const topics = names === null ? null : names.map((name) => ({ name }))
    const response = await connection.request(metadataApi, {
      topics,
      allowAutoTopicCreation: create,
    })
    const metadata = new Metadata(response)
    const atMs = this.env.monotonic()
    for (const { id, host, port } of metadata.brokers) this.#brokers.set(id, { host, port })
    for (const topic of metadata.topics) {
      if (topic.errorCode === 0) this.#topics.set(topic.name, { value: topic, atMs })
      else this.#topics.delete(topic.name)
    }
    return metadata
  }
}
