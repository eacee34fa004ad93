/** The driver of kafkajs: gzip is its own, snappy and lz4 are plug-ins of others. */
import { randomUUID } from 'node:crypto'
import type * as KafkaJs from 'kafkajs'
import { codecNamed } from '../../../../src/records/compression.js'
import { bootstrap, foreign, serve, sleep, tell, tellAssigned } from './serve.js'

const kafkajs = (await foreign('kafkajs')) as typeof KafkaJs
const { CompressionCodecs, CompressionTypes, Kafka, logLevel, Partitioners } = kafkajs
const Lz4 = (await foreign('@2l/kafkajs-lz4')) as new () => { codec: () => unknown }

// The plug-in for zstd compiles an addon that Node.js of today refuses: seglog lends its codec.
const zstd = {
  compress: async ({ buffer }: { buffer: Buffer }) =>
    Buffer.from(codecNamed('zstd').compress(buffer)),
  decompress: async (bytes: Buffer) => Buffer.from(codecNamed('zstd').decompress(bytes, 1 << 26)),
}
Object.assign(CompressionCodecs, {
  [CompressionTypes.Snappy]: await foreign('kafkajs-snappy'),
  [CompressionTypes.LZ4]: new Lz4().codec,
  [CompressionTypes.ZSTD]: () => zstd,
})
const types: Readonly<Record<string, KafkaJs.CompressionTypes>> = {
  gzip: CompressionTypes.GZIP,
  snappy: CompressionTypes.Snappy,
  lz4: CompressionTypes.LZ4,
  zstd: CompressionTypes.ZSTD,
}

const retry = { retries: 30, initialRetryTime: 100, maxRetryTime: 1000 }
const kafka = new Kafka({ brokers: [bootstrap], logLevel: logLevel.ERROR, retry })
const admin = kafka.admin()
const producer = kafka.producer({
  idempotent: true,
  createPartitioner: Partitioners.DefaultPartitioner,
})
await admin.connect()
await producer.connect()

let member: KafkaJs.Consumer | undefined
let memberTopic = ''
const positions = new Map<number, string>()

function consumer(groupId: string): KafkaJs.Consumer {
  return kafka.consumer({
    groupId,
    maxWaitTimeInMs: 100,
    sessionTimeout: 6000,
    heartbeatInterval: 500,
    retry,
  })
}

async function consume(topic: string): Promise<void> {
  const ends = await admin.fetchTopicOffsets(topic)
  const wanted = ends.reduce((sum, { high }) => sum + Number(high), 0)
  const reader = consumer(`reader-${randomUUID()}`)
  let count = 0
  await reader.connect()
  await reader.subscribe({ topic, fromBeginning: true })
  await reader.run({
    autoCommit: false,
    eachMessage: async ({ partition, message: { offset, key, value } }) => {
      tell(partition, offset, key, value)
      count += 1
    },
  })
  while (count < wanted) await sleep(20)
  await reader.disconnect()
}

async function join(group: string, topic: string): Promise<void> {
  member = consumer(group)
  memberTopic = topic
  member.on('consumer.group_join', ({ payload }) => {
    tellAssigned(payload.memberAssignment[topic] ?? [])
  })
  await member.connect()
  await member.subscribe({ topic, fromBeginning: true })
  await member.run({
    autoCommit: false,
    eachMessage: async ({ partition, message: { offset, key, value } }) => {
      positions.set(partition, String(Number(offset) + 1))
      tell(partition, offset, key, value)
    },
  })
}

await serve({
  create: (topic, numPartitions) => admin.createTopics({ topics: [{ topic, numPartitions }] }),
  topics: () => admin.listTopics(),
  produce: (topic, codec, messages) => {
    const compression = types[codec] ?? CompressionTypes.None
    return producer.send({ topic, compression, messages })
  },
  consume,
  join,
  commit: () => {
    const offsets = [...positions].map(([partition, offset]) => ({
      topic: memberTopic,
      partition,
      offset,
    }))
    return member?.commitOffsets(offsets) ?? Promise.reject(new Error('no member'))
  },
  committed: async (groupId, topic, count) => {
    const [found] = await admin.fetchOffsets({ groupId, topics: [topic] })
    const by = new Map(found?.partitions.map(({ partition, offset }) => [partition, offset]))
    return Array.from({ length: count }, (_, partition) => Number(by.get(partition) ?? -1))
  },
  leave: () => member?.disconnect() ?? Promise.resolve(),
  delete: (topic) => admin.deleteTopics({ topics: [topic] }),
  close: () => Promise.all([member?.disconnect(), producer.disconnect(), admin.disconnect()]),
})
