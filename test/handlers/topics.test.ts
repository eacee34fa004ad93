/** CreateTopics and DeleteTopics; the rules behind them are tested with the controller. */
import assert from 'node:assert/strict'
import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { createTopics } from '../../src/apis/create-topics.js'
import { deleteTopics } from '../../src/apis/delete-topics.js'
import { describeConfigs } from '../../src/apis/describe-configs.js'
import { metadata } from '../../src/apis/metadata.js'
import { offsetCommit } from '../../src/apis/offset-commit.js'
import { offsetFetch } from '../../src/apis/offset-fetch.js'
import { ZERO_UUID } from '../../src/protocol/types.js'
import {
  batchOf,
  createTopic,
  describeTopic,
  fetchFrom,
  produceTo,
  startBroker,
} from '../support/broker.js'
import type { Wire } from '../support/wire.js'

const ZERO = 'AAAAAAAAAAAAAAAAAAAAAA'
const UNKNOWN_ID = 'AAAAAAAAAAAAAAAAAAAAAQ'

interface Wish {
  name: string
  numPartitions?: number
  replicationFactor?: number
  assignments?: { partitionIndex: number; brokerIds: number[] }[]
  configs?: { name: string; value: string | null }[]
}

async function create(wire: Wire, wishes: Wish[], { version = 7, ...rest } = {}) {
  const topics = wishes.map((wish) => ({
    numPartitions: 1,
    replicationFactor: 1,
    assignments: [],
    configs: [],
    ...wish,
  }))
  return (await wire.call(createTopics, version, { topics, timeoutMs: 1000, ...rest })).topics
}

const manual = { numPartitions: -1, replicationFactor: -1 }
const config = (name: string, value: string | null) => ({ configs: [{ name, value }] })
const refusals: [string, Omit<Wish, 'name'> & { name?: string }, number][] = [
  ['no partitions', { numPartitions: 0 }, 37],
  ['a negative number of partitions', { numPartitions: -2 }, 37],
  ['a million partitions', { numPartitions: 1_000_000 }, 37],
  ['no replicas', { replicationFactor: 0 }, 38],
  ['more replicas than brokers', { replicationFactor: 2 }, 38],
  ['an unknown configuration', config('nix', '1'), 40],
  ['a value out of range', config('retention.ms', 'x'), 40],
  ['a null value', config('retention.ms', null), 40],
  ['a slash in the name', { name: 'a/b' }, 17],
  ['no name', { name: '' }, 17],
  ['dots for a name', { name: '..' }, 17],
  ['a name that collides', { name: 'a_b' }, 17],
  ['a name that exists', { name: 'a.b' }, 36],
  ['an unknown broker', { ...manual, assignments: [{ partitionIndex: 0, brokerIds: [9] }] }, 39],
  ['no broker', { ...manual, assignments: [{ partitionIndex: 0, brokerIds: [] }] }, 39],
  [
    'partitions not from 0',
    { ...manual, assignments: [{ partitionIndex: 1, brokerIds: [0] }] },
    39,
  ],
  ['counts beside an assignment', { assignments: [{ partitionIndex: 0, brokerIds: [0] }] }, 42],
]

test('each topic that cannot be made is refused for itself, and the others are made', async (t) => {
  const { broker, wire } = await startBroker(t)
  await createTopic(wire, 'a.b')
  const wishes = refusals.map(([, wish], i) => ({ name: `refused-${i}`, ...wish }))
  const answers = await create(wire, [...wishes, { name: 'made' }])
  for (const [i, [what, , code]] of refusals.entries()) {
    assert.equal(answers[i]?.errorCode, code, what)
    assert.ok(answers[i]?.errorMessage, what)
  }
  assert.equal(answers.at(-1)?.errorCode, 0)
  const folders = readdirSync(broker.dataDirs[0]!, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => name)
  assert.deepEqual(folders.sort(), ['a.b-0', 'made-0'])
})

test('the same topic twice is refused in one answer, and not made', async (t) => {
  const { wire } = await startBroker(t)
  const answers = await create(wire, [{ name: 'twice' }, { name: 'once' }, { name: 'twice' }])
  assert.deepEqual(
    answers.map(({ name, errorCode }) => [name, errorCode]),
    [
      ['twice', 42],
      ['once', 0],
    ],
  )
  assert.equal((await describeTopic(wire, 'twice')).errorCode, 3)
})

test('defaults stand for counts of -1, a manual assignment for both', async (t) => {
  const { wire } = await startBroker(t, { config: { 'num.partitions': 4 } })
  const assignments = [1, 0].map((partitionIndex) => ({ partitionIndex, brokerIds: [0] }))
  const answers = await create(wire, [
    { name: 'a', ...manual },
    { name: 'b', ...manual, assignments },
  ])
  assert.deepEqual(
    answers.map(({ numPartitions }) => numPartitions),
    [4, 2],
  )
})

test('validateOnly says what would be, and makes nothing', async (t) => {
  const { wire } = await startBroker(t)
  const [would, not] = await create(wire, [{ name: 'v', numPartitions: 3 }, { name: 'a/b' }], {
    validateOnly: true,
  } as object)
  assert.deepEqual([would?.errorCode, would?.numPartitions, not?.errorCode], [0, 3, 17])
  assert.equal((await describeTopic(wire, 'v')).errorCode, 3)
})

test('the topics of the brokers are made as they need them, whoever asks first', async (t) => {
  const { wire } = await startBroker(t, { config: { 'offsets.topic.num.partitions': 7 } })
  const { topics } = await wire.call(metadata, 12, {
    topics: [{ name: '__consumer_offsets' }],
    allowAutoTopicCreation: true,
  })
  assert.deepEqual([topics[0]?.isInternal, topics[0]?.partitions.length], [true, 7])
  const asked = { resourceType: 2, configurationKeys: ['cleanup.policy'] }
  const resources = [{ ...asked, resourceName: '__consumer_offsets' }]
  const { results } = await wire.call(describeConfigs, 4, { resources })
  assert.equal(results[0]?.configs[0]?.value, 'compact')
})

test('a created topic tells its configuration and where it comes from', async (t) => {
  const { wire } = await startBroker(t, { config: { 'log.retention.bytes': 5000 } })
  const [made] = await create(wire, [{ name: 't', ...config('retention.ms', '1000') }])
  const told = new Map(
    made?.configs?.map(({ name, value, configSource }) => [name, [value, configSource]]),
  )
  assert.deepEqual(told.get('retention.ms'), ['1000', 1])
  assert.deepEqual(told.get('retention.bytes'), ['5000', 4])
  assert.deepEqual(told.get('cleanup.policy'), ['delete', 5])
})

test('no time to make or delete a topic is a timeout', async (t) => {
  const { wire } = await startBroker(t)
  await createTopic(wire, 't')
  for (const timeoutMs of [0, -1]) {
    const [made] = await create(wire, [{ name: 'late' }], { timeoutMs } as object)
    assert.equal(made?.errorCode, 7)
    const { responses } = await wire.call(deleteTopics, 5, { topicNames: ['t'], timeoutMs })
    assert.equal(responses[0]?.errorCode, 7)
  }
  assert.equal((await describeTopic(wire, 't')).errorCode, 0)
})

test('every version makes and deletes a topic', async (t) => {
  const { wire } = await startBroker(t)
  for (let version = 0; version <= 7; version++) {
    const [made] = await create(wire, [{ name: `v${version}` }], { version })
    assert.equal(made?.errorCode, 0)
    const at = Math.min(version, 6)
    const topicNames = [`v${version}`]
    const topics = topicNames.map((name) => ({ name, topicId: ZERO }))
    const { responses } = await wire.call(deleteTopics, at, { topicNames, topics, timeoutMs: 1000 })
    assert.deepEqual([responses[0]?.name, responses[0]?.errorCode], [`v${version}`, 0])
    assert.equal((await describeTopic(wire, `v${version}`)).errorCode, 3)
  }
})

test('a topic is deleted by name or id; every wrong way has its code', async (t) => {
  const { wire } = await startBroker(t)
  const topicId = await createTopic(wire, 'by-id')
  await createTopic(wire, 'twice')
  const topics = [
    { name: null, topicId },
    { name: 'nix', topicId: ZERO },
    { name: null, topicId: UNKNOWN_ID },
    { name: 'both', topicId: UNKNOWN_ID },
    { name: null, topicId: ZERO },
    { name: 'twice', topicId: ZERO },
    { name: 'twice', topicId: ZERO },
  ]
  const { responses } = await wire.call(deleteTopics, 6, { topics, timeoutMs: 1000 })
  const codes = responses.map(({ name, errorCode }) => [name, errorCode])
  const expected = [
    ['by-id', 0],
    ['nix', 3],
    [null, 100],
    ['both', 42],
    [null, 42],
    ['twice', 42],
  ]
  assert.deepEqual(codes, expected)
})

test('a broker that forbids deletion says so in the code of the version', async (t) => {
  const { wire } = await startBroker(t, { config: { 'delete.topic.enable': false } })
  await createTopic(wire, 't')
  for (const [version, code] of [
    [1, 42],
    [3, 73],
    [5, 73],
  ] as const) {
    const { responses } = await wire.call(deleteTopics, version, {
      topicNames: ['t'],
      timeoutMs: 1000,
    })
    assert.equal(responses[0]?.errorCode, code)
  }
  assert.equal((await describeTopic(wire, 't')).errorCode, 0)
})

test('a topic made anew has another id, no records and no committed offsets', async (t) => {
  const { broker, wire } = await startBroker(t)
  const first = await createTopic(wire, 't')
  await produceTo(wire, 't', batchOf('old'))
  const partitions = [{ partitionIndex: 0, committedOffset: 1, committedMetadata: null }]
  await wire.call(offsetCommit, 2, { groupId: 'g', topics: [{ name: 't', partitions }] })
  await wire.call(deleteTopics, 5, { topicNames: ['t'], timeoutMs: 1000 })
  assert.equal(existsSync(join(broker.dataDirs[0]!, 't-0')), false)
  assert.notEqual(await createTopic(wire, 't'), first)
  const { highWatermark, errorCode } = await fetchFrom(wire, 't', 0)
  assert.deepEqual([errorCode, highWatermark], [0, 0])
  const topics = [{ name: 't', partitionIndexes: [0] }]
  const committed = await wire.call(offsetFetch, 2, { groupId: 'g', topics })
  assert.equal(committed.topics[0]?.partitions[0]?.committedOffset, -1)
})

test('fifty thousand copies of one name are one answer, quickly', async (t) => {
  const { wire } = await startBroker(t)
  const topic = { name: 'a', numPartitions: 1, replicationFactor: 1, assignments: [], configs: [] }
  const topics = Array.from({ length: 50_000 }, () => topic)
  const made = await wire.call(createTopics, 7, { topics, timeoutMs: 1000 })
  assert.deepEqual([made.topics.length, made.topics[0]?.errorCode], [1, 42])
  const names = Array.from({ length: 50_000 }, (_, i) => ({
    name: `t${i % 25_000}`,
    topicId: ZERO_UUID,
  }))
  const gone = await wire.call(deleteTopics, 6, { topics: names, timeoutMs: 1000 })
  assert.equal(gone.responses.length, 25_000)
})
