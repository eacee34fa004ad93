/**
 * Where seglog answers otherwise and means to, field by field; docs/protocol.md says the same in
 * sentences.
 */
import type { Meant } from './differential-compare.js'

/** One entry for each name, so that one that no longer differs is noticed. */
function each(
  names: readonly (string | number)[],
  pathOf: (name: string) => string,
  rest: Omit<Meant, 'path'>,
): Meant[] {
  return names.map((name) => {
    const pattern = pathOf(String(name).replaceAll('.', '\\.'))
    return { ...rest, path: new RegExp(`^${pattern}(/|$)`) }
  })
}

function numbers(first: number, last: number): number[] {
  return Array.from({ length: last - first + 1 }, (_, i) => first + i)
}

/** Keys of APIs that 4.3.1 has for clients, and seglog does not. */
const leftOut = [
  17,
  ...numbers(24, 31),
  36,
  ...numbers(38, 41),
  ...[50, 51, 55, 57, 64, 65, 66, 68, 69, 74],
  ...numbers(76, 81),
  ...numbers(83, 92),
]
/** Those of which seglog has versions that 4.3.1 has dropped. */
const older = [1, 2, 8, 9, 19, 20, 23, 32, 34, 35]

const apiVersions = { api: 'ApiVersions', name: 'good' }
const wholeBroker = { api: 'DescribeConfigs', name: 'a whole broker' }
const configs = (key: string) => `/results/1/configs/${key}`

export const meantFor4: readonly Meant[] = [
  ...each(leftOut, (key) => `/apiKeys/${key}`, { ...apiVersions, why: 'they are left out' }),
  ...each(older, (key) => `/apiKeys/${key}/minVersion`, {
    ...apiVersions,
    why: 'clients of before Kafka 2.1 are served',
  }),
  ...each(
    ['supportedFeatures', 'finalizedFeatures', 'finalizedFeaturesEpoch'],
    (field) => `/${field}`,
    { ...apiVersions, why: 'each feature promises a part that there is none of' },
  ),
  ...each(['listeners', 'advertised.listeners', 'log.dir', 'log.dirs', 'broker.id'], configs, {
    ...wholeBroker,
    why: 'the places of the two, and their defaults',
  }),
  ...each(['process.roles', 'controller.listener.names', 'controller.quorum.voters'], configs, {
    ...wholeBroker,
    why: 'there are no controllers',
  }),
  ...each(
    [
      'group.initial.rebalance.delay.ms',
      'offsets.topic.replication.factor',
      'queued.max.request.bytes',
    ],
    configs,
    { ...wholeBroker, why: 'other defaults' },
  ),
  ...each(['listener.security.protocol.map'], configs, {
    ...wholeBroker,
    why: 'listeners do not change while the broker runs',
  }),
  ...each(['zookeeper.connect', 'zookeeper.session.timeout.ms'], configs, {
    ...wholeBroker,
    why: 'Kafka 4 knows no ZooKeeper',
  }),
  ...each(['log.format', 'log.level', 'metrics.host', 'metrics.port'], configs, {
    ...wholeBroker,
    why: "the broker's own log and metrics",
  }),
  {
    api: 'DescribeConfigs',
    path: /\/configs\/min\.insync\.replicas\//,
    why: 'KRaft sets it for the whole cluster',
  },
  {
    api: 'CreateTopics',
    path: /\/configs\/min\.insync\.replicas\/configSource$/,
    why: 'KRaft sets it for the whole cluster',
  },
  {
    api: 'AlterClientQuotas',
    name: 'good',
    path: /^\/entries\/0\/errorCode$/,
    why: 'quotas are not enforced',
  },
]

/** Of 3.6.2 itself, which 4.3.1 has changed and seglog follows, unless it says otherwise. */
export const meantFor3: readonly Meant[] = [
  {
    api: 'Fetch',
    path: /\/records$/,
    why: 'Kafka fills what it converts up to a size that it has promised, with part of a message',
  },
  {
    api: 'DescribeLogDirs',
    path: /^\/results\/0\/topics\//,
    why: 'it lists topics without the partitions that were not asked for',
  },
  { api: 'DescribeConfigs', path: /\/isDefault$/, why: 'it calls no value a default' },
  ...each(
    [
      'compression.gzip.level',
      'compression.lz4.level',
      'compression.zstd.level',
      'remote.log.copy.disable',
      'remote.log.delete.on.disable',
      'message.downconversion.enable',
      'message.format.version',
      'message.timestamp.difference.max.ms',
      'message.timestamp.after.max.ms',
    ],
    (key) => `/results/df-compact/configs/${key}`,
    { api: 'DescribeConfigs', name: 'a whole topic', why: '4.3.1 has other keys and defaults' },
  ),
  {
    api: 'CreateTopics',
    name: 'twice',
    path: /^\/topics\/df-new-\d+ \(2\)$/,
    why: 'a topic that is named twice is refused once',
  },
  {
    api: 'CreateTopics',
    name: 'an unknown broker',
    path: /\/errorCode$/,
    why: 'it makes the topic and waits for a broker that does not come',
  },
]
