/**
 * Kafka's keys of clusters (KRaft, replication, quotas, metrics, plugins) and of tiered storage.
 * One broker coordinates itself here and keeps its logs on its own disks, so that none has an
 * effect.
 */
import { boolean, className, double, inert, int, list, long, string } from './config-types.js'

const unset = { isUnset: true } as const
const never = 9223372036854775807n

const controllers = inert({
  'process.roles': list('', 'Broker, controller, or both.', {
    of: 'broker, controller',
    check: (entry) => entry === 'broker' || entry === 'controller',
    ...unset,
  }),
  'controller.listener.names': list('', 'Listeners of the controller.', unset),
  'controller.quorum.append.linger.ms': int(25, 'How long a write waits for others.', { min: 0 }),
  'controller.quorum.auto.join.enable': boolean(false, 'Whether a controller joins by itself.'),
  'controller.quorum.bootstrap.servers': list('', 'Where controllers are found.'),
  'controller.quorum.election.backoff.max.ms': int(1000, 'Pause between elections.', { min: 0 }),
  'controller.quorum.election.timeout.ms': int(1000, 'How long one may take.', { min: 0 }),
  'controller.quorum.fetch.max.bytes': int(1_048_576, 'Bytes of one fetch.', { min: 1 }),
  'controller.quorum.fetch.snapshot.max.bytes': int(1_048_576, 'Bytes of one part of a snapshot.', {
    min: 1,
  }),
  'controller.quorum.fetch.timeout.ms': int(2000, 'Silence that begins an election.', { min: 0 }),
  'controller.quorum.request.timeout.ms': int(2000, 'How long a request may take.', { min: 0 }),
  'controller.quorum.retry.backoff.ms': int(20, 'Pause before it is repeated.', { min: 0 }),
  'controller.quorum.voters': list('', 'Controllers that vote.'),
  'controller.socket.timeout.ms': int(30_000, 'How long a request to them may take.'),
  'initial.broker.registration.timeout.ms': int(60_000, 'How long a start may take.'),
  'broker.heartbeat.interval.ms': int(2000, 'Time between two heartbeats of a broker.'),
  'broker.session.timeout.ms': int(9000, 'Silence after which a broker is out.'),
  'metadata.log.dir': string('', 'The directory of the log of metadata.', unset),
  'metadata.log.max.record.bytes.between.snapshots': long(20_971_520, 'Bytes per snapshot.', {
    min: 1,
  }),
  'metadata.log.max.snapshot.interval.ms': long(3_600_000, 'Time between snapshots.', { min: 0 }),
  'metadata.log.segment.bytes': int(1_073_741_824, 'Its segment size.', { min: 8_388_608 }),
  'metadata.log.segment.ms': long(604_800_000, 'The age at which one is closed.'),
  'metadata.max.idle.interval.ms': int(500, 'Time between writes without content.', { min: 0 }),
  'metadata.max.retention.bytes': long(104_857_600, 'Its size at most.'),
  'metadata.max.retention.ms': long(604_800_000, 'Its age at most.'),
})

const replication = inert({
  'auto.leader.rebalance.enable': boolean(true, 'Whether leadership returns by itself.'),
  'leader.imbalance.check.interval.seconds': long(300, 'How often that is looked at.', { min: 1 }),
  'broker.rack': string('', 'Where the broker stands.', unset),
  'early.start.listeners': list('', 'Listeners that are open before the others.', unset),
  'inter.broker.listener.name': string('', 'The listener between brokers.', unset),
  'log.dir.failure.timeout.ms': long(30_000, 'How long a failed disk may go unreported.', {
    min: 1,
  }),
  'num.replica.alter.log.dirs.threads': int(0, 'Threads that move logs between disks.', unset),
  'replica.fetch.backoff.ms': int(1000, 'Pause after a fetch that failed.', { min: 0 }),
  'replica.fetch.min.bytes': int(1, 'The least that a follower waits for.'),
  'replica.fetch.response.max.bytes': int(10_485_760, 'Bytes of its fetch in all.', { min: 0 }),
  'replica.selector.class': string('', 'Which replica a consumer reads from.', unset),
  'replica.socket.receive.buffer.bytes': int(65_536, "Receive buffer of a follower's socket."),
  'replica.socket.timeout.ms': int(30_000, 'How long its request may take.'),
  'request.timeout.ms': int(30_000, 'How long a request to another broker may take.'),
  'socket.connection.setup.timeout.max.ms': long(30_000, 'How long connecting may take at most.'),
  'socket.connection.setup.timeout.ms': long(10_000, 'How long it may take at first.'),
})

const requests = inert({
  'alter.config.policy.class.name': className('', 'Decides on configurations.', unset),
  'create.topic.policy.class.name': className('', 'Decides on topics.', unset),
  'client.quota.callback.class': className('', 'Decides on quotas.', unset),
  'alter.log.dirs.replication.quota.window.num': int(11, 'Windows of that quota.', { min: 1 }),
  'alter.log.dirs.replication.quota.window.size.seconds': int(1, 'How long each is.', { min: 1 }),
  'controller.quota.window.num': int(11, 'Windows of the quota of changes.', { min: 1 }),
  'controller.quota.window.size.seconds': int(1, 'How long each is.', { min: 1 }),
  'quota.window.num': int(11, 'Windows of the quota of clients.', { min: 1 }),
  'quota.window.size.seconds': int(1, 'How long each is.', { min: 1 }),
  'replication.quota.window.num': int(11, 'Windows of the quota of replication.', { min: 1 }),
  'replication.quota.window.size.seconds': int(1, 'How long each is.', { min: 1 }),
  'delete.records.purgatory.purge.interval.requests': int(1, 'When what waits is sorted.'),
  'fetch.purgatory.purge.interval.requests': int(1000, 'When what waits is sorted.'),
  'producer.purgatory.purge.interval.requests': int(1000, 'When what waits is sorted.'),
  'max.request.partition.size.limit': int(2000, 'Partitions that one request describes.', {
    min: 1,
  }),
  'kafka.metrics.polling.interval.secs': int(10, 'How often metrics are read.', { min: 1 }),
  'kafka.metrics.reporters': list('', 'Who gets them.'),
  'metrics.num.samples': int(2, 'Samples of a metric.', { min: 1 }),
  'metrics.recording.level': string('INFO', 'How much is measured.'),
  'metrics.sample.window.ms': long(30_000, 'How long a sample is.', { min: 1 }),
  'telemetry.max.bytes': int(1_048_576, 'Bytes of metrics that a client may send.', { min: 1 }),
})

const changeable = inert(
  {
    'compression.gzip.level': int(-1, 'The level of gzip; -1: as the library has it.', {
      min: -1,
      max: 9,
    }),
    'compression.lz4.level': int(9, 'The level of lz4.', { min: 1, max: 17 }),
    'compression.zstd.level': int(3, 'The level of zstd.', { min: -131_072, max: 22 }),
    'config.providers': list('', 'Where values of the configuration come from.'),
    'cordoned.log.dirs': list('', 'Directories that get no further partitions.'),
    'log.cleaner.io.buffer.load.factor': double(0.9, 'How full a map of keys may be.', {}),
    'log.cleaner.io.buffer.size': int(524_288, 'Buffers of compaction.', { min: 0 }),
    'log.cleaner.io.max.bytes.per.second': {
      ...double(Number.MAX_VALUE, 'Its speed.', { max: Number.MAX_VALUE }),
      defaultText: '1.7976931348623157E308',
    },
    'max.connection.creation.rate': int(2_147_483_647, 'New connections in a second.', { min: 0 }),
    'max.connections.per.ip.overrides': string('', 'Other bounds for single addresses.'),
    'metric.reporters': list('org.apache.kafka.common.metrics.JmxReporter', 'Who gets metrics.'),
  },
  true,
)

const tiers = inert({
  'remote.log.manager.copy.quota.window.num': int(11, 'Windows of the quota of copies.', {
    min: 1,
  }),
  'remote.log.manager.copy.quota.window.size.seconds': int(1, 'How long each is.', { min: 1 }),
  'remote.log.manager.fetch.quota.window.num': int(11, 'Windows of the quota of fetches.', {
    min: 1,
  }),
  'remote.log.manager.fetch.quota.window.size.seconds': int(1, 'How long each is.', { min: 1 }),
  'remote.log.manager.task.interval.ms': long(30_000, 'How often there is something to do.', {
    min: 1,
  }),
  'remote.log.manager.thread.pool.size': int(2, 'Threads.', { min: 1 }),
  'remote.log.metadata.custom.metadata.max.bytes': int(128, 'Bytes of a plugin per segment.', {
    min: 0,
  }),
  'remote.log.metadata.manager.class.name': string(
    'org.apache.kafka.server.log.remote.metadata.storage.TopicBasedRemoteLogMetadataManager',
    'Knows which segments lie where.',
  ),
  'remote.log.metadata.manager.class.path': string('', 'Where it is.', unset),
  'remote.log.metadata.manager.impl.prefix': string('rlmm.config.', 'What its keys begin with.'),
  'remote.log.metadata.manager.listener.name': string('', 'The listener that it uses.', unset),
  'remote.log.reader.max.pending.tasks': int(100, 'Fetches that wait.', { min: 1 }),
  'remote.log.storage.manager.class.name': string('', 'Keeps the segments.', unset),
  'remote.log.storage.manager.class.path': string('', 'Where it is.', unset),
  'remote.log.storage.manager.impl.prefix': string('rsm.config.', 'What its keys begin with.'),
  'remote.log.storage.system.enable': boolean(false, 'Whether logs can be tiered.'),
})

const changeableTiers = inert(
  {
    'follower.fetch.last.tiered.offset.enable': boolean(false, 'Where a new follower begins.'),
    'log.local.retention.bytes': long(-2, 'Size of what stays local; -2: as a whole.', {
      min: -2,
    }),
    'log.local.retention.ms': long(-2, 'Age of what stays local; -2: as a whole.', { min: -2 }),
    'remote.fetch.max.wait.ms': int(500, 'How long a fetch may take.', { min: 1 }),
    'remote.list.offsets.request.timeout.ms': long(30_000, 'And a search.', { min: 1 }),
    'remote.log.index.file.cache.total.size.bytes': long(1_073_741_824, 'Indexes kept here.', {
      min: 1,
    }),
    'remote.log.manager.copier.thread.pool.size': int(10, 'Threads that copy.', { min: 1 }),
    'remote.log.manager.copy.max.bytes.per.second': long(never, 'Their speed.', { min: 1 }),
    'remote.log.manager.expiration.thread.pool.size': int(10, 'Threads that delete.', { min: 1 }),
    'remote.log.manager.fetch.max.bytes.per.second': long(never, 'Speed of fetches.', { min: 1 }),
    'remote.log.manager.follower.thread.pool.size': int(2, 'Threads of followers.', { min: 1 }),
    'remote.log.reader.threads': int(10, 'Threads that fetch.', { min: 1 }),
  },
  true,
)

export const clusterKeys = { ...controllers, ...replication, ...requests, ...changeable }
export const tieredKeys = { ...tiers, ...changeableTiers }
