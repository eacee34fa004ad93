/** OffsetCommit 0 and OffsetFetch 0, whose offsets lie in the coordination tree. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { offsetCommit } from '../../src/apis/offset-commit.js'
import { offsetFetch } from '../../src/apis/offset-fetch.js'
import { createTopic, startBroker } from '../support/broker.js'
import { temporaryDirectory } from '../support/tmp.js'
import type { Wire } from '../support/wire.js'

interface Commit {
  groupId?: string
  partitionIndex?: number
  committedOffset?: number
  committedMetadata?: string
}

async function commit(wire: Wire, version: number, { groupId = 'g', ...rest }: Commit = {}) {
  const offset = { partitionIndex: 0, committedOffset: 5, committedMetadata: 'note', ...rest }
  const topics = [{ name: 't', partitions: [offset] }]
  const answer = await wire.call(offsetCommit, version, { groupId, topics })
  return answer.topics[0]?.partitions[0]?.errorCode
}

async function fetched(wire: Wire, version: number, partitionIndex = 0, groupId = 'g') {
  const topics = [{ name: 't', partitionIndexes: [partitionIndex] }]
  const answer = await wire.call(offsetFetch, version, { groupId, topics })
  const { committedOffset, errorCode, metadata } = answer.topics[0]?.partitions[0] ?? {}
  return [committedOffset, errorCode, metadata]
}

test('an offset lies in the tree, where tools look for it, and outlasts a restart', async (t) => {
  const dataDir = temporaryDirectory(t)
  const { broker, wire } = await startBroker(t, { dataDir })
  await createTopic(wire, 't')
  assert.equal(await commit(wire, 0, { committedOffset: 4 }), 0)
  assert.equal(await commit(wire, 0), 0)
  await broker.close()
  const tree = JSON.parse(readFileSync(join(dataDir, 'seglog-coordination.json'), 'utf8'))
  assert.equal(tree.znodes['/consumers/g/offsets/t/0'].data, '5')
  const again = await startBroker(t, { dataDir })
  assert.deepEqual(await fetched(again.wire, 0), [5, 0, ''])
})

test('version 0 and later ones know nothing of each other', async (t) => {
  const { wire } = await startBroker(t)
  await createTopic(wire, 't')
  assert.equal(await commit(wire, 0), 0)
  assert.deepEqual(await fetched(wire, 1), [-1, 0, ''])
  assert.equal(await commit(wire, 2, { committedOffset: 9 }), 0)
  assert.deepEqual(await fetched(wire, 0), [5, 0, ''])
  assert.deepEqual(await fetched(wire, 1), [9, 0, 'note'])
})

test('where nothing was committed, version 0 says that the partition is unknown', async (t) => {
  const { wire } = await startBroker(t)
  await createTopic(wire, 't')
  assert.deepEqual(await fetched(wire, 0), [-1, 3, ''])
  assert.deepEqual(await fetched(wire, 0, 9), [-1, 3, ''])
})

test('a commit that is refused leaves nothing', async (t) => {
  const { wire } = await startBroker(t)
  await createTopic(wire, 't')
  assert.equal(await commit(wire, 0, { partitionIndex: 9 }), 3)
  assert.equal(await commit(wire, 0, { committedMetadata: 'm'.repeat(4097) }), 12)
  assert.equal(await commit(wire, 0, { committedOffset: Number.MAX_SAFE_INTEGER }), 1)
  for (const groupId of ['', '..', 'a/b']) {
    assert.equal(await commit(wire, 0, { groupId }), 24)
    assert.deepEqual(await fetched(wire, 0, 0, groupId), [-1, 3, ''])
  }
  assert.deepEqual(await fetched(wire, 0), [-1, 3, ''])
})
