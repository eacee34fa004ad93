import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { deleteRecords } from '../../src/apis/delete-records.js'
import { listOffsets } from '../../src/apis/list-offsets.js'
import { batchOf, createTopic, fetchFrom, produceTo, startBroker } from '../support/broker.js'
import { temporaryDirectory } from '../support/tmp.js'
import type { Wire } from '../support/wire.js'

async function start(t: TestContext, configs: Record<string, string> = {}) {
  const { wire } = await startBroker(t)
  await createTopic(wire, 't', { configs })
  await produceTo(wire, 't', batchOf('a', 'b', 'c', 'd', 'e'))
  return wire
}

async function trim(wire: Wire, offset: number, name = 't', partitionIndex = 0, version = 2) {
  const topics = [{ name, partitions: [{ partitionIndex, offset }] }]
  const answer = await wire.call(deleteRecords, version, { topics, timeoutMs: 1000 })
  const { errorCode, lowWatermark } = answer.topics[0]?.partitions[0] ?? assert.fail()
  return [errorCode, lowWatermark]
}

async function earliest(wire: Wire) {
  const topics = [{ name: 't', partitions: [{ partitionIndex: 0, timestamp: -2 }] }]
  const answer = await wire.call(listOffsets, 7, { replicaId: -1, topics })
  return answer.topics[0]?.partitions[0]?.offset
}

test('records below an offset are gone at once', async (t) => {
  const wire = await start(t)
  for (const version of [0, 1, 2]) {
    assert.deepEqual(await trim(wire, version + 1, 't', 0, version), [0, version + 1])
  }
  assert.equal(await earliest(wire), 3)
  assert.equal((await fetchFrom(wire, 't', 2)).errorCode, 1)
  assert.equal((await fetchFrom(wire, 't', 3)).errorCode, 0)
})

test('-1 means all that there is, and the next record goes on from there', async (t) => {
  const wire = await start(t)
  assert.deepEqual(await trim(wire, -1), [0, 5])
  assert.equal((await produceTo(wire, 't', batchOf('f'))).baseOffset, 5)
  assert.equal(await earliest(wire), 5)
})

test('an offset below the start changes nothing', async (t) => {
  const wire = await start(t)
  await trim(wire, 3)
  assert.deepEqual(await trim(wire, 1), [0, 3])
})

test('an offset above the end, or below -1, is out of range', async (t) => {
  const wire = await start(t)
  for (const offset of [6, -2, Number.MAX_SAFE_INTEGER]) {
    assert.deepEqual(await trim(wire, offset), [1, -1])
  }
  assert.equal(await earliest(wire), 0)
})

test('a topic that is compacted alone keeps its records', async (t) => {
  const wire = await start(t, { 'cleanup.policy': 'compact' })
  assert.deepEqual(await trim(wire, 0), [44, -1])
})

test('what is not there is unknown, and internal topics are not to be trimmed', async (t) => {
  const wire = await start(t)
  assert.deepEqual(await trim(wire, 0, 'nix'), [3, -1])
  assert.deepEqual(await trim(wire, 0, 't', 1), [3, -1])
  await createTopic(wire, '__consumer_offsets')
  assert.deepEqual(await trim(wire, 0, '__consumer_offsets'), [17, -1])
})

test('the start outlasts a restart', async (t) => {
  const dataDir = temporaryDirectory(t)
  const { broker, wire } = await startBroker(t, { dataDir })
  await createTopic(wire, 't')
  await produceTo(wire, 't', batchOf('a', 'b', 'c'))
  assert.deepEqual(await trim(wire, 2), [0, 2])
  await broker.close()
  const again = await startBroker(t, { dataDir })
  assert.equal(await earliest(again.wire), 2)
})
