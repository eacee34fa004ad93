/**
 * A broker: wires the layers, starts them in order, and stops them in the reverse one.
 *
 * `start` resolves when clients can be served: directories locked and recovered, topics loaded,
 * listeners open. It leaves nothing behind when it rejects. `close` finishes the requests under
 * way, closes every log in order, and frees all descriptors, mappings, threads and timers.
 */
import assert from 'node:assert'
import { mkdtemp, rm } from 'node:fs/promises'
import { hostname, tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { BrokerConfig } from './config.js'
import { BrokerChanges } from './controller/broker-changes.js'
import { internalTopic, OFFSETS_TOPIC } from './controller/internal-topics.js'
import { ProducerIds } from './controller/producer-ids.js'
import { Topics } from './controller/topics.js'
import { EmbeddedCoordination } from './coordination/embedded.js'
import { brokerZNode } from './coordination/znodes.js'
import { GroupCoordinator } from './coordinator/group-coordinator.js'
import { TopicOffsetStore } from './coordinator/topic-store.js'
import { TransactionalIds } from './coordinator/transactional-ids.js'
import { type Env, systemEnv } from './env.js'
import { KafkaError, ProtocolError, SeglogError } from './errors.js'
import type { BrokerContext, Endpoint } from './handlers/context.js'
import { handlers } from './handlers/registry.js'
import { type Logger, warningsLogger } from './logger.js'
import { Replicas } from './replication/replicas.js'
import { Turns } from './replication/turns.js'
import { Deadlines } from './replication/waiting.js'
import { dispatcher } from './server/dispatch.js'
import { ConnectionQuota, Listener } from './server/listener.js'
import { RequestMemory } from './server/request-memory.js'
import { LogManager } from './storage/log-manager.js'

export interface BrokerOptions {
  /** Port on 127.0.0.1; 0 takes a free one. Left out: `listeners` of `config`. */
  port?: number
  /**
   * Where the data lies (`log.dirs`). Left out of both: a temporary directory that `close` removes.
   */
  dataDir?: string
  /** Kafka's configuration keys. */
  config?: Readonly<Record<string, string | number | boolean>>
  /** Left out: warnings and errors go to stderr. */
  logger?: Logger
  env?: Env
}

/** The file of the embedded coordination tree in the first log directory. */
const COORDINATION_FILE = 'seglog-coordination.json'

export class Broker {
  /** The port of the first listener. */
  readonly port: number
  /** host:port, as clients take it. */
  readonly bootstrap: string
  readonly brokerId: number
  readonly clusterId: string
  /** Absolute paths of the log directories. */
  readonly dataDirs: readonly string[]
  readonly coordination: string
  readonly #parts: Parts
  #closing: Promise<void> | undefined

  private constructor(parts: Parts, endpoint: Endpoint) {
    this.#parts = parts
    this.port = endpoint.port
    this.bootstrap = `${endpoint.host}:${endpoint.port}`
    this.brokerId = parts.context.brokerId
    this.clusterId = parts.context.clusterId
    this.dataDirs = parts.dataDirs
    this.coordination = parts.coordination.kind
  }

  /**
   * Starts a broker in this process. Rejects with INVALID_CONFIG, LOCKED (directory in use),
   * CORRUPT (meta.properties, coordination), ADDRESS_IN_USE, or an error of the disk.
   */
  static async start(options: BrokerOptions = {}): Promise<Broker> {
    const undo: (() => Promise<void>)[] = []
    try {
      return await start(options, undo)
    } catch (error) {
      for (const step of undo.reverse()) await step().catch(() => {})
      throw error
    }

    async function start(options: BrokerOptions, undo: (() => Promise<void>)[]): Promise<Broker> {
      const parts = await openParts(options, undo)
      const endpoints = await listen(parts, undo)
      return new Broker(parts, endpoints[0]!)
    }
  }

  /**
   * Stops in order; later calls get the same promise. Rejects where a log could not be closed
   * cleanly.
   */
  close(): Promise<void> {
    this.#closing ??= closeParts(this.#parts)
    return this.#closing
  }
}

interface Parts {
  context: BrokerContext
  coordination: EmbeddedCoordination
  logs: LogManager
  listeners: Listener[]
  memory: RequestMemory | undefined
  dataDirs: string[]
  temporary: string | undefined
  logger: Logger
}

/** Requests under way get this long to finish when the broker stops, ms. */
const DRAIN_MS = 3000

async function openParts(options: BrokerOptions, undo: (() => Promise<void>)[]): Promise<Parts> {
  const { env = systemEnv, logger = warningsLogger } = options
  const given = givenConfig(options)
  let temporary: string | undefined
  if (!('log.dirs' in given) && !('log.dir' in given)) {
    temporary = await mkdtemp(join(tmpdir(), 'seglog-'))
    const made = temporary
    undo.push(() => rm(made, { recursive: true, force: true }))
    given['log.dirs'] = temporary
  }
  const config = BrokerConfig.parse(given, (line) => logger.warn(line))
  const brokerId = config.get('broker.id')
  const dataDirs = config.get('log.dirs').map((path) => resolve(path))
  const logs = await LogManager.open(
    {
      directories: dataDirs,
      brokerId,
      log: {
        segmentBytes: config.get('log.segment.bytes'),
        indexIntervalBytes: config.get('log.index.interval.bytes'),
        flushMessages: flushMessages(config),
        mapped: true,
      },
      warn: (line) => logger.warn(line),
    },
    env,
  )
  undo.push(() => logs.abandon())
  const coordinationFile = join(dataDirs[0]!, COORDINATION_FILE)
  const coordination = await EmbeddedCoordination.open(coordinationFile)
  const replicas = new Replicas(logs)
  const topics = new Topics(coordination, replicas, env, config)
  const brokerChanges = new BrokerChanges(coordination, config, replicas)
  const loaded = brokerChanges.load().then(() => topics.load(logs.topics()))
  await loaded.catch((error) => {
    throw error instanceof SeglogError && error.code === 'CORRUPT'
      ? new SeglogError('CORRUPT', `${coordinationFile}: ${error.message}`, { cause: error })
      : error
  })
  const offsets = new TopicOffsetStore({
    replicas,
    env,
    makeTopic: () => makeOffsetsTopic(topics, config),
    warn: (line) => logger.warn(line),
  })
  const groups = new GroupCoordinator(env, config, offsets)
  undo.push(async () => groups.close())
  // Clients of groups are told to wait meanwhile, the others are served.
  void groups.load(offsets)
  const producerIds = new ProducerIds(coordination, brokerId, () => highestProducerId(replicas))
  const context: BrokerContext = {
    brokerId,
    clusterId: logs.clusterId,
    config,
    env,
    replicas,
    topics,
    brokerChanges,
    groups,
    producerIds,
    transactionalIds: new TransactionalIds(() => producerIds.next()),
    deadlines: new Deadlines(env),
    turns: new Turns(env),
  }
  return {
    context,
    coordination,
    logs,
    listeners: [],
    memory: undefined,
    dataDirs,
    temporary,
    logger,
  }
}

function highestProducerId(replicas: Replicas): number {
  let highest = -1
  for (const { partitions } of replicas.topics()) {
    for (const partition of partitions) {
      for (const { producerId } of partition?.log.producers.entries() ?? []) {
        highest = Math.max(highest, producerId)
      }
    }
  }
  return highest
}

async function makeOffsetsTopic(topics: Topics, config: BrokerConfig): Promise<void> {
  const wish = internalTopic(OFFSETS_TOPIC, config)
  assert(wish)
  try {
    await topics.create(wish)
  } catch (error) {
    const exists = error instanceof ProtocolError && error.code === KafkaError.TOPIC_ALREADY_EXISTS
    if (!exists) throw error
  }
}

function givenConfig({ config = {}, port, dataDir }: BrokerOptions): Record<string, string> {
  const given: Record<string, string> = {}
  for (const [key, value] of Object.entries(config)) given[key] = String(value)
  if (port !== undefined) given.listeners = `PLAINTEXT://127.0.0.1:${port}`
  if (dataDir !== undefined) given['log.dirs'] = dataDir
  return given
}

/** Kafka's default, 2^63 - 1, means never. */
function flushMessages(config: BrokerConfig): number {
  const messages = config.get('log.flush.interval.messages')
  return messages >= Number.MAX_SAFE_INTEGER ? 0 : messages
}

async function listen(parts: Parts, undo: (() => Promise<void>)[]): Promise<Endpoint[]> {
  const { context, listeners, logger, coordination } = parts
  const { config, env } = context
  const endpoints: Endpoint[] = []
  const quota = new ConnectionQuota(
    config.get('max.connections'),
    config.get('max.connections.per.ip'),
  )
  const memory = new RequestMemory(config.get('queued.max.request.bytes'), env)
  parts.memory = memory
  undo.push(async () => {
    memory.close()
    await Promise.all(listeners.map((listener) => listener.close(0)))
  })
  for (const [i, { host, port }] of config.listeners.entries()) {
    const endpoint = { host: '', port: 0 }
    const listener = await Listener.open(
      {
        host,
        port,
        maxFrameBytes: config.get('socket.request.max.bytes'),
        maxIdleMs: config.get('connections.max.idle.ms'),
        quota,
        memory,
      },
      dispatcher(handlers, context, endpoint),
      env,
      logger,
    )
    listeners.push(listener)
    const advertised = config.advertisedListeners[i]
    endpoint.host = advertised?.host || reachableHost(host)
    endpoint.port = advertised?.port || listener.port
    endpoints.push(endpoint)
  }
  const first = endpoints[0]
  if (!first) throw new SeglogError('INVALID_CONFIG', 'listeners: none given')
  const znode = brokerZNode.encode(first.host, first.port, env.now())
  await coordination.create(brokerZNode.path(context.brokerId), znode, { ephemeral: true })
  return endpoints
}

/** An address that means "any" cannot be connected to; the machine's name can. */
function reachableHost(host: string): string {
  return host === '' || host === '0.0.0.0' || host === '::' ? hostname() : host
}

async function closeParts(parts: Parts): Promise<void> {
  const { context, listeners, coordination, logs, temporary } = parts
  context.groups.close()
  // Whoever is parked gets an answer now, and whoever asks again is not heard any more.
  const drained = Promise.all(listeners.map((listener) => listener.close(DRAIN_MS)))
  context.deadlines.expireAll()
  await Promise.all([drained, context.topics.close()])
  context.deadlines.close()
  parts.memory?.close()
  // One that fails does not keep the others from letting go of what they hold.
  const results = await Promise.allSettled([coordination.close(), logs.close()])
  if (temporary !== undefined) await rm(temporary, { recursive: true, force: true })
  const failed = results.find((result) => result.status === 'rejected')
  if (failed) throw failed.reason
}
