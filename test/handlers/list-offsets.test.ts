import assert from 'node:assert/strict'
import { test } from 'node:test'
import { listOffsets } from '../../src/apis/list-offsets.js'
import type { CompressionName } from '../../src/records/compression.js'
import { buildBatch } from '../../src/records/encoder.js'
import { batchOf, createTopic, produceTo, startBroker } from '../support/broker.js'
import type { Wire } from '../support/wire.js'

interface Wish {
  timestamp: number
  partitionIndex?: number
  currentLeaderEpoch?: number
}

async function ask(wire: Wire, version: number, wishes: Wish[], name = 't') {
  const partitions = wishes.map((wish) => ({ partitionIndex: 0, ...wish }))
  const { topics } = await wire.call(listOffsets, version, {
    replicaId: -1,
    topics: [{ name, partitions }],
  })
  return topics[0]?.partitions ?? []
}

async function offsetOf(wire: Wire, version: number, timestamp: number) {
  const [answer] = await ask(wire, version, [{ timestamp }])
  return [answer?.errorCode, answer?.offset, answer?.timestamp]
}

const NONE = [0, -1, -1]

test('the special timestamps of an empty topic give its ends, or nothing', async (t) => {
  const { wire } = await startBroker(t)
  await createTopic(wire, 't')
  assert.deepEqual(await offsetOf(wire, 10, -1), [0, 0, -1])
  assert.deepEqual(await offsetOf(wire, 10, -2), [0, 0, -1])
  assert.deepEqual(await offsetOf(wire, 10, -4), [0, 0, -1])
  for (const timestamp of [-3, -5, 0, 1e12])
    assert.deepEqual(await offsetOf(wire, 10, timestamp), NONE)
})

test('a special timestamp that the version lacks is refused', async (t) => {
  const { wire } = await startBroker(t)
  await createTopic(wire, 't')
  for (const [timestamp, since] of [
    [-3, 7],
    [-4, 8],
    [-5, 9],
    [-6, 11],
  ] as const) {
    assert.deepEqual(await offsetOf(wire, since - 1, timestamp), [35, -1, -1])
    assert.equal((await offsetOf(wire, since, timestamp))[0], 0)
  }
  for (const unknown of [-7, -100])
    assert.deepEqual(await offsetOf(wire, 10, unknown), [35, -1, -1])
})

for (const compression of ['none', 'gzip', 'zstd'] satisfies CompressionName[]) {
  test(`a time is found exact to the record, compressed with ${compression}`, async (t) => {
    const { wire } = await startBroker(t)
    await createTopic(wire, 't')
    for (const timestamps of [
      [10, 30],
      [20, 40],
    ]) {
      const records = timestamps.map((timestamp) => ({ timestamp, value: 'v' }))
      assert.equal((await produceTo(wire, 't', buildBatch(records, { compression }))).errorCode, 0)
    }
    assert.deepEqual(await offsetOf(wire, 5, 0), [0, 0, 10])
    assert.deepEqual(await offsetOf(wire, 5, 20), [0, 1, 30])
    assert.deepEqual(await offsetOf(wire, 5, 35), [0, 3, 40])
    assert.deepEqual(await offsetOf(wire, 5, 41), NONE)
    assert.deepEqual(await offsetOf(wire, 7, -3), [0, 3, 40])
    assert.deepEqual(await offsetOf(wire, 7, -1), [0, 4, -1])
  })
}

test('the largest timestamp is that of its first record', async (t) => {
  const { wire } = await startBroker(t)
  await createTopic(wire, 't')
  const records = [5, 9, 9, 3].map((timestamp) => ({ timestamp }))
  await produceTo(wire, 't', buildBatch(records))
  await produceTo(wire, 't', buildBatch(records))
  assert.deepEqual(await offsetOf(wire, 7, -3), [0, 1, 9])
})

test('version 0 answers a list of offsets', async (t) => {
  const { wire } = await startBroker(t)
  await createTopic(wire, 't')
  await produceTo(wire, 't', batchOf('a', 'b'))
  const lists = await Promise.all([-1, -2].map((timestamp) => ask(wire, 0, [{ timestamp }])))
  assert.deepEqual(
    lists.map(([answer]) => answer?.oldStyleOffsets),
    [[2], [0]],
  )
})

test('the same partition twice is one answer, an error', async (t) => {
  const { wire } = await startBroker(t)
  await createTopic(wire, 't', { partitions: 2 })
  const wishes = [{ timestamp: -1 }, { timestamp: -2 }, { timestamp: -1, partitionIndex: 1 }]
  const answers = await ask(wire, 5, wishes)
  const told = answers.map(({ partitionIndex, errorCode }) => [partitionIndex, errorCode])
  assert.deepEqual(told, [
    [0, 42],
    [1, 0],
  ])
})

test('an unknown partition and a wrong leader epoch have their codes', async (t) => {
  const { wire } = await startBroker(t)
  await createTopic(wire, 't')
  const timestamp = -1
  const wishes = [
    { timestamp, currentLeaderEpoch: 0 },
    { timestamp, partitionIndex: 9 },
  ]
  assert.deepEqual(
    (await ask(wire, 5, wishes)).map(({ errorCode }) => errorCode),
    [0, 3],
  )
  assert.equal((await ask(wire, 5, [{ timestamp, currentLeaderEpoch: 5 }]))[0]?.errorCode, 75)
  assert.equal((await ask(wire, 5, [{ timestamp }], 'nix'))[0]?.errorCode, 3)
})

test('the leader epoch of the answer is that of the record', async (t) => {
  const { wire } = await startBroker(t)
  await createTopic(wire, 't')
  await produceTo(wire, 't', batchOf('a'))
  const [answer] = await ask(wire, 5, [{ timestamp: 1 }])
  assert.equal(answer?.leaderEpoch, 0)
})

test('a topic without partitions is left out, and an unknown isolation is no answer', async (t) => {
  const { wire } = await startBroker(t)
  await createTopic(wire, 't')
  const none = { replicaId: -1, topics: [{ name: 't', partitions: [] }] }
  assert.deepEqual((await wire.call(listOffsets, 7, none)).topics, [])
  const partitions = [{ partitionIndex: 0, timestamp: -1 }]
  for (const isolationLevel of [-1, 2]) {
    const body = { replicaId: -1, isolationLevel, topics: [{ name: 't', partitions }] }
    const { topics } = await wire.call(listOffsets, 7, body)
    assert.deepEqual(
      topics[0]?.partitions.map(({ errorCode, offset }) => [errorCode, offset]),
      [[-1, -1]],
    )
  }
})
