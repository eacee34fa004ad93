/**
 * What kafkajs, the client that most users of Node.js have, sees of the broker; and that it and
 * librdkafka read each other's records. Of itself kafkajs knows no codec but gzip; the others are
 * lent to it from seglog, whose codecs are so judged by librdkafka's.
 */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import kafkajs, { type EachMessagePayload, type KafkaMessage } from 'kafkajs'
import { codecNamed } from '../../src/records/compression.js'
import { startBroker, type TestBroker, until } from './harness.js'
import { accessLog } from './lines.js'
import { prepare } from './prepare.js'
import { consumeAll, consumeLines, kcat } from './strangers.js'

const { CompressionCodecs, CompressionTypes, Kafka, logLevel, Partitioners } = kafkajs
const limit = { timeout: 60_000 }
const lines = accessLog(5_000).toString().split('\n').slice(0, -1)
const codecs = [
  ['none', CompressionTypes.None],
  ['gzip', CompressionTypes.GZIP],
  ['snappy', CompressionTypes.Snappy],
  ['lz4', CompressionTypes.LZ4],
  ['zstd', CompressionTypes.ZSTD],
] as const
let broker: TestBroker
let kafka: kafkajs.Kafka

before(async () => {
  await prepare()
  broker = await startBroker()
  kafka = new Kafka({ brokers: [broker.bootstrap], logLevel: logLevel.NOTHING })
})
after(() => broker.stop())

for (const [name, type] of codecs.slice(2)) {
  const codec = codecNamed(name)
  const lent = {
    compress: async ({ buffer }: { buffer: Buffer }) => Buffer.from(codec.compress(buffer)),
    decompress: async (bytes: Buffer) => Buffer.from(codec.decompress(bytes, 1 << 26)),
  }
  Object.assign(CompressionCodecs, { [type]: () => lent })
}

async function produce(
  topic: string,
  values: readonly (string | null)[],
  compression: kafkajs.CompressionTypes = CompressionTypes.None,
): Promise<void> {
  const producer = kafka.producer({ createPartitioner: Partitioners.DefaultPartitioner })
  await producer.connect()
  for (let at = 0; at < values.length; at += 500) {
    const messages = values.slice(at, at + 500).map((value) => ({ value }))
    await producer.send({ topic, compression, messages })
  }
  await producer.disconnect()
}

/** The first `count` messages that a new group gets of a topic. */
async function consume(topic: string, count: number): Promise<KafkaMessage[]> {
  const consumer = kafka.consumer({ groupId: `readers-of-${topic}`, maxWaitTimeInMs: 100 })
  const got: KafkaMessage[] = []
  await consumer.connect()
  await consumer.subscribe({ topic, fromBeginning: true })
  await consumer.run({
    eachMessage: async ({ message }: EachMessagePayload) => {
      got.push(message)
    },
  })
  await until(`${count} messages of ${topic}`, () => got.length >= count, 30_000)
  await consumer.disconnect()
  return got
}

const values = (messages: KafkaMessage[]) => messages.map(({ value }) => value?.toString() ?? null)

for (const [name, compression] of codecs) {
  test(`what kafkajs sends with ${name}, kcat reads`, limit, async () => {
    await produce(`js-${name}`, lines, compression)
    assert.deepEqual(await consumeLines(broker.bootstrap, `js-${name}`), lines)
  })

  test(`what kcat sends with ${name}, a group of kafkajs reads`, limit, async () => {
    const args = ['-P', '-t', `cat-${name}`, '-z', name]
    await kcat(broker.bootstrap, args, { input: `${lines.join('\n')}\n` })
    assert.deepEqual(values(await consume(`cat-${name}`, lines.length)), lines)
  })
}

test('headers, keys, nulls and times pass from kafkajs to kafkajs', limit, async () => {
  const producer = kafka.producer({ createPartitioner: Partitioners.DefaultPartitioner })
  const time = Date.now() - 60_000
  await producer.connect()
  await producer.send({
    topic: 'rich',
    messages: [
      { key: 'k', value: 'v', headers: { a: 'ä', b: ['1', '2'] }, timestamp: String(time) },
      { key: 'gone', value: null },
      { key: null, value: '' },
    ],
  })
  await producer.disconnect()
  const [first, second, third] = await consume('rich', 3)
  assert.equal(first?.key?.toString(), 'k')
  assert.equal(first?.timestamp, String(time))
  assert.equal(first?.headers?.a?.toString(), 'ä')
  assert.deepEqual(first?.headers?.b?.toString(), '1,2')
  assert.equal(second?.value, null)
  assert.equal(third?.key, null)
  assert.equal(third?.value?.length, 0)
})

test('an idempotent producer of kafkajs is served', limit, async () => {
  const producer = kafka.producer({
    idempotent: true,
    createPartitioner: Partitioners.DefaultPartitioner,
  })
  await producer.connect()
  for (const value of ['a', 'b', 'c']) {
    await producer.send({ topic: 'once', messages: [{ value }] })
  }
  await producer.disconnect()
  assert.deepEqual(await consumeLines(broker.bootstrap, 'once'), ['a', 'b', 'c'])
})

test('topics are made, listed, measured and deleted', limit, async () => {
  const admin = kafka.admin()
  await admin.connect()
  const made = await admin.createTopics({ topics: [{ topic: 'made', numPartitions: 3 }] })
  const again = await admin.createTopics({ topics: [{ topic: 'made', numPartitions: 3 }] })
  assert.deepEqual([made, again], [true, false])
  assert.ok((await admin.listTopics()).includes('made'))
  await kcat(broker.bootstrap, ['-P', '-t', 'made', '-p', '1'], { input: 'x\ny\n' })
  const offsets = await admin.fetchTopicOffsets('made')
  offsets.sort((a, b) => a.partition - b.partition)
  assert.deepEqual(
    offsets.map(({ high, low }) => [low, high]),
    [
      ['0', '0'],
      ['0', '2'],
      ['0', '0'],
    ],
  )
  await admin.deleteTopics({ topics: ['made'] })
  await until('deletion', async () => !(await admin.listTopics()).includes('made'))
  await admin.disconnect()
})

test('a second consumer takes its share of a group and the first goes on', limit, async () => {
  const admin = kafka.admin()
  await admin.connect()
  await admin.createTopics({ topics: [{ topic: 'shared', numPartitions: 2 }] })
  await admin.disconnect()
  const got = new Map<string, Set<number>>()
  const join = async (name: string) => {
    const quick = { heartbeatInterval: 300, maxWaitTimeInMs: 100 }
    const consumer = kafka.consumer({ groupId: 'sharers', ...quick })
    consumer.on('consumer.group_join', ({ payload }) => {
      got.set(name, new Set(payload.memberAssignment.shared ?? []))
    })
    await consumer.connect()
    await consumer.subscribe({ topic: 'shared' })
    await consumer.run({ eachMessage: async () => {} })
    return consumer
  }
  const first = await join('first')
  await until('first assignment', () => got.get('first')?.size === 2)
  const second = await join('second')
  const sizes = () => [got.get('first')?.size, got.get('second')?.size].join()
  await until('an even share', () => sizes() === '1,1', 30_000)
  await second.disconnect()
  await until('all back with the first', () => got.get('first')?.size === 2, 30_000)
  await first.disconnect()
})

test('a group goes on after the last offset that it committed', limit, async () => {
  await produce('resumed', ['0', '1', '2'])
  assert.equal((await consume('resumed', 3)).length, 3)
  await produce('resumed', ['3', '4'])
  assert.deepEqual(values(await consume('resumed', 2)), ['3', '4'])
})

test('a reader of kcat in a group is served', limit, async () => {
  await produce('grouped', ['a', 'b'])
  const args = ['-X', 'auto.offset.reset=earliest', '-c', '2', '-q', '-G', 'cats', 'grouped']
  assert.equal((await kcat(broker.bootstrap, args)).text, 'a\nb\n')
  assert.equal((await consumeAll(broker.bootstrap, 'grouped')).toString(), 'a\nb\n')
})
