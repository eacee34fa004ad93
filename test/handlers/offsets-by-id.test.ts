/** OffsetCommit and OffsetFetch from version 10 on, where topics go by id. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { offsetCommit } from '../../src/apis/offset-commit.js'
import { offsetFetch } from '../../src/apis/offset-fetch.js'
import { createTopic, startBroker } from '../support/broker.js'
import type { Wire } from '../support/wire.js'

const groupId = 'g'
const UNKNOWN_ID = 'AAAAAAAAAAAAAAAAAAAAAQ'

async function commit(wire: Wire, topicId: string, committedOffset: number, partitionIndex = 0) {
  const partitions = [{ partitionIndex, committedOffset, committedMetadata: 'note' }]
  const { topics } = await wire.call(offsetCommit, 10, {
    groupId,
    topics: [{ topicId, partitions }],
  })
  assert.equal(topics[0]?.topicId, topicId)
  return topics[0].partitions.map(({ errorCode }) => errorCode)
}

/** Of each topic its id, and of each partition offset and code. */
async function fetched(wire: Wire, ids: string[] | null) {
  const topics = ids?.map((topicId) => ({ topicId, partitionIndexes: [0] })) ?? null
  const { groups } = await wire.call(offsetFetch, 10, { groups: [{ groupId, topics }] })
  return groups[0]?.topics.map(({ topicId, partitions }) => [
    topicId,
    ...partitions.map(({ committedOffset, errorCode }) => [committedOffset, errorCode]),
  ])
}

test('an offset is committed and fetched by the id of its topic', async (t) => {
  const { wire } = await startBroker(t)
  const topicId = await createTopic(wire, 't')
  assert.deepEqual(await commit(wire, topicId, 5), [0])
  assert.deepEqual(await fetched(wire, [topicId]), [[topicId, [5, 0]]])
  assert.deepEqual(await fetched(wire, null), [[topicId, [5, 0]]])
})

test('an id or a partition that is not there has a code of its own', async (t) => {
  const { wire } = await startBroker(t)
  const topicId = await createTopic(wire, 't')
  assert.deepEqual(await commit(wire, UNKNOWN_ID, 5), [100])
  assert.deepEqual(await commit(wire, topicId, 5, 9), [3])
  assert.deepEqual(await fetched(wire, [UNKNOWN_ID]), [[UNKNOWN_ID, [-1, 100]]])
})

test('an offset that no log reaches is refused, and others beside it are kept', async (t) => {
  const { wire } = await startBroker(t)
  const topicId = await createTopic(wire, 't')
  assert.deepEqual(await commit(wire, topicId, Number.MAX_SAFE_INTEGER), [1])
  assert.deepEqual(await fetched(wire, [topicId]), [[topicId, [-1, 0]]])
})
