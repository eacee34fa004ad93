/**
 * The requests of tools that both brokers get: topics, configurations, directories, replicas. What
 * changes a topic has one of its own.
 */
import { ZERO_UUID } from '../../src/protocol/types.js'
import { createTopic, produceBody } from './differential-fixtures.js'
import type { Case } from './differential-requests.js'
import type { Body, Side } from './differential-side.js'

const TOPIC = 2
const BROKER = 4

type Rest = Omit<Case, 'api' | 'name'>

function cases(api: string, table: Readonly<Record<string, Case['body'] | Rest>>): Case[] {
  return Object.entries(table).map(([name, one]) => {
    return typeof one === 'function' ? { api, name, body: one } : { api, name, ...one }
  })
}

const topic = (name: string, change: object = {}) => {
  const counts = { numPartitions: 2, replicationFactor: 1 }
  return { name, ...counts, assignments: [], configs: [], ...change }
}

const creating = (...topics: object[]): Body => ({ topics, timeoutMs: 10_000 })

const creates = cases('CreateTopics', {
  good: (_, n) => creating(topic(`df-new-${n}`, { configs: [retention('1000')] })),
  defaults: {
    from: 4,
    body: (_, n) => creating(topic(`df-new-${n}`, { numPartitions: -1, replicationFactor: -1 })),
  },
  'there already': () => creating(topic('df-plain')),
  'no such name': () => creating(topic('a/b')),
  'no partitions': (_, n) => creating(topic(`df-new-${n}`, { numPartitions: 0 })),
  'too many replicas': (_, n) => creating(topic(`df-new-${n}`, { replicationFactor: 3 })),
  'null value': (_, n) => creating(topic(`df-new-${n}`, { configs: [retention(null)] })),
  'bad value': (_, n) => creating(topic(`df-new-${n}`, { configs: [retention('x')] })),
  'unknown key': (_, n) =>
    creating(topic(`df-new-${n}`, { configs: [{ name: 'df', value: '1' }] })),
  twice: (_, n) => creating(topic(`df-new-${n}`), topic(`df-new-${n}`)),
  'an unknown broker': (_, n) => {
    const assignments = [{ partitionIndex: 0, brokerIds: [99] }]
    const wish = topic(`df-new-${n}`, { numPartitions: -1, replicationFactor: -1, assignments })
    return { topics: [wish], timeoutMs: 500 }
  },
  validated: {
    from: 1,
    body: (_, n) => ({ ...creating(topic(`df-no-${n}`)), validateOnly: true }),
  },
  'no time': (_, n) => ({ ...creating(topic(`df-new-${n}`)), timeoutMs: 0 }),
})

function retention(value: string | null) {
  return { name: 'retention.ms', value }
}

const own = (prefix: string) => (side: Side, n: number) => createTopic(side, `${prefix}-${n}`)

const gone = (...names: string[]): Body => {
  const topics = names.map((name) => ({ name, topicId: ZERO_UUID }))
  return { topicNames: names, topics, timeoutMs: 10_000 }
}

const deletes = cases('DeleteTopics', {
  good: { setup: own('df-gone'), body: (_, n) => gone(`df-gone-${n}`) },
  'unknown topic': () => gone('df-none'),
  'no such name': () => gone('a/b'),
  'no time': () => ({ ...gone('df-plain'), timeoutMs: 0 }),
  'by id': {
    from: 6,
    setup: own('df-gone'),
    body: (side, n) => {
      const topics = [{ name: null, topicId: side.topicId(`df-gone-${n}`) }]
      return { topics, timeoutMs: 10_000 }
    },
  },
  'by name and id': {
    from: 6,
    body: (side) => {
      return { topics: [{ name: 'df-plain', topicId: side.topicId('df-plain') }], timeoutMs: 1000 }
    },
  },
})

const growing = (name: string, count: number, change: object = {}): Body => {
  const topics = [{ name, count, assignments: null }]
  return { topics, timeoutMs: 10_000, validateOnly: false, ...change }
}

const grows = cases('CreatePartitions', {
  good: { setup: own('df-grow'), body: (_, n) => growing(`df-grow-${n}`, 3) },
  fewer: () => growing('df-plain', 1),
  'count -1': () => growing('df-plain', -1),
  'unknown topic': () => growing('df-none', 3),
  validated: () => growing('df-plain', 7, { validateOnly: true }),
  'no time': () => growing('df-plain', 7, { timeoutMs: 0 }),
})

const trimming = (name: string, offset: number, partitionIndex = 0): Body => {
  return { topics: [{ name, partitions: [{ partitionIndex, offset }] }], timeoutMs: 5000 }
}

const trims = cases('DeleteRecords', {
  good: {
    setup: async (side, n) => {
      await createTopic(side, `df-trim-${n}`)
      await side.call('Produce', produceBody(side, `df-trim-${n}`, 0))
    },
    body: (_, n) => trimming(`df-trim-${n}`, 2),
  },
  'behind the end': () => trimming('df-plain', 99),
  'offset -2': () => trimming('df-plain', -2),
  'unknown topic': () => trimming('df-none', 0),
  'partition -1': () => trimming('df-plain', 0, -1),
  'compacted topic': () => trimming('df-compact', 1),
})

const shown = (resourceType: number, resourceName: string, keys: string[] | null): Body => {
  const resources = [{ resourceType, resourceName, configurationKeys: keys }]
  return { resources, includeSynonyms: true }
}

const describes = cases('DescribeConfigs', {
  good: () => shown(TOPIC, 'df-compact', ['cleanup.policy', 'retention.ms', 'segment.bytes']),
  'a whole topic': () => shown(TOPIC, 'df-compact', null),
  'a whole broker': { from: 1, body: () => shown(BROKER, '1', null) },
  'unknown key': () => shown(TOPIC, 'df-compact', ['df']),
  'unknown topic': () => shown(TOPIC, 'df-none', null),
  'no such name': () => shown(TOPIC, 'a/b', null),
  'another broker': () => shown(BROKER, '99', null),
  'unknown type': () => shown(99, 'df', null),
  'a group': { from: 1, body: () => shown(32, 'df', null) },
  'client metrics': { from: 1, body: () => shown(16, 'df', null) },
})

const setting = (resourceType: number, resourceName: string, configs: object[]): Body => {
  const operations = configs.map((config) => ({ configOperation: 0, ...config }))
  return { resources: [{ resourceType, resourceName, configs: operations }], validateOnly: false }
}

const alterations: Readonly<Record<string, Case['body']>> = {
  good: () => setting(TOPIC, 'df-plain', [retention('-1')]),
  'bad value': () => setting(TOPIC, 'df-plain', [retention('x')]),
  'null value': () => setting(TOPIC, 'df-plain', [retention(null)]),
  'unknown key': () => setting(TOPIC, 'df-plain', [{ name: 'df', value: '1' }]),
  'unknown topic': () => setting(TOPIC, 'df-none', [retention('1')]),
  'another broker': () => setting(BROKER, '99', [{ name: 'log.cleaner.threads', value: '2' }]),
  'what needs a restart': () => setting(BROKER, '1', [{ name: 'broker.id', value: '2' }]),
  'unknown type': () => setting(99, 'df', [retention('1')]),
  'a group': () => setting(32, 'df', [{ name: 'consumer.session.timeout.ms', value: '1' }]),
}

const alters = [
  ...cases('AlterConfigs', alterations),
  ...cases('IncrementalAlterConfigs', {
    ...alterations,
    'unknown operation': () =>
      setting(TOPIC, 'df-plain', [{ ...retention('1'), configOperation: 9 }]),
    'appended to no list': () =>
      setting(TOPIC, 'df-plain', [{ ...retention('1'), configOperation: 2 }]),
    'unknown logger': () => setting(8, '1', [{ name: 'df', value: 'INFO' }]),
  }),
]

const directories = [
  ...cases('DescribeLogDirs', {
    good: () => ({ topics: [{ topic: 'df-plain', partitions: [0, 1] }] }),
    'unknown topic': () => ({ topics: [{ topic: 'df-none', partitions: [0] }] }),
    'partition -1': () => ({ topics: [{ topic: 'df-plain', partitions: [-1] }] }),
  }),
  ...cases('AlterReplicaLogDirs', {
    good: (side) => moving(side.known.get('directory') ?? '', 'df-plain'),
    'unknown topic': (side) => moving(side.known.get('directory') ?? '', 'df-none'),
    'unknown directory': () => moving('/df/none', 'df-plain'),
  }),
]

function moving(path: string, name: string): Body {
  return { dirs: [{ path, topics: [{ name, partitions: [0] }] }] }
}

const electing = (change: object = {}): Body => {
  const topicPartitions = [{ topic: 'df-plain', partitions: [0] }]
  return { electionType: 0, topicPartitions, timeoutMs: 5000, ...change }
}

const reassigning = (name: string, replicas: number[] | null, timeoutMs = 5000): Body => {
  return { timeoutMs, topics: [{ name, partitions: [{ partitionIndex: 0, replicas }] }] }
}

const replicas = [
  ...cases('ElectLeaders', {
    good: () => electing(),
    'unknown topic': () => electing({ topicPartitions: [{ topic: 'df-none', partitions: [0] }] }),
    'unknown type': { from: 1, body: () => electing({ electionType: 9 }) },
    'no time': () => electing({ timeoutMs: 0 }),
  }),
  ...cases('ListPartitionReassignments', {
    good: () => ({ topics: null }),
    'unknown topic': () => ({ topics: [{ name: 'df-none', partitionIndexes: [0] }] }),
  }),
  ...cases('AlterPartitionReassignments', {
    good: () => reassigning('df-plain', [1]),
    cancelled: () => reassigning('df-plain', null),
    'unknown topic': () => reassigning('df-none', [1]),
    'unknown broker': () => reassigning('df-plain', [99]),
    'no time': () => reassigning('df-plain', [1], 0),
  }),
]

const page = (change: object): Body => {
  return { topics: [{ name: 'df-plain' }, { name: 'df-compact' }], cursor: null, ...change }
}

const others = [
  ...cases('DescribeCluster', {
    good: () => ({ includeClusterAuthorizedOperations: true, endpointType: 1 }),
    controllers: { from: 1, body: () => ({ endpointType: 2 }) },
    'unknown type': { from: 1, body: () => ({ endpointType: 9 }) },
  }),
  ...cases('DescribeProducers', {
    good: () => ({ topics: [{ name: 'df-plain', partitionIndexes: [0] }] }),
    'unknown topic': () => ({ topics: [{ name: 'df-none', partitionIndexes: [0] }] }),
    'partition -1': () => ({ topics: [{ name: 'df-plain', partitionIndexes: [-1] }] }),
  }),
  ...cases('DescribeTopicPartitions', {
    good: () => page({}),
    'one partition': () => page({ responsePartitionLimit: 1 }),
    'from a place': () => page({ cursor: { topicName: 'df-plain', partitionIndex: 1 } }),
    'unknown topic': () => page({ topics: [{ name: 'df-none' }] }),
    'no name': () => page({ topics: [{ name: '' }] }),
  }),
  ...cases('DescribeClientQuotas', {
    good: () => ({ components: [], strict: false }),
    'unknown entity': () => {
      return { components: [{ entityType: 'df', matchType: 1, match: null }], strict: false }
    },
  }),
  ...cases('AlterClientQuotas', {
    good: () => quota('client-id', 'consumer_byte_rate'),
    'unknown entity': () => quota('df', 'consumer_byte_rate'),
  }),
]

function quota(entityType: string, key: string): Body {
  const entity = [{ entityType, entityName: 'df' }]
  return { entries: [{ entity, ops: [{ key, value: 1000, remove: false }] }], validateOnly: false }
}

export const adminCases: readonly Case[] = [
  ...others,
  ...directories,
  ...describes,
  ...replicas,
  ...trims,
  ...alters,
  ...creates,
  ...deletes,
  ...grows,
]
