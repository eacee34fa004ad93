/** What the command line tools of Apache Kafka, on its Java client, see of the broker. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { startBroker, type TestBroker } from './harness.js'
import { accessLog } from './lines.js'
import { prepare } from './prepare.js'
import { codecs, consumeLines, kafkaTool, kcat } from './strangers.js'

const limit = { timeout: 120_000 }
const log = accessLog(10_000).toString()
const lines = log.split('\n').slice(0, -1)
let broker: TestBroker
let server: string[]

before(async () => {
  await prepare()
  broker = await startBroker()
  server = ['--bootstrap-server', broker.bootstrap]
})
after(() => broker.stop())

async function consoleConsumer(topic: string, count: number): Promise<string[]> {
  const bounds = ['--max-messages', String(count), '--timeout-ms', '20000']
  const args = ['--topic', topic, '--partition', '0', '--offset', '0', ...bounds]
  const tool = 'org.apache.kafka.tools.consumer.ConsoleConsumer'
  const { text } = await kafkaTool(tool, [...server, ...args])
  return text.split('\n').slice(0, -1)
}

test('what the console producer sends, the console consumer reads', limit, async () => {
  const tool = 'org.apache.kafka.tools.ConsoleProducer'
  await kafkaTool(tool, [...server, '--topic', 'console'], { input: log })
  assert.deepEqual(await consumeLines(broker.bootstrap, 'console'), lines)
  assert.deepEqual(await consoleConsumer('console', lines.length), lines)
})

test('what kcat sends in any codec, the console consumer reads', limit, async () => {
  const part = lines.length / codecs.length
  for (const [index, codec] of codecs.entries()) {
    const own = lines.slice(index * part, (index + 1) * part)
    const args = ['-P', '-t', 'mixed', '-z', codec]
    await kcat(broker.bootstrap, args, { input: `${own.join('\n')}\n` })
  }
  assert.deepEqual(await consoleConsumer('mixed', lines.length), lines)
})

test('the topic tool makes, lists and describes a topic', limit, async () => {
  const tool = 'org.apache.kafka.tools.TopicCommand'
  const create = ['--create', '--topic', 'managed', '--partitions', '2']
  assert.match((await kafkaTool(tool, [...server, ...create])).text, /Created topic managed\./)
  const list = await kafkaTool(tool, [...server, '--list'])
  assert.ok(list.text.split('\n').includes('managed'))
  const describe = ['--describe', '--topic', 'managed']
  const described = await kafkaTool(tool, [...server, ...describe])
  assert.match(described.text, /PartitionCount: 2\s+ReplicationFactor: 1/)
  assert.match(described.text, /Partition: 1\s+Leader: (\d+)\s+Replicas: \1\s+Isr: \1/)
})
