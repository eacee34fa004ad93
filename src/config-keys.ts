/**
 * Every configuration key that a broker and a topic know, in one table: Kafka's names, types,
 * defaults and ranges. docs/configuration.md is made from it, and the types of `BrokerConfig.get`
 * follow it. Where a default differs from Kafka's, the text says so.
 */
import {
  boolean,
  choice,
  double,
  int,
  type Key,
  list,
  long,
  never,
  short,
  string,
} from './config-types.js'

const notYet = { effect: 'not yet' } as const
const none = { effect: 'none' } as const
const hours = 3_600_000
const days = 24 * hours

export const brokerKeys = {
  // This broker
  'broker.id': int(0, 'The id of this broker, unique in the cluster.', {
    min: 0,
    aliases: [{ name: 'node.id' }],
  }),
  listeners: list(
    'PLAINTEXT://127.0.0.1:9092',
    'Where the broker listens. Port 0 takes a free one, no host is every address, as in Kafka.',
    { of: 'NAME://host:port', empty: false, check: isListener },
  ),
  'advertised.listeners': list(
    '',
    'What clients are told to connect to, by name of listener. Empty: the listeners themselves.',
    { of: 'NAME://host:port', check: isListener },
  ),
  'listener.security.protocol.map': {
    ...list(
      'SASL_SSL:SASL_SSL,PLAINTEXT:PLAINTEXT,SSL:SSL,SASL_PLAINTEXT:SASL_PLAINTEXT',
      'The security protocol of each listener name. A listener that is opened has PLAINTEXT.',
      { of: 'NAME:PROTOCOL', empty: false, check: isMapped },
    ),
    // Kafka calls it so.
    type: 'string',
  },
  'zookeeper.connect': string(
    '',
    'host:port,host:port/chroot of ZooKeeper. Empty: coordination is embedded, one broker alone.',
    notYet,
  ),
  'zookeeper.session.timeout.ms': int(18_000, 'Silence after which ZooKeeper gives us up, ms.', {
    min: 1,
    ...notYet,
  }),

  // For operators. Kafka has JMX and log4j instead.
  'metrics.port': int(
    -1,
    'Port of /metrics (Prometheus), /health and /ready; 0 takes a free one, -1: none of them.',
    { min: -1, max: 65_535 },
  ),
  'metrics.host': string('127.0.0.1', 'The address of that port.'),
  'log.level': choice(
    'info',
    ['info', 'warn', 'error', 'off'],
    'What `seglog broker` writes to stderr at least.',
  ),
  'log.format': choice('logfmt', ['logfmt', 'json'], 'The form of those lines.'),

  // Connections and requests
  'socket.request.max.bytes': int(104_857_600, 'The largest request that is read.', { min: 1 }),
  'socket.send.buffer.bytes': int(102_400, 'Send buffer of a socket; -1: as the system has it.', {
    min: -1,
    ...none,
  }),
  'socket.receive.buffer.bytes': int(102_400, 'Receive buffer of a socket.', { min: -1, ...none }),
  'socket.listen.backlog.size': int(50, 'Connections that wait to be accepted.', {
    min: 1,
    ...none,
  }),
  'connections.max.idle.ms': long(
    600_000,
    'A connection without a request for so long is closed; -1: never.',
    { min: -1 },
  ),
  'queued.max.request.bytes': long(
    268_435_456,
    'Bytes of requests that all connections hold together before they are read one by one; ' +
      '-1: no bound. Kafka has none.',
    { min: -1 },
  ),
  'max.connections': int(2_147_483_647, 'Connections at one time.', { min: 0 }),
  'max.connections.per.ip': int(2_147_483_647, 'Connections from one address at one time.', {
    min: 0,
  }),
  'fetch.max.bytes': int(57_671_680, 'The most that one fetch is answered with.', { min: 1024 }),
  'message.max.bytes': int(1_048_588, 'The largest record batch that is accepted.', { min: 0 }),
  'max.incremental.fetch.session.cache.slots': int(1000, 'Fetch sessions that are remembered.', {
    min: 0,
  }),
  'queued.max.requests': int(500, 'Requests that wait for a thread.', { min: 1, ...none }),
  'num.network.threads': int(3, 'One event loop serves the network.', { min: 1, ...none }),
  'num.io.threads': int(8, 'One event loop handles requests.', { min: 1, ...none }),
  'background.threads': int(10, 'Background work runs on the event loop.', { min: 1, ...none }),
  'num.recovery.threads.per.data.dir': int(2, "Recovery runs in Node's pool of threads.", {
    min: 1,
    ...none,
  }),

  // Topics
  'num.partitions': int(1, 'Partitions of a topic that is created without a number.', { min: 1 }),
  'default.replication.factor': int(1, 'Replicas of a topic that is created without a number.', {
    min: 1,
    max: 32_767,
  }),
  'auto.create.topics.enable': boolean(true, 'Whether a topic is created when first asked for.'),
  'delete.topic.enable': boolean(true, 'Whether topics can be deleted.'),
  'min.insync.replicas': int(1, 'Replicas that acks=all needs in sync.', { min: 1, ...notYet }),
  'unclean.leader.election.enable': boolean(
    false,
    'Whether a replica out of sync may lead when no other is left.',
    notYet,
  ),

  // Logs
  'log.dirs': list('./data', 'Directories of the logs. Kafka has /tmp/kafka-logs.', {
    of: 'paths',
    empty: false,
    aliases: [{ name: 'log.dir', defaultText: './data' }],
    isUnset: true,
  }),
  'log.segment.bytes': int(1_073_741_824, 'The size at which a new segment begins.', { min: 14 }),
  'log.roll.ms': long(7 * days, 'The age at which a new segment begins.', {
    min: 1,
    aliases: [{ name: 'log.roll.hours', factor: hours, defaultText: '168' }],
    isUnset: true,
  }),
  'log.roll.jitter.ms': long(0, 'At most so much is taken off log.roll.ms at random.', {
    min: 0,
    aliases: [{ name: 'log.roll.jitter.hours', factor: hours, defaultText: '0' }],
    isUnset: true,
  }),
  'log.index.interval.bytes': int(4096, 'Bytes of log between two entries of an index.', {
    min: 0,
  }),
  'log.index.size.max.bytes': int(10_485_760, 'The largest index; a full one begins a segment.', {
    min: 4,
  }),
  'log.preallocate': boolean(false, 'Space is always reserved ahead in steps.', none),
  'log.flush.interval.messages': long(never, 'Records after which a log is synced to disk.', {
    min: 1,
  }),
  'log.flush.interval.ms': long(never, 'The longest time that a record waits to be synced.', {
    min: 0,
    isUnset: true,
  }),
  'log.flush.scheduler.interval.ms': long(never, 'How often logs are looked at for a sync.', {
    min: 0,
    ...notYet,
  }),
  'log.flush.offset.checkpoint.interval.ms': int(
    60_000,
    'How often recovery points, start offsets and high watermarks are written.',
    { min: 0 },
  ),
  'log.flush.start.offset.checkpoint.interval.ms': int(
    60_000,
    'How often the start offsets are written.',
    { min: 0, ...notYet },
  ),
  'replica.high.watermark.checkpoint.interval.ms': long(
    5000,
    'How often the high watermarks are written.',
    { min: 1, ...notYet },
  ),
  'log.retention.ms': long(7 * days, 'The age at which a segment is deleted; -1: never.', {
    min: -1,
    aliases: [
      { name: 'log.retention.minutes', factor: 60_000, defaultText: null },
      { name: 'log.retention.hours', factor: hours, defaultText: '168' },
    ],
    isUnset: true,
  }),
  'log.retention.bytes': long(-1, 'The size above which old segments are deleted; -1: none.', {
    min: -1,
  }),
  'log.retention.check.interval.ms': long(300_000, 'How often that is looked for.', {
    min: 1,
  }),
  'log.segment.delete.delay.ms': long(60_000, 'Time until a deleted segment leaves the disk.', {
    min: 0,
  }),
  'log.cleanup.policy': list(
    'delete',
    '`delete`: old segments go; `compact`: the last record of each key stays; or both.',
    {
      of: 'delete, compact',
      check: (entry) => entry === 'delete' || entry === 'compact',
    },
  ),
  'log.message.timestamp.type': choice(
    'CreateTime',
    ['CreateTime', 'LogAppendTime'],
    'Whether records keep the time of their producer or get that of the append.',
  ),
  'log.message.timestamp.before.max.ms': long(never, 'How old a record may be.', {
    min: 0,
  }),
  'log.message.timestamp.after.max.ms': long(hours, 'How far ahead of the clock a record may be.', {
    min: 0,
  }),
  'compression.type': choice(
    'producer',
    ['uncompressed', 'zstd', 'lz4', 'snappy', 'gzip', 'producer'],
    'How batches are stored; `producer` keeps them as they came.',
    notYet,
  ),
  'log.cleaner.enable': boolean(true, 'Whether logs are compacted.'),
  'log.cleaner.threads': int(1, 'One log is compacted at a time.', { min: 0, ...none }),
  'log.cleaner.dedupe.buffer.size': long(
    134_217_728,
    'The most memory for the keys of a compaction, 24 bytes each.',
    { min: 1 },
  ),
  'log.cleaner.backoff.ms': long(15_000, 'Pause when there is nothing to compact.', {
    min: 0,
  }),
  'log.cleaner.min.cleanable.ratio': double(
    0.5,
    'A log is compacted when a larger share of its sealed bytes is new.',
    {},
  ),
  'log.cleaner.min.compaction.lag.ms': long(0, 'How long a record is left alone.', {
    min: 0,
  }),
  'log.cleaner.max.compaction.lag.ms': long(never, 'How long a record may go uncompacted.', {
    min: 1,
  }),
  'log.cleaner.delete.retention.ms': long(
    days,
    'How long a tombstone stays after the first compaction that comes by it.',
    { min: 0 },
  ),
  'producer.id.expiration.ms': int(
    86_400_000,
    'An idempotent producer that was silent for so long is forgotten.',
    { min: 1, ...notYet },
  ),

  'transaction.max.timeout.ms': int(900_000, 'The longest timeout of a transactional id.', {
    min: 1,
  }),
  'transaction.state.log.num.partitions': int(50, 'Partitions of __transaction_state.', {
    min: 1,
  }),

  // Consumer groups
  'group.initial.rebalance.delay.ms': int(
    0,
    'How long an empty group waits for more members before its first assignment. Kafka waits 3000.',
    { min: 0 },
  ),
  'group.min.session.timeout.ms': int(6000, 'The shortest session that a member may ask for.', {
    min: 0,
  }),
  'group.max.session.timeout.ms': int(1_800_000, 'The longest session.', { min: 0 }),
  'group.max.size': int(2_147_483_647, 'Members of one group.', { min: 1 }),
  'offset.metadata.max.bytes': int(4096, 'The longest text beside a committed offset.', { min: 0 }),
  'offsets.retention.minutes': int(
    10_080,
    'How long the offsets of a group stay that has no members.',
    { min: 1 },
  ),
  'offsets.retention.check.interval.ms': long(600_000, 'How often that is looked for.', { min: 1 }),
  'offsets.topic.num.partitions': int(50, 'Partitions of __consumer_offsets.', { min: 1 }),
  'offsets.topic.replication.factor': short(
    1,
    'Replicas of __consumer_offsets. Kafka has 3, which one broker alone cannot have.',
    { min: 1, max: 32_767 },
  ),
  'offsets.topic.segment.bytes': int(104_857_600, 'Segment size of __consumer_offsets.', {
    min: 1,
  }),
  'offsets.commit.timeout.ms': int(5000, 'How long a commit waits for the replicas.', {
    min: 1,
    ...notYet,
  }),

  // Replication
  'replica.lag.time.max.ms': long(30_000, 'A follower that lags for so long leaves the ISR.', {
    min: 1,
    ...notYet,
  }),
  'replica.fetch.max.bytes': int(1_048_576, 'The most that a follower asks of a partition.', {
    min: 0,
    ...notYet,
  }),
  'replica.fetch.wait.max.ms': int(500, 'How long the fetch of a follower waits.', {
    min: 0,
    ...notYet,
  }),
  'controlled.shutdown.enable': boolean(true, 'Whether leaders move before a stop.', notYet),
  'num.replica.fetchers': int(1, 'Fetch loops for each leader.', { min: 1, ...none }),
} as const satisfies Record<string, Key<unknown>>

/** The keys of a topic, and the broker's key that gives type, range and default. */
export const topicKeys = {
  'cleanup.policy': 'log.cleanup.policy',
  'compression.type': 'compression.type',
  'delete.retention.ms': 'log.cleaner.delete.retention.ms',
  'file.delete.delay.ms': 'log.segment.delete.delay.ms',
  'flush.messages': 'log.flush.interval.messages',
  'flush.ms': 'log.flush.interval.ms',
  'index.interval.bytes': 'log.index.interval.bytes',
  'max.compaction.lag.ms': 'log.cleaner.max.compaction.lag.ms',
  'max.message.bytes': 'message.max.bytes',
  'message.timestamp.after.max.ms': 'log.message.timestamp.after.max.ms',
  'message.timestamp.before.max.ms': 'log.message.timestamp.before.max.ms',
  'message.timestamp.type': 'log.message.timestamp.type',
  'min.cleanable.dirty.ratio': 'log.cleaner.min.cleanable.ratio',
  'min.compaction.lag.ms': 'log.cleaner.min.compaction.lag.ms',
  'min.insync.replicas': 'min.insync.replicas',
  preallocate: 'log.preallocate',
  'retention.bytes': 'log.retention.bytes',
  'retention.ms': 'log.retention.ms',
  'segment.bytes': 'log.segment.bytes',
  'segment.index.bytes': 'log.index.size.max.bytes',
  'segment.jitter.ms': 'log.roll.jitter.ms',
  'segment.ms': 'log.roll.ms',
  'unclean.leader.election.enable': 'unclean.leader.election.enable',
} as const satisfies Record<string, keyof typeof brokerKeys>

export interface Endpoint {
  /** The listener's name, which is its security protocol too unless the map says otherwise. */
  name: string
  /** Empty: every address. IPv6 without brackets. */
  host: string
  port: number
}

/** Reads NAME://host:port, with IPv6 in brackets; undefined where it is not one. */
export function parseEndpoint(text: string): Endpoint | undefined {
  const [, name, v6, host, port] =
    /^(\w+):\/\/(?:\[([\da-fA-F:.]+)\]|([^\s:[\]/,]*)):(\d{1,5})$/.exec(text) ?? []
  if (name === undefined || Number(port) > 65_535) return undefined
  return { name: name.toUpperCase(), host: v6 ?? host ?? '', port: Number(port) }
}

function isMapped(entry: string): boolean {
  return /^\w+:(PLAINTEXT|SSL|SASL_PLAINTEXT|SASL_SSL)$/.test(entry)
}

function isListener(text: string): boolean {
  return parseEndpoint(text) !== undefined
}
