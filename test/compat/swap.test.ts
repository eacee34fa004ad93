/**
 * One directory, two owners in turn: what Apache Kafka wrote seglog serves, and what seglog added
 * Kafka serves, with our indexes and without any.
 */
import assert from 'node:assert/strict'
import { cpSync, existsSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { before, test } from 'node:test'
import { startBroker, temporaryFolder, until } from './harness.js'
import { type Server, startKafka4, startKafkaOnZooKeeper, startZooKeeper } from './kafka-server.js'
import { accessLog } from './lines.js'
import { prepare } from './prepare.js'
import { codecs, kafkaTool, kcat } from './strangers.js'

const limit = { timeout: 600_000 }
const perCodec = 15_000
/** Small segments, so that there are several; compaction at once. */
const settings = {
  'log.segment.bytes': 1_048_576,
  'log.cleaner.backoff.ms': 100,
  'log.cleaner.min.cleanable.ratio': 0.01,
  'log.retention.ms': -1,
}
const topics = ['plain', 'idempotent', 'transactional', 'compacted']

before(prepare)

interface Kafka {
  readonly folder: string
  start(): Promise<Server>
  end(): Promise<unknown>
}

async function kafka4(): Promise<Kafka> {
  const folder = temporaryFolder()
  return { folder, start: () => startKafka4(folder, settings), end: async () => {} }
}

async function kafka3(): Promise<Kafka> {
  const folder = temporaryFolder()
  const zooKeeper = await startZooKeeper(temporaryFolder())
  const start = () => startKafkaOnZooKeeper('3.6.2', folder, zooKeeper, settings)
  return { folder, start, end: () => zooKeeper.stop() }
}

/** Offset, key and value of every record of every topic, as a consumer gets them. */
async function contents(bootstrap: string): Promise<Map<string, string>> {
  const found = new Map<string, string>()
  for (const topic of topics) {
    const args = ['-C', '-t', topic, '-e', '-q', '-X', 'check.crcs=true', '-f', '%o %k %s\n']
    found.set(topic, (await kcat(bootstrap, args)).text)
  }
  return found
}

/** A broker that accepts connections may not know yet what it leads. */
async function served(bootstrap: string): Promise<void> {
  for (const topic of topics) {
    const isLed = async () => {
      const { text } = await kcat(bootstrap, ['-L', '-t', topic], { expect: 'any' })
      return /partition 0, leader \d+, replicas: \d+, isrs: \d+\s*$/m.test(text)
    }
    await until(`leader of ${topic}`, isLed, 60_000)
  }
}

async function createTopic(bootstrap: string, topic: string, ...config: string[]) {
  const args = ['--bootstrap-server', bootstrap, '--create', '--topic', topic, '--partitions', '1']
  const configs = config.flatMap((each) => ['--config', each])
  await kafkaTool('org.apache.kafka.tools.TopicCommand', [...args, ...configs])
}

async function fill(bootstrap: string, seed: number): Promise<void> {
  for (const [index, codec] of codecs.entries()) {
    const input = accessLog(perCodec, seed + index)
    const batches = ['-X', 'batch.num.messages=100']
    await kcat(bootstrap, ['-P', '-t', 'plain', '-z', codec, ...batches], { input })
  }
  const input = accessLog(perCodec, seed)
  await kcat(bootstrap, ['-P', '-t', 'idempotent', '-X', 'enable.idempotence=true'], { input })
}

/** Needs transactions, and a cleaner, which are Kafka's alone. */
async function fillByKafka(bootstrap: string): Promise<void> {
  await createTopic(bootstrap, 'compacted', 'cleanup.policy=compact')
  for (const topic of ['plain', 'idempotent', 'transactional']) await createTopic(bootstrap, topic)
  await fill(bootstrap, 1)
  const load = ['--num-records', '2000', '--record-size', '100', '--throughput', '-1']
  const transactions = ['--transactional-id', 'x', '--transaction-duration-ms', '50']
  const to = ['--topic', 'transactional', '--producer-props', `bootstrap.servers=${bootstrap}`]
  await kafkaTool('org.apache.kafka.tools.ProducerPerformance', [...to, ...load, ...transactions])
  const lines = Array.from(
    { length: 6000 },
    (_, i) => `key${i % 10}:value ${i} ${'.'.repeat(1000)}`,
  )
  const keyed = ['-P', '-t', 'compacted', '-K', ':', '-X', 'batch.num.messages=50']
  await kcat(bootstrap, keyed, { input: lines.join('\n') })
}

/** Until the cleaner has left gaps: fewer records than offsets. */
async function compacted(bootstrap: string): Promise<void> {
  const count = async () => {
    const args = ['-C', '-t', 'compacted', '-e', '-q', '-f', '%o\n']
    return (await kcat(bootstrap, args)).text.split('\n').length - 1
  }
  await until('compaction', async () => (await count()) < 5000, 60_000)
}

const logsIn = (data: string, topic: string) =>
  readdirSync(join(data, `${topic}-0`)).filter((name) => name.endsWith('.log'))

/** What an operator may lose without losing a record. */
function removeDerived(data: string): void {
  for (const topic of topics) {
    const folder = join(data, `${topic}-0`)
    for (const name of readdirSync(folder)) {
      if (/\.(index|timeindex|snapshot)$/.test(name)) rmSync(join(folder, name))
    }
  }
  rmSync(join(data, '.kafka_cleanshutdown'), { force: true })
}

/** seglog on a directory of Kafka's; its own settings, Kafka's broker id. */
function seglogOn(dataDir: string, brokerId: number) {
  const config = { 'broker.id': brokerId, 'log.segment.bytes': 1_048_576, 'log.retention.ms': -1 }
  return startBroker({ dataDir, config })
}

async function takeTurns(kafka: Kafka, brokerId: number): Promise<void> {
  const data = join(kafka.folder, 'data')
  let server = await kafka.start()
  await fillByKafka(server.bootstrap)
  await compacted(server.bootstrap)
  const written = await contents(server.bootstrap)
  // Killed: what seglog finds is what a crash leaves.
  const killedData = join(temporaryFolder(), 'data')
  await server.kill()
  cpSync(data, killedData, { recursive: true })
  assert.ok(logsIn(data, 'plain').length > 2, 'the test is to see several segments')
  const onKilled = await seglogOn(killedData, brokerId)
  assert.deepEqual(await contents(onKilled.bootstrap), written)
  await onKilled.stop()

  server = await kafka.start()
  await server.stop()
  let seglog = await seglogOn(data, brokerId)
  assert.deepEqual(await contents(seglog.bootstrap), written)
  await fill(seglog.bootstrap, 10)
  const added = await contents(seglog.bootstrap)
  assert.notDeepEqual(added, written)
  await seglog.stop()
  assert.ok(existsSync(join(data, '.kafka_cleanshutdown')))

  server = await kafka.start()
  await served(server.bootstrap)
  assert.deepEqual(await contents(server.bootstrap), added, 'with our indexes and snapshots')
  await server.stop()
  seglog = await seglogOn(data, brokerId)
  await fill(seglog.bootstrap, 20)
  const more = await contents(seglog.bootstrap)
  await seglog.kill()
  removeDerived(data)
  server = await kafka.start()
  await served(server.bootstrap)
  assert.deepEqual(await contents(server.bootstrap), more, 'after a kill, without them')
  await server.stop()
}

test('a directory goes back and forth between seglog and Kafka 4.3.1', limit, async () => {
  const kafka = await kafka4()
  try {
    await takeTurns(kafka, 1)
  } finally {
    await kafka.end()
  }
})

test('a directory goes back and forth between seglog and Kafka 3.6.2', limit, async () => {
  const kafka = await kafka3()
  try {
    await takeTurns(kafka, 0)
  } finally {
    await kafka.end()
  }
})
