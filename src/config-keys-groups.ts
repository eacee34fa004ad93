/**
 * Kafka's keys of the newer protocols of groups (consumer, share, streams), of the coordinators of
 * groups and shares, and of transactions. Groups are classic ones here and there are no
 * transactions yet, so that none has an effect.
 */
import { boolean, choice, inert, int, type Key, list, short, string } from './config-types.js'

/** What consumer, share and streams groups have alike. */
function common(kind: string, sizeMax: number, sizeDefault: number): Record<string, Key<unknown>> {
  const of = (name: string) => `group.${kind}.${name}`
  return {
    [of('heartbeat.interval.ms')]: int(5000, 'Time between two heartbeats.', { min: 1 }),
    [of('min.heartbeat.interval.ms')]: int(5000, 'The shortest that a group may set.', { min: 1 }),
    [of('max.heartbeat.interval.ms')]: int(15_000, 'The longest.', { min: 1 }),
    [of('session.timeout.ms')]: int(45_000, 'Silence after which a member is out.', { min: 1 }),
    [of('min.session.timeout.ms')]: int(45_000, 'The shortest that a group may set.', { min: 1 }),
    [of('max.session.timeout.ms')]: int(60_000, 'The longest.', { min: 1 }),
    [of('min.assignment.interval.ms')]: int(0, 'The shortest that a group may set.', { min: 0 }),
    [of('max.assignment.interval.ms')]: int(15_000, 'The longest.', { min: 0 }),
    [of('max.size')]: int(sizeDefault, 'Members of one group.', { min: 1, max: sizeMax }),
  }
}

const int32Max = 2_147_483_647

const consumers = inert({
  ...common('consumer', int32Max, int32Max),
  'group.consumer.assignors': list('uniform,range', 'Who assigns, the first by default.'),
  'group.consumer.migration.policy': choice(
    'bidirectional',
    ['disabled', 'downgrade', 'upgrade', 'bidirectional'],
    'Whether a group may change between the classic and the consumer protocol.',
  ),
})

const shares = inert({
  ...common('share', 1000, 200),
  'group.share.assignors': list('simple', 'Who assigns.'),
  'group.share.delivery.count.limit': int(5, 'How often a record is delivered.', {
    min: 2,
    max: 10,
  }),
  'group.share.min.delivery.count.limit': int(2, 'The fewest that a group may set.', {
    min: 2,
    max: 5,
  }),
  'group.share.max.delivery.count.limit': int(10, 'The most.', { min: 5, max: 25 }),
  'group.share.partition.max.record.locks': int(2000, 'Records of a partition in flight.', {
    min: 100,
    max: 10_000,
  }),
  'group.share.min.partition.max.record.locks': int(100, 'The fewest that a group may set.', {
    min: 100,
    max: 2000,
  }),
  'group.share.max.partition.max.record.locks': int(4000, 'The most.', { min: 2000, max: 10_000 }),
  'group.share.record.lock.duration.ms': int(30_000, 'How long a record is held.', {
    min: 1000,
    max: 3_600_000,
  }),
  'group.share.min.record.lock.duration.ms': int(15_000, 'The shortest that a group may set.', {
    min: 1000,
    max: 30_000,
  }),
  'group.share.max.record.lock.duration.ms': int(60_000, 'The longest.', {
    min: 30_000,
    max: 3_600_000,
  }),
  'group.share.max.share.sessions': int(2000, 'Sessions that are remembered.', { min: 1 }),
})

const streams = inert({
  ...common('streams', int32Max, int32Max),
  'group.streams.initial.rebalance.delay.ms': int(3000, 'Wait for more members at first.', {
    min: 0,
  }),
  'group.streams.num.standby.replicas': int(0, 'Copies of the state of a task.', { min: 0 }),
  'group.streams.max.standby.replicas': int(2, 'The most that a group may set.', { min: 0 }),
})

const coordinators = inert({
  'group.coordinator.append.linger.ms': int(-1, 'How long a write waits for others; -1: adapts.', {
    min: -1,
  }),
  'group.coordinator.background.threads': int(2, 'Threads that assign.', { min: 1 }),
  'group.coordinator.rebalance.protocols': list(
    'classic,consumer,streams',
    'Protocols that are served; classic alone is.',
    {
      of: 'consumer, classic, share, streams',
      check: (entry) => ['consumer', 'classic', 'share', 'streams'].includes(entry),
    },
  ),
  'group.coordinator.threads': int(4, 'Threads of the coordinator.', { min: 1 }),
  'offsets.load.buffer.size': int(5_242_880, 'Bytes that are read at once at a start.', { min: 1 }),
  'offsets.topic.compression.codec': int(0, 'The codec of __consumer_offsets.'),
  'share.coordinator.append.linger.ms': int(-1, 'How long a write waits for others; -1: adapts.', {
    min: -1,
  }),
  'share.coordinator.load.buffer.size': int(5_242_880, 'Bytes that are read at once.', { min: 1 }),
  'share.coordinator.snapshot.update.records.per.snapshot': int(500, 'Changes per snapshot.', {
    min: 0,
    max: 500,
  }),
  'share.coordinator.state.topic.compression.codec': int(0, 'The codec of __share_group_state.'),
  'share.coordinator.state.topic.min.isr': short(2, 'Replicas that a write needs.', { min: 1 }),
  'share.coordinator.state.topic.num.partitions': int(50, 'Its partitions.', { min: 1 }),
  'share.coordinator.state.topic.replication.factor': short(3, 'Its replicas.', { min: 1 }),
  'share.coordinator.state.topic.segment.bytes': int(104_857_600, 'Its segment size.', { min: 1 }),
  'share.coordinator.threads': int(1, 'Threads of the coordinator.', { min: 1 }),
  'share.coordinator.write.timeout.ms': int(5000, 'How long a write may take.', { min: 1 }),
  'share.fetch.purgatory.purge.interval.requests': int(1000, 'When waiting fetches are sorted.'),
})

const transactions = inert({
  'add.partitions.to.txn.retry.backoff.max.ms': int(100, 'The longest pause of a retry.', {
    min: 0,
  }),
  'add.partitions.to.txn.retry.backoff.ms': int(20, 'The first pause of a retry.', { min: 1 }),
  'transaction.abort.timed.out.transaction.cleanup.interval.ms': int(
    10_000,
    'How often transactions that take too long are looked for.',
    { min: 1 },
  ),
  'transaction.remove.expired.transaction.cleanup.interval.ms': int(
    3_600_000,
    'How often transactional ids that nobody uses are looked for.',
    { min: 1 },
  ),
  'transaction.state.log.load.buffer.size': int(5_242_880, 'Bytes that are read at once.', {
    min: 1,
  }),
  'transaction.state.log.min.isr': int(2, 'Replicas that a write needs.', { min: 1 }),
  'transaction.state.log.replication.factor': short(3, 'Replicas of __transaction_state.', {
    min: 1,
  }),
  'transaction.state.log.segment.bytes': int(104_857_600, 'Its segment size.', { min: 1 }),
  'transaction.two.phase.commit.enable': boolean(false, 'Whether others may decide (KIP-939).'),
  'transactional.id.expiration.ms': int(604_800_000, 'When an id that nobody uses is forgotten.', {
    min: 1,
  }),
})

const dynamic = inert(
  {
    'group.consumer.assignment.interval.ms': int(1000, 'Pause between assignments.', { min: 0 }),
    'group.share.assignment.interval.ms': int(1000, 'Pause between assignments.', { min: 0 }),
    'group.streams.assignment.interval.ms': int(1000, 'Pause between assignments.', { min: 0 }),
    'group.coordinator.cached.buffer.max.bytes': int(1_048_588, 'Memory kept for writes.', {
      min: 524_288,
    }),
    'share.coordinator.cached.buffer.max.bytes': int(1_048_588, 'Memory kept for writes.', {
      min: 524_288,
    }),
    'transaction.partition.verification.enable': boolean(
      true,
      'Whether a batch must belong to a transaction that is open.',
    ),
  },
  true,
)

export const groupKeys = {
  ...consumers,
  ...shares,
  ...streams,
  ...coordinators,
  ...transactions,
  ...dynamic,
}

/** Keys that the broker has, and that no single group may set. */
const BROKERS_ALONE = /^group\.\w+\.(min|max)\.|\.(assignors|migration\.policy)$/

/** What a group calls a key of the broker; undefined where it has none of that name. */
export function groupKeyOf(brokerKey: string): string | undefined {
  const name = /^group\.((?:consumer|share|streams)\..*)$/.exec(brokerKey)?.[1]
  return name === undefined || BROKERS_ALONE.test(brokerKey) ? undefined : name
}

/** Keys of a group that are no key of the broker behind `group.`. */
export const groupOnlyKeys = inert({
  'share.auto.offset.reset': string('latest', 'Where a share group begins.'),
  'share.isolation.level': choice(
    'read_uncommitted',
    ['read_committed', 'read_uncommitted'],
    'What of transactions it sees.',
  ),
  'share.renew.acknowledge.enable': boolean(true, 'Whether a record can be held for longer.'),
})

/** Keys of a subscription to metrics of clients (KIP-714). */
export const clientMetricsKeys = inert({
  'interval.ms': int(300_000, 'How often a client reports.', { min: 100, max: 3_600_000 }),
  match: list('', 'Which clients report.'),
  metrics: list('', 'Which metrics.'),
})
