/** What tools ask of topics, groups and producers beyond the plain lists. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { describeProducers } from '../../src/apis/describe-producers.js'
import { describeTopicPartitions } from '../../src/apis/describe-topic-partitions.js'
import { electLeaders } from '../../src/apis/elect-leaders.js'
import { joinGroup } from '../../src/apis/join-group.js'
import { listPartitionReassignments } from '../../src/apis/list-partition-reassignments.js'
import { offsetCommit } from '../../src/apis/offset-commit.js'
import { offsetDelete } from '../../src/apis/offset-delete.js'
import { offsetFetch } from '../../src/apis/offset-fetch.js'
import { syncGroup } from '../../src/apis/sync-group.js'
import { buildBatch } from '../../src/records/encoder.js'
import { createTopic, produceTo, startBroker } from '../support/broker.js'
import type { Wire } from '../support/wire.js'

const groupId = 'g'

async function commit(wire: Wire, topic: string) {
  const partitions = [{ partitionIndex: 0, committedOffset: 5, committedMetadata: '' }]
  await wire.call(offsetCommit, 2, { groupId, topics: [{ name: topic, partitions }] })
}

async function committed(wire: Wire, topic: string) {
  const topics = [{ name: topic, partitionIndexes: [0] }]
  const answer = await wire.call(offsetFetch, 7, { groupId, topics })
  return answer.topics[0]?.partitions[0]?.committedOffset
}

/** Deletes the offset of partition 0, and of a partition that is not there. */
async function forget(wire: Wire, topic: string) {
  const partitions = [{ partitionIndex: 0 }, { partitionIndex: 9 }]
  const answer = await wire.call(offsetDelete, 0, {
    groupId,
    topics: [{ name: topic, partitions }],
  })
  const each = answer.topics[0]?.partitions.map(({ errorCode }) => errorCode)
  return [answer.errorCode, each]
}

/** A member of the group that says it reads these topics. */
async function read(wire: Wire, topics: string[], protocolType = 'consumer') {
  const count = Buffer.from([0, 0, 0, 0, 0, topics.length])
  const names = topics.map((topic) => Buffer.from(`\0${String.fromCharCode(topic.length)}${topic}`))
  const { memberId, generationId } = await wire.call(joinGroup, 3, {
    groupId,
    sessionTimeoutMs: 10_000,
    rebalanceTimeoutMs: 10_000,
    memberId: '',
    protocolType,
    protocols: [{ name: 'range', metadata: Buffer.concat([count, ...names]) }],
  })
  const assignments = [{ memberId, assignment: Buffer.alloc(0) }]
  await wire.call(syncGroup, 3, { groupId, generationId, memberId, assignments })
}

test('an offset is deleted, and that of a partition that is not there is unknown', async (t) => {
  const { wire } = await startBroker(t)
  await createTopic(wire, 't')
  await commit(wire, 't')
  assert.deepEqual(await forget(wire, 't'), [0, [0, 3]])
  assert.equal(await committed(wire, 't'), -1)
})

test('offsets of a group that is not there, or has no name, are not deleted', async (t) => {
  const { wire } = await startBroker(t)
  assert.deepEqual(await forget(wire, 't'), [69, undefined])
  const { errorCode } = await wire.call(offsetDelete, 0, { groupId: '', topics: [] })
  assert.equal(errorCode, 24)
})

test('offsets of a topic that a member reads stay, those of another go', async (t) => {
  const { wire } = await startBroker(t)
  for (const topic of ['read', 'left']) {
    await createTopic(wire, topic)
    await commit(wire, topic)
  }
  await read(wire, ['read'])
  assert.deepEqual(await forget(wire, 'read'), [0, [86, 3]])
  assert.deepEqual(await forget(wire, 'left'), [0, [0, 3]])
  assert.deepEqual([await committed(wire, 'read'), await committed(wire, 'left')], [5, -1])
})

test('offsets of a group that is none of consumers stay while it has members', async (t) => {
  const { wire } = await startBroker(t)
  await createTopic(wire, 't')
  await commit(wire, 't')
  await read(wire, ['t'], 'connect')
  assert.deepEqual(await forget(wire, 't'), [68, undefined])
})

test('an election is not needed where the leader is the only replica', async (t) => {
  const { wire } = await startBroker(t)
  await createTopic(wire, 't')
  for (const version of [0, 1, 2]) {
    const topicPartitions = [{ topic: 't', partitions: [0, 7] }]
    const answer = await wire.call(electLeaders, version, { topicPartitions, timeoutMs: 1000 })
    const results = answer.replicaElectionResults[0]?.partitionResult
    assert.deepEqual(
      results?.map(({ partitionId, errorCode }) => [partitionId, errorCode]),
      [
        [0, 84],
        [7, 3],
      ],
    )
  }
  const all = await wire.call(electLeaders, 2, { topicPartitions: null, timeoutMs: 1000 })
  assert.deepEqual(
    [all.errorCode, all.replicaElectionResults],
    [0, [{ topic: 't', partitionResult: [] }]],
  )
})

test('no partition is on its way to another broker', async (t) => {
  const { wire } = await startBroker(t)
  const { errorCode, topics } = await wire.call(listPartitionReassignments, 0, {})
  assert.deepEqual([errorCode, topics], [0, []])
})

test('the producers of a partition are named with their last sequence', async (t) => {
  const { wire } = await startBroker(t)
  await createTopic(wire, 't')
  const producer = { id: 77, epoch: 2, baseSequence: 0 }
  const records = [{ value: 'a' }, { value: 'b' }]
  assert.equal((await produceTo(wire, 't', buildBatch(records, { producer }))).errorCode, 0)
  const answer = await wire.call(describeProducers, 0, {
    topics: [{ name: 't', partitionIndexes: [0, 3] }],
  })
  const [known, unknown] = answer.topics[0]?.partitions ?? []
  const [{ lastTimestamp, ...found } = { lastTimestamp: 0 }, ...others] =
    known?.activeProducers ?? []
  assert.deepEqual(others, [])
  assert.ok(Math.abs(lastTimestamp - Date.now()) < 60_000)
  assert.deepEqual(found, {
    producerId: 77,
    producerEpoch: 2,
    lastSequence: 1,
    coordinatorEpoch: -1,
    currentTxnStartOffset: -1,
  })
  assert.equal(unknown?.errorCode, 3)
})

test('topics are described page by page in the order of their names', async (t) => {
  const { wire } = await startBroker(t)
  for (const topic of ['b', 'a', 'c']) await createTopic(wire, topic, { partitions: 2 })
  const seen: string[] = []
  let cursor: { topicName: string; partitionIndex: number } | null = null
  for (let page = 0; page < 10; page++) {
    const body = { topics: [], responsePartitionLimit: 3, cursor }
    const answer: Awaited<ReturnType<typeof describePage>> = await describePage(wire, body)
    for (const { name, partitions } of answer.topics) {
      for (const { partitionIndex } of partitions) seen.push(`${name}-${partitionIndex}`)
    }
    cursor = answer.nextCursor
    if (cursor === null) break
  }
  assert.deepEqual(seen, ['a-0', 'a-1', 'b-0', 'b-1', 'c-0', 'c-1'])
})

async function describePage(
  wire: Wire,
  body: {
    topics: { name: string }[]
    responsePartitionLimit: number
    cursor: { topicName: string; partitionIndex: number } | null
  },
) {
  return wire.call(describeTopicPartitions, 0, body)
}

test('a topic without a name fails all topics of a page', async (t) => {
  const { wire } = await startBroker(t)
  await createTopic(wire, 't')
  const body = { topics: [{ name: '' }, { name: 't' }], responsePartitionLimit: 100, cursor: null }
  const { topics } = await describePage(wire, body)
  assert.deepEqual(
    topics.map(({ errorCode, partitions }) => [errorCode, partitions.length]),
    [
      [-1, 0],
      [-1, 0],
    ],
  )
})

test('a topic that is not there, or cannot be, is described as such', async (t) => {
  const { wire } = await startBroker(t)
  const topics = [{ name: 'none' }, { name: 'no/name' }]
  const body = { topics, responsePartitionLimit: 100, cursor: null }
  const answer = await describePage(wire, body)
  const errors = answer.topics.map(({ name, errorCode }) => [name, errorCode])
  assert.deepEqual(errors, [
    ['no/name', 17],
    ['none', 3],
  ])
})
