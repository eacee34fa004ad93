import assert from 'node:assert/strict'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { metadata } from '../../src/apis/metadata.js'
import { produce } from '../../src/apis/produce.js'
import { Broker } from '../../src/broker.js'
import { KafkaError, SeglogError } from '../../src/errors.js'
import { native } from '../../src/native.js'
import { buildBatch } from '../../src/records/encoder.js'
import { changed, damaged } from '../support/batches.js'
import {
  batchOf,
  createTopic,
  describeTopic,
  fetchFrom,
  produceTo,
  startBroker,
} from '../support/broker.js'
import { Wire } from '../support/wire.js'

const batch = batchOf('a', 'b')
const UNKNOWN_ID = 'AAAAAAAAAAAAAAAAAAAAAQ'

for (const acks of [1, -1]) {
  test(`acks=${acks} answers with the offset of the first record`, async (t) => {
    const { wire } = await startBroker(t)
    await createTopic(wire, 't')
    for (const baseOffset of [0, 2]) {
      const answer = await produceTo(wire, 't', batch, { acks })
      assert.equal(answer.errorCode, 0)
      assert.deepEqual([answer.baseOffset, answer.logStartOffset], [baseOffset, 0])
      assert.equal(answer.logAppendTimeMs, -1)
    }
  })
}

test('acks=0 has no answer, and the next request has its own', async (t) => {
  const { wire } = await startBroker(t)
  await createTopic(wire, 't')
  const topicData = [{ name: 't', partitionData: [{ index: 0, records: batch }] }]
  for (let i = 0; i < 50; i++) {
    wire.post(produce, 9, { acks: 0, timeoutMs: 100, topicData })
    assert.equal((await describeTopic(wire, 't')).errorCode, 0)
  }
  assert.equal((await fetchFrom(wire, 't', 0)).highWatermark, 100)
})

test('acks=0 with an error closes the connection, and others go on', async (t) => {
  const { broker, wire } = await startBroker(t)
  await createTopic(wire, 't')
  const topicData = [{ name: 't', partitionData: [{ index: 7, records: batch }] }]
  const other = await Wire.connect(t, broker.port)
  wire.post(produce, 9, { acks: 0, timeoutMs: 100, topicData })
  await wire.closed
  assert.equal((await produceTo(other, 't', batch)).errorCode, 0)
})

for (const acks of [2, 5, -2]) {
  test(`acks=${acks} is refused for each partition, with nothing appended`, async (t) => {
    const { wire } = await startBroker(t)
    await createTopic(wire, 't')
    const { errorCode } = await produceTo(wire, 't', batch, { acks })
    assert.equal(errorCode, KafkaError.INVALID_REQUIRED_ACKS)
    assert.equal((await fetchFrom(wire, 't', 0)).highWatermark, 0)
  })
}

const producerBatch = buildBatch([{ value: 'x' }], {
  producer: { id: 77, epoch: 0, baseSequence: -1 },
})
const text = (size: number) => batchOf('x'.repeat(size))
/** What is wrong, the bytes, and the codes that Kafka or the rules of the format allow. */
const faults: [string, Uint8Array | null, number[]][] = [
  ['null records', null, [87]],
  ['no bytes', new Uint8Array(0), [87]],
  ['two batches', Buffer.concat([batch, batch]), [87]],
  ['a bad CRC', damaged(batch), [2]],
  ['half a header', batch.subarray(0, 30), [2, 87]],
  ['a byte too few', batch.subarray(0, -1), [2, 87]],
  ['a negative length', changed(batch, (view) => view.setInt32(8, -3)), [2]],
  [
    'a length that is one too large',
    changed(batch, (view) => view.setInt32(8, batch.length - 11)),
    [2, 87],
  ],
  ['magic 0', changed(batch, (view) => view.setInt8(16, 0)), [87]],
  ['magic 1', changed(batch, (view) => view.setInt8(16, 1)), [87]],
  ['magic 3', changed(batch, (view) => view.setInt8(16, 3)), [2]],
  ['magic -1', changed(batch, (view) => view.setInt8(16, -1)), [2]],
  ['a base offset', changed(batch, (view) => view.setBigInt64(0, 5n)), [87]],
  ['a count of 0', changed(batch, (view) => view.setInt32(57, 0)), [2, 87]],
  ['a negative count', changed(batch, (view) => view.setInt32(57, -2)), [2, 87]],
  ['a count above what is there', changed(batch, (view) => view.setInt32(57, 3)), [2, 87]],
  [
    'a last offset delta that does not fit',
    changed(batch, (view) => view.setInt32(23, 7)),
    [2, 87],
  ],
  ['a key length of -2', changed(batch, (view) => view.setInt8(65, 3)), [2, 87]],
  ['a first offset delta of 1', changed(batch, (view) => view.setInt8(64, 2)), [2, 87]],
  ['an unknown codec', changed(batch, (view) => view.setInt16(21, 7)), [-1]],
  ['a control batch', buildBatch([{ value: 'x' }], { control: true }), [87]],
  [
    'a batch of a transaction',
    buildBatch([{ value: 'x' }], {
      transactional: true,
      producer: { id: 1, epoch: 0, baseSequence: 0 },
    }),
    [53],
  ],
  ['a producer without a sequence', producerBatch, [87]],
  ['more than max.message.bytes', text(1_048_588), [KafkaError.MESSAGE_TOO_LARGE]],
]

test('a faulty batch has its code, appends nothing, and harms no other', async (t) => {
  const { wire } = await startBroker(t)
  await createTopic(wire, 't', { partitions: 2 })
  for (const [i, [what, records, codes]] of faults.entries()) {
    const { responses } = await wire.call(produce, 9, {
      acks: -1,
      timeoutMs: 100,
      topicData: [
        {
          name: 't',
          partitionData: [
            { index: 0, records: records as Uint8Array },
            { index: 1, records: batch },
          ],
        },
      ],
    })
    const [bad, good] = responses[0]?.partitionResponses ?? []
    assert.ok(bad && codes.includes(bad.errorCode), `${what}: ${bad?.errorCode}`)
    assert.equal(bad.baseOffset, -1)
    assert.deepEqual([good?.errorCode, good?.baseOffset], [0, i * 2], what)
  }
  assert.equal((await fetchFrom(wire, 't', 0)).highWatermark, 0)
})

test('what is behind a batch and is no batch is not appended with it', async (t) => {
  const { wire } = await startBroker(t)
  await createTopic(wire, 't')
  for (const tailBytes of [1, 7, 61, 200]) {
    const sent = Buffer.concat([batch, Buffer.alloc(tailBytes, 0x7f)])
    assert.equal((await produceTo(wire, 't', sent)).errorCode, 0)
  }
  const { records } = await fetchFrom(wire, 't', 0)
  assert.equal(records?.length, batch.length * 4)
})

test('a repeated batch is told with the largest time of its records', async (t) => {
  const { wire } = await startBroker(t)
  await createTopic(wire, 't')
  const producer = { id: 7, epoch: 0, baseSequence: 0 }
  const sent = buildBatch([{ value: 'a' }, { value: 'b' }], { producer, timestamp: 1000 })
  assert.equal((await produceTo(wire, 't', sent)).logAppendTimeMs, -1)
  const { baseOffset, logAppendTimeMs } = await produceTo(wire, 't', sent)
  assert.deepEqual([baseOffset, logAppendTimeMs], [0, 1000])
})

test('the record that breaks a rule is named by its index', async (t) => {
  const { wire } = await startBroker(t)
  await createTopic(wire, 't')
  const wrong = changed(batchOf('a', 'b', 'c'), (view) => view.setInt8(61 + 8 + 3, 9 * 2))
  const answer = await produceTo(wire, 't', wrong)
  assert.equal(answer.errorCode, KafkaError.INVALID_RECORD)
  assert.equal(answer.recordErrors[0]?.batchIndex, 1)
})

test('a batch in the guise of a message is damage in versions 0 to 2', async (t) => {
  const { wire } = await startBroker(t)
  await createTopic(wire, 't')
  const old = changed(batch, (view) => view.setInt8(16, 1))
  for (const version of [0, 1, 2]) {
    const { errorCode } = await produceTo(wire, 't', old, { version })
    assert.equal(errorCode, KafkaError.CORRUPT_MESSAGE)
  }
})

test('unknown topics and partitions have the code of the version', async (t) => {
  const { wire } = await startBroker(t)
  const topicId = await createTopic(wire, 't')
  assert.equal((await produceTo(wire, 'nix', batch)).errorCode, 3)
  assert.equal((await produceTo(wire, 't', batch, { partition: 1 })).errorCode, 3)
  assert.equal((await produceTo(wire, 't', batch, { partition: -1 })).errorCode, 3)
  const byId = async (id: string, index: number) => {
    const topicData = [{ topicId: id, partitionData: [{ index, records: batch }] }]
    const { responses } = await wire.call(produce, 13, { acks: 1, timeoutMs: 100, topicData })
    assert.equal(responses[0]?.topicId, id)
    return responses[0].partitionResponses[0]?.errorCode
  }
  assert.equal(await byId(topicId, 0), 0)
  assert.equal(await byId(topicId, 1), KafkaError.UNKNOWN_TOPIC_OR_PARTITION)
  assert.equal(await byId(UNKNOWN_ID, 0), KafkaError.UNKNOWN_TOPIC_ID)
})

test('bytes come back as they were sent but for offset and leader epoch', async (t) => {
  const { wire } = await startBroker(t)
  await createTopic(wire, 't')
  await produceTo(wire, 't', batch)
  for (const epoch of [0, -1, 77]) {
    const sent = Buffer.from(batch)
    sent.writeInt32BE(epoch, 12)
    const { baseOffset } = await produceTo(wire, 't', sent)
    const { records } = await fetchFrom(wire, 't', baseOffset)
    assert.ok(records instanceof Uint8Array)
    const back = Buffer.from(records)
    assert.equal(back.readBigInt64BE(0), BigInt(baseOffset))
    assert.equal(back.readInt32BE(12), 0)
    assert.deepEqual(back.subarray(16), Buffer.from(batch).subarray(16))
  }
})

test('a producer that repeats its batch after a restart gets the first offset again', async (t) => {
  const { broker, wire } = await startBroker(t)
  const dataDir = broker.dataDirs[0]!
  await createTopic(wire, 't')
  const made = buildBatch([{ value: 'x' }], { producer: { id: 9, epoch: 0, baseSequence: 0 } })
  await produceTo(wire, 't', batch)
  assert.equal((await produceTo(wire, 't', made)).baseOffset, 2)
  await broker.close()
  const again = await startBroker(t, { dataDir })
  const { errorCode, baseOffset } = await produceTo(again.wire, 't', made)
  assert.deepEqual([errorCode, baseOffset], [0, 2])
  assert.equal((await fetchFrom(again.wire, 't', 0)).highWatermark, 3)
  await again.broker.close()
})

test('the first produce to a new topic succeeds, fifty times', async (t) => {
  const { wire } = await startBroker(t)
  for (let i = 0; i < 25; i++) {
    await createTopic(wire, `made-${i}`)
    assert.equal((await produceTo(wire, `made-${i}`, batch)).errorCode, 0)
    await wire.call(metadata, 9, { topics: [{ name: `auto-${i}` }] })
    assert.equal((await produceTo(wire, `auto-${i}`, batch)).errorCode, 0)
  }
})

test('with flush.messages a record is on the disk before it is acknowledged', async (t) => {
  const broker = await Broker.start({ port: 0 })
  const wire = await Wire.connect(t, broker.port)
  await createTopic(wire, 'synced', { configs: { 'flush.messages': '1' } })
  let synced = 0
  const original = native.segmentFlush
  t.after(() => {
    native.segmentFlush = original
  })
  native.segmentFlush = async (handle) => {
    await original.call(native, handle)
    synced++
  }
  for (let i = 1; i <= 3; i++) {
    assert.equal((await produceTo(wire, 'synced', batch)).errorCode, 0)
    assert.equal(synced, i)
  }
  native.segmentFlush = () => Promise.reject(new SeglogError('IO', 'the disk failed'))
  assert.equal((await produceTo(wire, 'synced', batch)).errorCode, KafkaError.KAFKA_STORAGE_ERROR)
  await assert.rejects(broker.close(), /the disk failed/)
})

test('segment.bytes of a topic holds, at once and after a restart', async (t) => {
  const { broker, wire } = await startBroker(t)
  const dataDir = broker.dataDirs[0]!
  const large = batchOf('x'.repeat(3000))
  await createTopic(wire, 't', { configs: { 'segment.bytes': '4000' } })
  const count = () =>
    readdirSync(join(dataDir, 't-0')).filter((name) => name.endsWith('.log')).length
  for (let i = 1; i <= 3; i++) {
    await produceTo(wire, 't', large)
    assert.equal(count(), i)
  }
  await broker.close()
  const again = await startBroker(t, { dataDir })
  await produceTo(again.wire, 't', large)
  assert.equal(count(), 4)
  await again.broker.close()
})

test('clients do not write to the topics of the brokers, but for the admin client', async (t) => {
  const { wire } = await startBroker(t)
  await createTopic(wire, '__consumer_offsets')
  const answer = await produceTo(wire, '__consumer_offsets', batch)
  assert.deepEqual([answer.errorCode, answer.baseOffset], [17, -1])
})

test('a compacted topic takes no record without a key, whatever the codec', async (t) => {
  const { wire } = await startBroker(t)
  await createTopic(wire, 't', { configs: { 'cleanup.policy': 'delete,compact' } })
  for (const compression of ['none', 'gzip'] as const) {
    const records = [{ key: 'k', value: 'a' }, { value: 'b' }]
    const answer = await produceTo(wire, 't', buildBatch(records, { compression }))
    assert.equal(answer.errorCode, KafkaError.INVALID_RECORD)
    assert.equal(answer.recordErrors[0]?.batchIndex, 1)
  }
  const keyed = await produceTo(wire, 't', buildBatch([{ key: 'k', value: 'a' }], {}))
  assert.deepEqual([keyed.errorCode, keyed.baseOffset], [0, 0])
})

test('zstd is known from version 7 on', async (t) => {
  const { wire } = await startBroker(t)
  await createTopic(wire, 't')
  const zstd = changed(batch, (view) => view.setInt16(21, 4))
  assert.equal((await produceTo(wire, 't', zstd, { version: 6 })).errorCode, 76)
})

test('of a partition that is named twice the last batch is appended alone', async (t) => {
  const { wire } = await startBroker(t)
  await createTopic(wire, 't')
  const data = (...values: string[]) => ({ index: 0, records: batchOf(...values) })
  const topicData = [
    { name: 't', partitionData: [data('a'), data('b', 'c')] },
    { name: 't', partitionData: [data('d', 'e', 'f')] },
  ]
  const { responses } = await wire.call(produce, 9, { acks: -1, timeoutMs: 1000, topicData })
  assert.equal(responses.length, 1)
  assert.equal(responses[0]?.partitionResponses.length, 1)
  assert.equal((await fetchFrom(wire, 't', 0)).highWatermark, 3)
})

test('the time of an append is told where the topic gives records their time', async (t) => {
  const { wire } = await startBroker(t)
  await createTopic(wire, 't', { configs: { 'message.timestamp.type': 'LogAppendTime' } })
  const beforeMs = Date.now()
  const { logAppendTimeMs } = await produceTo(wire, 't', batch)
  assert.ok(logAppendTimeMs >= beforeMs && logAppendTimeMs <= Date.now())
})

test('a record too far ahead of the clock is refused', async (t) => {
  const { wire } = await startBroker(t)
  await createTopic(wire, 't')
  const nowMs = Date.now()
  const records = [
    { value: 'a', timestamp: nowMs },
    { value: 'b', timestamp: nowMs + 3_700_000 },
  ]
  const ahead = await produceTo(wire, 't', buildBatch(records, {}))
  assert.equal(ahead.errorCode, KafkaError.INVALID_TIMESTAMP)
  assert.equal(ahead.recordErrors[0]?.batchIndex, 1)
  const soon = buildBatch([{ value: 'a' }], { timestamp: nowMs + 3_000_000 })
  assert.equal((await produceTo(wire, 't', soon)).errorCode, 0)
})

test('records that are not of the codec that they name are refused', async (t) => {
  const { wire } = await startBroker(t)
  await createTopic(wire, 't')
  for (const codec of [1, 3, 4]) {
    const wrong = changed(batch, (view) => view.setInt16(21, codec))
    const { errorCode, logStartOffset } = await produceTo(wire, 't', wrong)
    // Kafka's code for it, and the start of the log as where one had a look at it.
    assert.deepEqual([errorCode, logStartOffset], [KafkaError.UNKNOWN_SERVER_ERROR, 0])
  }
  for (const compression of ['gzip', 'snappy', 'zstd'] as const) {
    const right = buildBatch([{ value: 'a' }], { compression })
    assert.equal((await produceTo(wire, 't', right)).errorCode, 0)
  }
})
