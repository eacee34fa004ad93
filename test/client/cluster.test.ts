import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Cluster } from '../../src/client/cluster.js'
import { listOffsets, OffsetSpec } from '../../src/client/offsets.js'
import { batchOf, createTopic, produceTo, startBroker } from '../support/broker.js'

const nowhere = { host: '127.0.0.1', port: 1 }

/** A client of a fresh broker; the address before its own leads nowhere. */
async function clusterOf(t: Parameters<typeof startBroker>[0]) {
  const { broker, wire } = await startBroker(t)
  const address = { host: '127.0.0.1', port: broker.port }
  const cluster = new Cluster({ bootstrap: [nowhere, address] })
  t.after(() => cluster.close())
  return { broker, wire, cluster }
}

test('a bootstrap address that is dead is passed over', async (t) => {
  const { broker, wire, cluster } = await clusterOf(t)
  await createTopic(wire, 'b', { partitions: 2 })
  await createTopic(wire, 'a')
  const metadata = await cluster.metadata(null)
  assert.equal(metadata.clusterId, broker.clusterId)
  assert.deepEqual(
    metadata.topics.map(({ name, partitions }) => [name, partitions.length]),
    [
      ['a', 1],
      ['b', 2],
    ],
  )
  assert.equal(await cluster.leaderOf('b', 1), broker.brokerId)
})

test('where all are dead, the first one is named', async () => {
  const cluster = new Cluster({ bootstrap: [nowhere, { host: '127.0.0.1', port: 2 }] })
  await assert.rejects(cluster.metadata(null), { code: 'DISCONNECTED', message: /^127.0.0.1:1: / })
})

test('asking for a topic does not make it, unless that is asked for', async (t) => {
  const { cluster } = await clusterOf(t)
  await assert.rejects(cluster.topic('new'), { kafkaName: 'UNKNOWN_TOPIC_OR_PARTITION' })
  assert.deepEqual((await cluster.metadata(null)).topics, [])
  await cluster.metadata(['new'], { create: true })
  assert.equal((await cluster.topic('new')).partitions.length, 1)
})

test('a topic is asked for once, until it is forgotten', async (t) => {
  const { wire, cluster } = await clusterOf(t)
  await createTopic(wire, 't')
  const first = await cluster.topic('t')
  assert.equal(await cluster.topic('t'), first)
  cluster.forgetTopic('t')
  assert.notEqual(await cluster.topic('t'), first)
})

test('a partition that is not there has no leader', async (t) => {
  const { wire, cluster } = await clusterOf(t)
  await createTopic(wire, 't')
  await assert.rejects(cluster.leaderOf('t', 1), {
    message: 'partition 1 of t: UNKNOWN_TOPIC_OR_PARTITION',
  })
})

test('a connection that broke is made anew', async (t) => {
  const { broker, cluster } = await clusterOf(t)
  const first = await cluster.connection(broker.brokerId)
  first.close()
  const second = await cluster.connection(broker.brokerId)
  assert.notEqual(second, first)
  assert.equal(second.closed, false)
})

test('after close nothing is sent any more', async (t) => {
  const { cluster } = await clusterOf(t)
  await cluster.metadata(null)
  await cluster.close()
  await assert.rejects(cluster.metadata(null), { code: 'CLOSED' })
})

test('offsets come in the order in which they were asked for', async (t) => {
  const { wire, cluster } = await clusterOf(t)
  await createTopic(wire, 't', { partitions: 2 })
  await produceTo(wire, 't', batchOf('a', 'b'), { partition: 1 })
  const wishes = [
    { topic: 't', partition: 1, timestamp: OffsetSpec.LATEST },
    { topic: 't', partition: 0, timestamp: OffsetSpec.LATEST },
    { topic: 't', partition: 1, timestamp: 1_700_000_000_001 },
  ]
  const found = await listOffsets(cluster, wishes.slice(0, 2))
  assert.deepEqual(
    found.map(({ offset }) => offset),
    [2, 0],
  )
  assert.equal((await listOffsets(cluster, wishes.slice(2)))[0]?.offset, -1)
})
