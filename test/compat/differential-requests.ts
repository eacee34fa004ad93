/**
 * The requests of clients that both brokers get: records, offsets, metadata, groups. Each is sent
 * in every version that has a way to say it; `n` is another number each time.
 */

import { ZERO_UUID } from '../../src/protocol/types.js'
import { downConverted } from '../../src/records/conversion.js'
import { damaged } from '../support/batches.js'
import {
  batch,
  commit,
  commitBody,
  createTopic,
  join,
  joinBody,
  metadata,
  produceBody,
  TIME,
  transactional,
} from './differential-fixtures.js'
import type { Body, Side } from './differential-side.js'

export interface Case {
  readonly api: string
  readonly name: string
  /** The first and last version to send it in, where not all. */
  readonly from?: number
  readonly to?: number
  setup?(side: Side, n: number): Promise<void>
  body(side: Side, n: number): Body
}

const unknownId = 'c3RyYW5nZS11dWlkLTAwMQ'

/** Cases of one API, of which each is the first one with something else in it. */
function group(
  api: string,
  good: Case['body'],
  others: Readonly<Record<string, Case['body'] | Omit<Case, 'api' | 'name'>>> = {},
): Case[] {
  const entries = Object.entries(others)
  return [
    { api, name: 'good', body: good },
    ...entries.map(([name, other]) => {
      return typeof other === 'function' ? { api, name, body: other } : { api, name, ...other }
    }),
  ]
}

const set = (magic: 0 | 1) =>
  downConverted(batch, { magic, fromOffset: 0, maxBytes: 1 << 20 }).bytes

const produces: Case[] = [
  // Batches came with version 3; a real one of before is a set of messages.
  { api: 'Produce', name: 'good', from: 3, body: (side) => produceBody(side, 'df-sink', 0) },
  {
    api: 'Produce',
    name: 'messages of magic 0',
    to: 1,
    body: (side) => produceBody(side, 'df-sink', 0, set(0)),
  },
  {
    api: 'Produce',
    name: 'messages of magic 1',
    from: 2,
    to: 2,
    body: (side) => produceBody(side, 'df-sink', 0, set(1)),
  },
  { api: 'Produce', name: 'unknown topic', body: (side) => produceBody(side, 'df-none', 0) },
  { api: 'Produce', name: 'partition -1', body: (side) => produceBody(side, 'df-sink', -1) },
  {
    api: 'Produce',
    name: 'damaged batch',
    from: 3,
    body: (side) => produceBody(side, 'df-sink', 0, damaged(batch)),
  },
  {
    api: 'Produce',
    name: 'bytes behind the batch',
    from: 3,
    body: (side) => {
      return produceBody(side, 'df-sink', 0, Buffer.concat([batch, Buffer.alloc(7)]))
    },
  },
  {
    api: 'Produce',
    name: 'no record',
    from: 3,
    body: (side) => produceBody(side, 'df-sink', 0, Buffer.alloc(0)),
  },
  {
    api: 'Produce',
    name: 'acks 2',
    body: (side) => ({ ...produceBody(side, 'df-sink', 0), acks: 2 }),
  },
]

const wish = { currentLeaderEpoch: -1, fetchOffset: 0, logStartOffset: -1 }

function fetchBody(side: Side, topic: string, partition: object = {}, request: object = {}): Body {
  const partitions = [{ partition: 0, ...wish, partitionMaxBytes: 100_000, ...partition }]
  return {
    replicaId: -1,
    maxWaitMs: 0,
    minBytes: 0,
    maxBytes: 1_000_000,
    sessionId: 0,
    sessionEpoch: -1,
    isolationLevel: 0,
    topics: [{ topic, topicId: side.topicId(topic), partitions }],
    forgottenTopicsData: [],
    ...request,
  }
}

const fetches = group('Fetch', (side) => fetchBody(side, 'df-plain'), {
  'unknown topic': (side) => fetchBody(side, 'df-none'),
  'partition -1': (side) => fetchBody(side, 'df-plain', { partition: -1 }),
  'behind the end': (side) => fetchBody(side, 'df-plain', { fetchOffset: 99 }),
  'offset -1': (side) => fetchBody(side, 'df-plain', { fetchOffset: -1 }),
  'from within a batch': (side) => fetchBody(side, 'df-plain', { fetchOffset: 4 }),
  'a later epoch': (side) => fetchBody(side, 'df-plain', { currentLeaderEpoch: 9 }),
  'unknown session': (side) => fetchBody(side, 'df-plain', {}, { sessionId: 77, sessionEpoch: 3 }),
  'new session': (side) => fetchBody(side, 'df-plain', {}, { sessionEpoch: 0 }),
  'limit -1': {
    from: 4,
    body: (side) => fetchBody(side, 'df-plain', { partitionMaxBytes: -1 }),
  },
  committed: (side) => fetchBody(side, 'df-plain', {}, { isolationLevel: 1 }),
})

function listBody(timestamp: number, topic = 'df-plain', partitionIndex = 0): Body {
  const partitions = [{ partitionIndex, timestamp, currentLeaderEpoch: -1 }]
  return { replicaId: -1, isolationLevel: 0, topics: [{ name: topic, partitions }], timeoutMs: 100 }
}

const lists = group('ListOffsets', () => listBody(-1), {
  earliest: () => listBody(-2),
  'largest timestamp': { from: 1, body: () => listBody(-3) },
  'unknown timestamp': { from: 1, body: () => listBody(-9) },
  // Version 0 asks for segments, whose times are those of the files.
  'by time': { from: 1, body: () => listBody(TIME + 3) },
  'after all': { from: 1, body: () => listBody(TIME + 4) },
  'unknown topic': () => listBody(-1, 'df-none'),
  'partition -1': () => listBody(-1, 'df-plain', -1),
  'empty partition': () => listBody(-1, 'df-plain', 2),
})

function topicsBody(...topics: object[]): Body {
  return { topics, allowAutoTopicCreation: false }
}

const metadatas = group('Metadata', () => topicsBody({ name: 'df-plain' }), {
  // They make a topic that they are asked for, whatever the request says.
  'unknown topic': { from: 4, body: () => topicsBody({ name: 'df-none' }) },
  'no such name': { from: 4, body: () => topicsBody({ name: 'a/b' }) },
  'no topics': { from: 1, body: () => topicsBody() },
  'topic twice': () => topicsBody({ name: 'df-plain' }, { name: 'df-plain' }),
  'by id': {
    from: 12,
    body: (side) => topicsBody({ name: null, topicId: side.topicId('df-plain') }),
  },
  'unknown id': { from: 10, body: () => topicsBody({ name: null, topicId: unknownId }) },
  'neither name nor id': { from: 12, body: () => topicsBody({ name: null, topicId: ZERO_UUID }) },
  'null name': { from: 10, to: 11, body: () => topicsBody({ name: null, topicId: ZERO_UUID }) },
})

const epoch = (leaderEpoch: number, topic = 'df-plain', currentLeaderEpoch = -1): Body => {
  const partitions = [{ partition: 0, currentLeaderEpoch, leaderEpoch }]
  return { replicaId: -2, topics: [{ topic, partitions }] }
}

const epochs = group('OffsetForLeaderEpoch', () => epoch(0), {
  'a later epoch': () => epoch(9),
  'epoch -1': () => epoch(-1),
  'unknown topic': () => epoch(0, 'df-none'),
  'a present epoch that is not': () => epoch(0, 'df-plain', 9),
})

const committing = (side: Side, change: object): Body => {
  return { ...commitBody(side, 'df-outside'), ...change }
}

const commits = group('OffsetCommit', (side) => commitBody(side, 'df-outside'), {
  'unknown topic': (side) => commitBody(side, 'df-outside', 'df-none'),
  'empty group': { from: 1, body: (side) => commitBody(side, '') },
  'no topics': (side) => committing(side, { topics: [] }),
  'unknown member': {
    from: 1,
    body: (side) => ({ ...commitBody(side, 'df-stable'), memberId: 'x' }),
  },
  'generation of no group': {
    from: 1,
    body: (side) => ({ ...commitBody(side, 'df-nobody'), generationIdOrMemberEpoch: 5 }),
  },
})

/** In the form of all versions. */
function offsets(side: Side, groupId: string, name: string, indexes: number[]): Body {
  const topics = [{ name, topicId: side.topicId(name), partitionIndexes: indexes }]
  return { groupId, topics, groups: [{ groupId, topics }], requireStable: false }
}

const offsetFetches = group(
  'OffsetFetch',
  (side) => offsets(side, 'df-offsets', 'df-plain', [0, 1]),
  {
    'all topics': {
      from: 2,
      body: () => {
        return {
          groupId: 'df-offsets',
          topics: null,
          groups: [{ groupId: 'df-offsets', topics: null }],
        }
      },
    },
    'unknown group': (side) => offsets(side, 'df-nobody', 'df-plain', [0]),
    'unknown topic': (side) => offsets(side, 'df-offsets', 'df-none', [0]),
    'partition -1': (side) => offsets(side, 'df-offsets', 'df-plain', [-1]),
    'empty group': { from: 1, body: (side) => offsets(side, '', 'df-plain', [0]) },
  },
)

const keys = (key: string, keyType = 0): Body => ({ key, keyType, coordinatorKeys: [key, 'df-y'] })

const coordinators = group('FindCoordinator', () => keys('df-x'), {
  'of a transactional id': { from: 1, body: () => keys('df-x', 1) },
  'unknown type': { from: 1, body: () => keys('df-x', 9) },
  'empty key': () => keys(''),
})

const joins = group('JoinGroup', (_, n) => joinBody(`df-join-${n}`), {
  'empty group': () => joinBody(''),
  'unknown member': (_, n) => joinBody(`df-join-${n}`, 'x'),
  'other protocol': () => ({
    ...joinBody('df-stable'),
    protocols: [{ name: 'other', metadata }],
  }),
  'short session': (_, n) => ({ ...joinBody(`df-join-${n}`), sessionTimeoutMs: 1 }),
})

const beat = (side: Side, groupId: string, memberId?: string, generationId = 1): Body => {
  return { groupId, generationId, memberId: memberId ?? side.known.get('member') ?? '' }
}

const beats = group('Heartbeat', (side) => beat(side, 'df-stable'), {
  'empty group': (side) => beat(side, ''),
  'unknown group': (side) => beat(side, 'df-nobody'),
  'unknown member': (side) => beat(side, 'df-stable', 'x'),
  'other generation': (side) => beat(side, 'df-stable', undefined, 7),
})

const sync = (side: Side, ...beaten: [string, string?, number?]): Body => {
  const protocol = { protocolType: 'consumer', protocolName: 'range' }
  return { ...beat(side, ...beaten), ...protocol, assignments: [] }
}

const syncs = group('SyncGroup', (side) => sync(side, 'df-stable'), {
  'empty group': (side) => sync(side, ''),
  'unknown group': (side) => sync(side, 'df-nobody'),
  'unknown member': (side) => sync(side, 'df-stable', 'x'),
  'other generation': (side) => sync(side, 'df-stable', undefined, 7),
  'other protocol': {
    from: 5,
    body: (side) => ({ ...sync(side, 'df-stable'), protocolName: 'other' }),
  },
})

const leaving = (groupId: string, memberId: string): Body => {
  return { groupId, memberId, members: [{ memberId }] }
}

const leaves: Case[] = [
  {
    api: 'LeaveGroup',
    name: 'good',
    setup: async (side, n) => {
      side.known.set('leaving', await join(side, `df-leave-${n}`))
    },
    body: (side, n) => leaving(`df-leave-${n}`, side.known.get('leaving') ?? ''),
  },
  { api: 'LeaveGroup', name: 'empty group', body: () => leaving('', 'x') },
  { api: 'LeaveGroup', name: 'unknown group', body: () => leaving('df-nobody', 'x') },
  { api: 'LeaveGroup', name: 'unknown member', body: () => leaving('df-stable', 'x') },
]

const described = (...groups: string[]): Body => ({ groups, includeAuthorizedOperations: true })

const groupTools: Case[] = [
  ...group('ListGroups', () => ({ statesFilter: [], typesFilter: [] }), {
    stable: { from: 4, body: () => ({ statesFilter: ['Stable'], typesFilter: [] }) },
    'unknown type': { from: 5, body: () => ({ statesFilter: [], typesFilter: ['x'] }) },
  }),
  ...group('DescribeGroups', () => described('df-stable', 'df-offsets'), {
    'unknown group': () => described('df-nobody'),
    'no group': () => described(),
    'empty group': () => described(''),
  }),
  {
    api: 'DeleteGroups',
    name: 'good',
    setup: async (side, n) => void (await commit(side, `df-gone-${n}`)),
    body: (_, n) => ({ groupsNames: [`df-gone-${n}`] }),
  },
  {
    api: 'DeleteGroups',
    name: 'unknown, empty and in use',
    body: () => ({ groupsNames: ['df-nobody', '', 'df-stable'] }),
  },
  ...group('OffsetDelete', () => deleting('df-offsets', 'df-compact'), {
    'unknown group': () => deleting('df-nobody', 'df-plain'),
    'unknown topic': () => deleting('df-offsets', 'df-none'),
    'in use': () => deleting('df-stable', 'df-file'),
  }),
]

function deleting(groupId: string, name: string): Body {
  return { groupId, topics: [{ name, partitions: [{ partitionIndex: 0 }] }] }
}

const producers = group('InitProducerId', () => transactional(null), {
  transactional: (_, n) => transactional(`df-id-${n}`),
  'empty id': () => transactional(''),
  'timeout 0': (_, n) => ({ ...transactional(`df-id-${n}`), transactionTimeoutMs: 0 }),
  'epoch without id': {
    from: 3,
    body: () => ({ ...transactional(null), producerEpoch: 3 }),
  },
})

/** In this order: what lists all comes before what adds to it. */
export const clientCases: readonly Case[] = [
  ...group('ApiVersions', () => software('differ'), {
    'software name with a space': { from: 3, body: () => software('a b') },
  }),
  ...metadatas,
  ...lists,
  ...fetches,
  ...epochs,
  ...offsetFetches,
  ...coordinators,
  ...groupTools,
  ...beats,
  ...syncs,
  ...producers,
  ...commits,
  ...joins,
  ...leaves,
  ...produces,
]

function software(clientSoftwareName: string): Body {
  return { clientSoftwareName, clientSoftwareVersion: '1.0' }
}

/** Makes the topics that the cases above change. */
export async function prepareClientCases(side: Side): Promise<void> {
  await createTopic(side, 'df-sink')
}
