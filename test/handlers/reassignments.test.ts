import assert from 'node:assert/strict'
import { test } from 'node:test'
import { alterPartitionReassignments } from '../../src/apis/alter-partition-reassignments.js'
import { createTopic, startBroker } from '../support/broker.js'
import type { Wire } from '../support/wire.js'

async function move(
  wire: Wire,
  replicas: number[] | null,
  { name = 't', partitionIndex = 0, timeoutMs = 1000, version = 1 } = {},
) {
  const topics = [{ name, partitions: [{ partitionIndex, replicas }] }]
  const body = { timeoutMs, topics }
  const { errorCode, responses } = await wire.call(alterPartitionReassignments, version, body)
  return [errorCode, responses[0]?.partitions[0]?.errorCode]
}

test('a partition that is to go where it is has arrived', async (t) => {
  const { wire } = await startBroker(t)
  await createTopic(wire, 't')
  for (const version of [0, 1]) assert.deepEqual(await move(wire, [0], { version }), [0, 0])
})

test('there is no move to end', async (t) => {
  const { wire } = await startBroker(t)
  await createTopic(wire, 't')
  assert.deepEqual(await move(wire, null), [0, 85])
})

test('a broker that is not there, none, and one twice are no replicas', async (t) => {
  const { wire } = await startBroker(t)
  await createTopic(wire, 't')
  for (const replicas of [[9], [], [0, 0], [0, 9]]) {
    assert.deepEqual(await move(wire, replicas), [0, 39])
  }
})

test('what is not there is unknown, and without time nothing moves', async (t) => {
  const { wire } = await startBroker(t)
  await createTopic(wire, 't')
  assert.deepEqual(await move(wire, [0], { name: 'nix' }), [0, 3])
  assert.deepEqual(await move(wire, [0], { partitionIndex: 7 }), [0, 3])
  assert.deepEqual(await move(wire, [0], { timeoutMs: 0 }), [7, 7])
})
