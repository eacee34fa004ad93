/**
 * The parts of a broker below its listeners, made in order: configuration, logs, coordination,
 * topics, groups. Each step that is to be taken back when a later one fails is pushed to `undo`.
 */
import assert from 'node:assert'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import type { BrokerOptions } from './broker.js'
import { BrokerConfig } from './config.js'
import { BrokerChanges } from './controller/broker-changes.js'
import { internalTopic, OFFSETS_TOPIC } from './controller/internal-topics.js'
import { ProducerIds } from './controller/producer-ids.js'
import { Topics } from './controller/topics.js'
import { EmbeddedCoordination } from './coordination/embedded.js'
import { GroupCoordinator } from './coordinator/group-coordinator.js'
import { TopicOffsetStore } from './coordinator/topic-store.js'
import { TransactionalIds } from './coordinator/transactional-ids.js'
import { TreeOffsets } from './coordinator/tree-offsets.js'
import { type Env, systemEnv } from './env.js'
import { KafkaError, ProtocolError, SeglogError } from './errors.js'
import type { BrokerContext } from './handlers/context.js'
import { FetchSessions } from './handlers/fetch-sessions.js'
import { type Logger, warningsLogger } from './logger.js'
import { Replicas } from './replication/replicas.js'
import { Turns } from './replication/turns.js'
import { Deadlines } from './replication/waiting.js'
import type { Listener } from './server/listener.js'
import { Metrics } from './server/metrics.js'
import type { RequestMemory } from './server/request-memory.js'
import { LogManager } from './storage/log-manager.js'

export type Undo = (() => Promise<void>)[]

/** The file of the embedded coordination tree in the first log directory. */
const COORDINATION_FILE = 'seglog-coordination.json'

export interface Parts {
  context: BrokerContext
  coordination: EmbeddedCoordination
  logs: LogManager
  listeners: Listener[]
  memory: RequestMemory | undefined
  metrics: Metrics | undefined
  dataDirs: string[]
  temporary: string | undefined
  logger: Logger
}

export async function openParts(options: BrokerOptions, undo: Undo): Promise<Parts> {
  const { env = systemEnv, logger = warningsLogger } = options
  const given = givenConfig(options)
  const temporary = await temporaryDirectory(given, undo)
  const config = BrokerConfig.parse(given, (line) => logger.warn(line))
  const dataDirs = config.get('log.dirs').map((path) => resolve(path))
  const endpoint = { host: config.get('metrics.host'), port: config.get('metrics.port') }
  const metrics = await Metrics.open(endpoint, env, logger)
  undo.push(async () => metrics?.close())
  const logs = await openLogs(config, dataDirs, env, logger, metrics)
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
  const brokerId = config.get('broker.id')
  const groups = openGroups(config, replicas, topics, env, logger)
  undo.push(async () => groups.close())
  const producerIds = new ProducerIds(coordination, brokerId, () => highestProducerId(replicas))
  const sessionsMax = config.get('max.incremental.fetch.session.cache.slots')
  const context: BrokerContext = {
    brokerId,
    clusterId: logs.clusterId,
    config,
    env,
    replicas,
    topics,
    brokerChanges,
    groups,
    treeOffsets: new TreeOffsets(coordination),
    producerIds,
    transactionalIds: new TransactionalIds(() => producerIds.next()),
    fetchSessions: new FetchSessions(env, sessionsMax),
    deadlines: new Deadlines(env),
    turns: new Turns(env),
  }
  const made = { context, coordination, logs, metrics, dataDirs, temporary, logger }
  return { ...made, listeners: [], memory: undefined }
}

/** Where no directory is given, one that goes with the broker. */
async function temporaryDirectory(
  given: Record<string, string>,
  undo: Undo,
): Promise<string | undefined> {
  if ('log.dirs' in given || 'log.dir' in given) return undefined
  const made = await mkdtemp(join(tmpdir(), 'seglog-'))
  undo.push(() => rm(made, { recursive: true, force: true }))
  given['log.dirs'] = made
  return made
}

function openLogs(
  config: BrokerConfig,
  directories: string[],
  env: Env,
  logger: Logger,
  metrics: Metrics | undefined,
): Promise<LogManager> {
  const log = {
    segmentBytes: config.get('log.segment.bytes'),
    indexIntervalBytes: config.get('log.index.interval.bytes'),
    flushMessages: flushMessages(config),
    mapped: true,
    ...(metrics ? { onFlush: (ms: number) => metrics.flushed(ms) } : {}),
  }
  const warn = (line: string) => logger.warn(line)
  const intervals = {
    retentionMs: config.get('log.retention.check.interval.ms'),
    checkpointMs: config.get('log.flush.offset.checkpoint.interval.ms'),
  }
  const cleaner = () => ({
    enable: config.get('log.cleaner.enable'),
    backoffMs: config.get('log.cleaner.backoff.ms'),
    bufferBytes: config.get('log.cleaner.dedupe.buffer.size'),
  })
  const brokerId = config.get('broker.id')
  return LogManager.open({ directories, brokerId, log, intervals, cleaner, warn }, env)
}

function openGroups(
  config: BrokerConfig,
  replicas: Replicas,
  topics: Topics,
  env: Env,
  logger: Logger,
): GroupCoordinator {
  const offsets = new TopicOffsetStore({
    replicas,
    env,
    makeTopic: () => makeOffsetsTopic(topics, config),
    warn: (line) => logger.warn(line),
  })
  const groups = new GroupCoordinator(env, config, offsets)
  // Clients of groups are told to wait meanwhile, the others are served.
  void groups.load(offsets)
  return groups
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
