import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { offsetForLeaderEpoch } from '../../src/apis/offset-for-leader-epoch.js'
import { buildBatch } from '../../src/records/encoder.js'
import { open } from '../storage/log-fixture.js'
import { batchOf, createTopic, produceTo, startBroker } from '../support/broker.js'
import { temporaryDirectory } from '../support/tmp.js'
import type { Wire } from '../support/wire.js'

async function ask(
  wire: Wire,
  leaderEpoch: number,
  { currentLeaderEpoch = -1, partition = 0, topic = 't', version = 4 } = {},
) {
  const topics = [{ topic, partitions: [{ partition, currentLeaderEpoch, leaderEpoch }] }]
  const answer = await wire.call(offsetForLeaderEpoch, version, { replicaId: -1, topics })
  const found = answer.topics[0]?.partitions[0]
  return [found?.errorCode, found?.leaderEpoch, found?.endOffset]
}

test('the one epoch ends where the log does', async (t) => {
  const { wire } = await startBroker(t)
  await createTopic(wire, 't')
  await produceTo(wire, 't', batchOf('a', 'b'))
  for (const version of [1, 2, 3, 4]) assert.deepEqual(await ask(wire, 0, { version }), [0, 0, 2])
})

test('an epoch that was not yet has no end, which is no error', async (t) => {
  const { wire } = await startBroker(t)
  await createTopic(wire, 't')
  for (const epoch of [-1, 1, 0x7fffffff]) assert.deepEqual(await ask(wire, epoch), [0, -1, -1])
})

test('who believes in a later leader is told that it is not known', async (t) => {
  const { wire } = await startBroker(t)
  await createTopic(wire, 't')
  assert.deepEqual(await ask(wire, 0, { currentLeaderEpoch: 0 }), [0, 0, 0])
  assert.deepEqual(await ask(wire, 0, { currentLeaderEpoch: 1 }), [75, -1, -1])
})

test('what is not there is unknown', async (t) => {
  const { wire } = await startBroker(t)
  await createTopic(wire, 't')
  assert.deepEqual(await ask(wire, 0, { topic: 'nix' }), [3, -1, -1])
  assert.deepEqual(await ask(wire, 0, { partition: 7 }), [3, -1, -1])
})

test('epochs of another leader that wrote the log end where the next one began', async (t) => {
  const dataDir = temporaryDirectory(t)
  const log = await open(t, join(dataDir, 't-0'))
  for (const [leaderEpoch, baseOffset] of [
    [3, 0],
    [3, 1],
    [5, 2],
  ] as const) {
    const batch = buildBatch([{ value: 'a' }], { leaderEpoch, baseOffset })
    assert.equal(log.appendFromLeader(batch, 0, batch.length), baseOffset)
  }
  await log.close()
  const { wire } = await startBroker(t, { dataDir })
  assert.deepEqual(await ask(wire, 3), [0, 3, 2])
  assert.deepEqual(await ask(wire, 4), [0, 3, 2])
  assert.deepEqual(await ask(wire, 5), [0, 5, 3])
  assert.deepEqual(await ask(wire, 6), [0, -1, -1])
})
