/** The sender of batches and the reader of partitions, each against a broker. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Cluster } from '../../src/client/cluster.js'
import { PartitionReader } from '../../src/client/partition-reader.js'
import { RecordSender } from '../../src/client/record-sender.js'
import { iterateRecords } from '../../src/records/index.js'
import { createTopic, fetchFrom, startBroker } from '../support/broker.js'

async function scene(t: Parameters<typeof startBroker>[0]) {
  const { broker, wire } = await startBroker(t)
  await createTopic(wire, 't', { partitions: 2 })
  const cluster = new Cluster({ bootstrap: [{ host: '127.0.0.1', port: broker.port }] })
  t.after(() => cluster.close())
  const sender = (acks: 0 | 1 | -1) =>
    new RecordSender(cluster, { acks, compression: 'none', deliveryTimeoutMs: 5000 })
  return { broker, wire, cluster, sender }
}

test('batches are stored in their order, and the sender tells where', async (t) => {
  const { wire, sender } = await scene(t)
  const own = sender(-1)
  assert.deepEqual(await own.send('t', 1, [{ value: 'a' }, { value: 'b' }]), {
    baseOffset: 0,
    lastOffset: 1,
  })
  assert.deepEqual(await own.send('t', 1, [{ value: 'c' }]), { baseOffset: 2, lastOffset: 2 })
  assert.equal((await fetchFrom(wire, 't', 0, { partition: 1 })).highWatermark, 3)
})

test('a connection that broke between two batches stops nothing', async (t) => {
  const { broker, cluster, sender } = await scene(t)
  const own = sender(-1)
  await own.send('t', 0, [{ value: 'a' }])
  ;(await cluster.connection(broker.brokerId)).close()
  assert.deepEqual(await own.send('t', 0, [{ value: 'b' }]), { baseOffset: 1, lastOffset: 1 })
})

test('with acks=0 nothing is told, and all is there behind the close', async (t) => {
  const { wire, cluster, sender } = await scene(t)
  const own = sender(0)
  for (let i = 0; i < 50; i++) assert.equal(await own.send('t', 0, [{ value: 'a' }]), undefined)
  await cluster.close()
  let end = 0
  for (let i = 0; i < 200 && end < 50; i++) end = (await fetchFrom(wire, 't', 0)).highWatermark
  assert.equal(end, 50)
})

test('a batch that is refused is told, and not sent again', async (t) => {
  const { wire, sender } = await scene(t)
  const value = Buffer.alloc(2 * 1024 * 1024)
  await assert.rejects(sender(1).send('t', 0, [{ value }]), { kafkaName: 'MESSAGE_TOO_LARGE' })
  assert.equal((await fetchFrom(wire, 't', 0)).highWatermark, 0)
})

test('what is read begins at the position, also within a batch', async (t) => {
  const { cluster, sender } = await scene(t)
  await sender(1).send('t', 0, [{ value: 'a' }, { value: 'b' }, { value: 'c' }])
  const reader = new PartitionReader(cluster)
  const from = reader.add('t', 0, 1)
  const [fetched, ...more] = await reader.poll(100)
  assert.equal(more.length, 0)
  assert.equal(fetched?.from, from)
  assert.equal(from.highWatermark, 3)
  const records = [...iterateRecords(fetched.batch)]
  assert.deepEqual(
    records.map(({ offset }) => offset),
    [0, 1, 2],
  )
})

test('a poll at the end waits for what comes', async (t) => {
  const { cluster, sender } = await scene(t)
  const reader = new PartitionReader(cluster)
  reader.add('t', 0, 0)
  const polled = reader.poll(5000)
  await sender(1).send('t', 0, [{ value: 'a' }])
  assert.equal((await polled).length, 1)
})

test('a position outside of the log is told with the partition', async (t) => {
  const { cluster } = await scene(t)
  const reader = new PartitionReader(cluster)
  reader.add('t', 1, 7)
  await assert.rejects(reader.poll(100), {
    kafkaName: 'OFFSET_OUT_OF_RANGE',
    message: 'partition 1 of t at offset 7: OFFSET_OUT_OF_RANGE',
  })
})
