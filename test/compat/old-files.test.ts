/**
 * A data directory that Apache Kafka 0.8.2.2 has written, several segments of it, and then killed.
 */
import assert from 'node:assert/strict'
import { existsSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { before, test } from 'node:test'
import { startBroker, temporaryFolder, until } from './harness.js'
import { startKafkaOnZooKeeper, startZooKeeper } from './kafka-server.js'
import { accessLog } from './lines.js'
import { prepare } from './prepare.js'
import { consumeAll, kafkaTool, kcat, sha256 } from './strangers.js'

const limit = { timeout: 240_000 }
const version = '0.8.2.2'
const codecs = ['none', 'gzip', 'snappy'] as const
const folder = temporaryFolder()
const data = join(folder, 'data')
const input = (index: number) => accessLog(8_000, index + 1)

const old = ['-X', 'api.version.request=false', '-X', 'broker.version.fallback=0.8.2.2']

/** One topic a codec, filled through kcat as for 0.8.2, which sends what that broker stores. */
before(async () => {
  await prepare()
  const zooKeeper = await startZooKeeper(temporaryFolder())
  const settings = { 'log.segment.bytes': 200_000, 'auto.create.topics.enable': 'true' }
  const kafka = await startKafkaOnZooKeeper(version, folder, zooKeeper, settings)
  for (const [index, codec] of codecs.entries()) {
    const topic = `old-${codec}`
    const create = ['--zookeeper', zooKeeper.bootstrap, '--create', '--topic', topic]
    const counts = ['--partitions', '1', '--replication-factor', '1']
    await kafkaTool('kafka.admin.TopicCommand', [...create, ...counts], { version })
    await until(`folder of ${topic}`, () => existsSync(join(data, `${topic}-0`)), 30_000)
    const batches = ['-X', 'batch.num.messages=200', '-z', codec]
    await kcat(kafka.bootstrap, ['-P', '-t', topic, ...batches, ...old], { input: input(index) })
  }
  await kafka.kill()
  await zooKeeper.stop()
}, limit)

const segments = (topic: string) =>
  readdirSync(join(data, `${topic}-0`)).filter((name) => name.endsWith('.log')).length

test('every record of every codec is served to new and to old clients', limit, async () => {
  const broker = await startBroker({ dataDir: data })
  for (const [index, codec] of codecs.entries()) {
    const topic = `old-${codec}`
    assert.ok(segments(topic) > 1, `${topic} is to have more than one segment`)
    const offsets = await consumeAll(broker.bootstrap, topic, ['-f', '%o\n'])
    const wanted = Array.from({ length: 8_000 }, (_, offset) => `${offset}\n`).join('')
    assert.equal(offsets.toString(), wanted)
    assert.equal(sha256(await consumeAll(broker.bootstrap, topic)), sha256(input(index)), codec)
    const back = await consumeAll(broker.bootstrap, topic, old)
    assert.equal(sha256(back), sha256(input(index)), codec)
  }
  assert.equal((await broker.stop()).code, 0)
})

test(
  'from any offset on, and with the indexes of Kafka gone, reading is the same',
  limit,
  async () => {
    const lines = input(1).toString().split('\n')
    const partition = join(data, 'old-gzip-0')
    for (const name of readdirSync(partition)) {
      if (name.endsWith('index')) rmSync(join(partition, name))
    }
    const broker = await startBroker({ dataDir: data })
    for (const from of [1, 199, 200, 3_333, 7_999]) {
      const back = await consumeAll(broker.bootstrap, 'old-gzip', ['-o', String(from), '-c', '1'])
      assert.equal(back.toString(), `${lines[from]}\n`)
    }
    await kcat(broker.bootstrap, ['-P', '-t', 'old-gzip'], { input: 'new\n' })
    const last = await consumeAll(broker.bootstrap, 'old-gzip', ['-o', '7999'])
    assert.equal(last.toString(), `${lines[7_999]}\nnew\n`)
    assert.equal((await broker.stop()).code, 0)
  },
)
