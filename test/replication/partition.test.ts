import assert from 'node:assert/strict'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { BrokerConfig, TopicConfig } from '../../src/config.js'
import { KafkaError } from '../../src/errors.js'
import { buildBatch } from '../../src/records/encoder.js'
import { Partition } from '../../src/replication/partition.js'
import { NOW, open as openLog } from '../storage/log-fixture.js'
import { changed, damaged } from '../support/batches.js'
import { temporaryDirectory } from '../support/tmp.js'

async function open(
  t: TestContext,
  { directory = join(temporaryDirectory(t), 't-0'), given = {} as Record<string, string> } = {},
) {
  const config = TopicConfig.parse(given, BrokerConfig.parse({}, assert.fail))
  return new Partition('t', 0, await openLog(t, directory, { segmentBytes: 4096 }), config, 5)
}

const plain = buildBatch([{ value: 'a' }, { value: 'b' }])

/** The batch of a producer, as it sends it. */
function made(baseSequence: number, { count = 1, epoch = 0, id = 7 } = {}): Uint8Array {
  const records = Array.from({ length: count }, (_, i) => ({ value: `${baseSequence + i}` }))
  return buildBatch(records, { producer: { id, epoch, baseSequence } })
}

/**
 * The offset that a batch got, or its error as a number below 0. The bytes are stamped, so a copy
 * goes in.
 */
const produce = (partition: Partition, bytes: Uint8Array) => {
  const { errorCode, baseOffset } = partition.append(Uint8Array.from(bytes), NOW)
  return errorCode === KafkaError.NONE ? baseOffset : -errorCode
}

test('the high watermark follows the log of the only replica', async (t) => {
  const partition = await open(t)
  assert.equal(partition.highWatermark, 0)
  assert.equal(produce(partition, plain), 0)
  assert.equal(partition.highWatermark, 2)
  assert.equal(partition.read(0, 1 << 20)?.sizeBytes, plain.length)
})

test('the leader epoch is stamped on what is appended', async (t) => {
  const partition = await open(t)
  produce(partition, plain)
  const bytes = partition.read(0, 1)?.bytes()
  assert.ok(bytes)
  assert.equal(new DataView(bytes.buffer).getInt32(12), 5)
})

test('a batch at max.message.bytes is taken, one above is not', async (t) => {
  const at = await open(t, { given: { 'max.message.bytes': String(plain.length) } })
  assert.equal(produce(at, plain), 0)
  const below = await open(t, { given: { 'max.message.bytes': String(plain.length - 1) } })
  assert.equal(produce(below, plain), -KafkaError.MESSAGE_TOO_LARGE)
})

test('a repeated batch is answered with its first offset and not appended again', async (t) => {
  const partition = await open(t)
  for (let sequence = 0; sequence < 6; sequence++)
    assert.equal(produce(partition, made(sequence)), sequence)
  for (const sequence of [5, 4, 3, 2, 1]) assert.equal(produce(partition, made(sequence)), sequence)
  assert.equal(produce(partition, made(0)), -KafkaError.OUT_OF_ORDER_SEQUENCE_NUMBER)
  assert.equal(partition.highWatermark, 6)
})

test('a repeat of another length is none', async (t) => {
  const partition = await open(t)
  produce(partition, made(0, { count: 2 }))
  assert.equal(produce(partition, made(0)), -KafkaError.OUT_OF_ORDER_SEQUENCE_NUMBER)
})

test('a gap in the sequence is refused, and what follows without one is not', async (t) => {
  const partition = await open(t)
  assert.equal(produce(partition, made(10)), 0)
  assert.equal(produce(partition, made(12)), -KafkaError.OUT_OF_ORDER_SEQUENCE_NUMBER)
  assert.equal(produce(partition, made(11)), 1)
})

test('an older epoch is refused, a newer one begins at 0', async (t) => {
  const partition = await open(t)
  produce(partition, made(0, { epoch: 1 }))
  assert.equal(produce(partition, made(1, { epoch: 0 })), -KafkaError.INVALID_PRODUCER_EPOCH)
  assert.equal(produce(partition, made(3, { epoch: 2 })), -KafkaError.OUT_OF_ORDER_SEQUENCE_NUMBER)
  assert.equal(produce(partition, made(0, { epoch: 2 })), 1)
})

test('a damaged batch is damaged, whatever its sequence says', async (t) => {
  const partition = await open(t)
  produce(partition, made(0))
  for (const sequence of [0, 1, 9]) {
    assert.equal(produce(partition, damaged(made(sequence))), -KafkaError.CORRUPT_MESSAGE)
  }
  assert.equal(produce(partition, made(1)), 1)
})

test('a batch that is refused leaves the producer as it was', async (t) => {
  const partition = await open(t)
  produce(partition, made(0))
  const wrong = changed(made(1), (view) => view.setInt32(57, 5))
  assert.equal(produce(partition, wrong), -KafkaError.INVALID_RECORD)
  assert.equal(produce(partition, made(1)), 1)
})

test('a producer without a sequence is refused', async (t) => {
  const partition = await open(t)
  assert.equal(produce(partition, made(-1)), -KafkaError.INVALID_RECORD)
})

test('a batch for a closed log is a storage error', async (t) => {
  const partition = await open(t)
  await partition.close()
  assert.equal(produce(partition, plain), -KafkaError.KAFKA_STORAGE_ERROR)
})

test('a repeat is known after the log was opened again', async (t) => {
  const directory = join(temporaryDirectory(t), 't-0')
  const first = await open(t, { directory })
  produce(first, plain)
  produce(first, made(0, { count: 3 }))
  await first.close()
  const again = await open(t, { directory })
  assert.equal(produce(again, made(0, { count: 3 })), 2)
  assert.equal(again.highWatermark, 5)
  assert.equal(produce(again, made(3)), 5)
})

test('watchers hear of each append until they leave, and of the end', async (t) => {
  const partition = await open(t)
  const heard: (number | string)[] = []
  const watcher = { appended: (size: number) => heard.push(size), gone: () => heard.push('gone') }
  partition.watch(watcher)
  produce(partition, plain)
  produce(partition, damaged(plain))
  partition.unwatch(watcher)
  produce(partition, plain)
  partition.watch(watcher)
  await partition.close()
  assert.deepEqual(heard, [plain.length, 'gone'])
  assert.equal(partition.watchers, 0)
})

test('a watcher may leave while it is told', async (t) => {
  const partition = await open(t)
  let told = 0
  for (let i = 0; i < 5; i++) {
    const watcher = {
      appended: () => {
        told++
        partition.unwatch(watcher)
      },
      gone: () => assert.fail(),
    }
    partition.watch(watcher)
  }
  produce(partition, plain)
  produce(partition, plain)
  assert.deepEqual([told, partition.watchers], [5, 0])
})
