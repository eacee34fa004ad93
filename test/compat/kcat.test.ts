/** What kcat, and with it librdkafka, sees of the broker. */
import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { Kafka, logLevel, Partitioners } from 'kafkajs'
import { startBroker, type TestBroker, temporaryFolder } from './harness.js'
import { accessLog } from './lines.js'
import { prepare } from './prepare.js'
import { codecs, consumeAll, kcat, produceFile, sha256 } from './strangers.js'

const limit = { timeout: 90_000 }
const log = accessLog(100_000)
let broker: TestBroker
let file = ''

before(async () => {
  await prepare()
  file = join(temporaryFolder(), 'access.log')
  writeFileSync(file, log)
  broker = await startBroker()
})
after(() => broker.stop())

for (const codec of codecs) {
  test(`a log file that goes in with ${codec} comes out byte by byte`, limit, async () => {
    await produceFile(broker.bootstrap, `access-${codec}`, file, ['-z', codec])
    const back = await consumeAll(broker.bootstrap, `access-${codec}`)
    assert.equal(sha256(back), sha256(log))
  })
}

test('a listing shows the broker at its real port and the topic', limit, async () => {
  await kcat(broker.bootstrap, ['-P', '-t', 'listed'], { input: 'x\n' })
  const { text } = await kcat(broker.bootstrap, ['-L'])
  assert.match(text, new RegExp(`^ *broker \\d+ at ${broker.bootstrap}( |$)`, 'm'))
  assert.match(text, /^ *topic "listed" with 1 partitions:$/m)
  assert.match(text, /^ *partition 0, leader (\d+), replicas: \1, isrs: \1$/m)
})

test('keys, headers, empty and null values keep apart', limit, async () => {
  const produce = (args: string[], input: string) =>
    kcat(broker.bootstrap, ['-P', '-t', 'parts', ...args], { input })
  await produce(['-K', ':', '-H', 'one=1', '-H', 'zwei=ß'], 'k1:v1\n')
  await produce(['-K', ':', '-Z'], 'k2:\n')
  await produce(['-K', ':'], 'k3:\n')
  await produce([], 'keyless\n')
  const back = await consumeAll(broker.bootstrap, 'parts', ['-f', '%o|%k|%K|%s|%S|%h\n'])
  assert.deepEqual(back.toString().split('\n'), [
    '0|k1|2|v1|2|one=1,zwei=ß',
    '1|k2|2||-1|',
    '2|k3|2||0|',
    '3||-1|keyless|7|',
    '',
  ])
})

test('reading can begin at an offset, near the end, and stop after a count', limit, async () => {
  await kcat(broker.bootstrap, ['-P', '-t', 'digits'], { input: '0\n1\n2\n3\n4\n5\n6\n7\n8\n9\n' })
  const read = async (...args: string[]) =>
    (await consumeAll(broker.bootstrap, 'digits', args)).toString().split('\n').join('')
  assert.equal(await read('-o', '7'), '789')
  assert.equal(await read('-o', '-2'), '89')
  assert.equal(await read('-o', '3', '-c', '2'), '34')
  assert.equal(await read('-o', 'end'), '')
})

async function produceAtTimes(topic: string, times: readonly number[]): Promise<void> {
  const kafka = new Kafka({ brokers: [broker.bootstrap], logLevel: logLevel.NOTHING })
  const producer = kafka.producer({ createPartitioner: Partitioners.DefaultPartitioner })
  await producer.connect()
  for (const [index, time] of times.entries()) {
    await producer.send({ topic, messages: [{ value: String(index), timestamp: String(time) }] })
  }
  await producer.disconnect()
}

test('an offset is found by its time', limit, async () => {
  const first = Date.now() - 3_600_000
  await produceAtTimes(
    'timed',
    Array.from({ length: 10 }, (_, index) => first + index * 1000),
  )
  const query = async (time: number) =>
    (await kcat(broker.bootstrap, ['-Q', '-t', `timed:0:${time}`])).text.trim()
  assert.equal(await query(first + 5000), 'timed [0] offset 5')
  assert.equal(await query(first + 5001), 'timed [0] offset 6')
  assert.equal(await query(0), 'timed [0] offset 0')
  assert.equal(await query(-2), 'timed [0] offset 0')
  assert.equal(await query(-1), 'timed [0] offset 10')
  assert.equal(await query(first + 9001), 'timed [0] offset -1')
  const since = await consumeAll(broker.bootstrap, 'timed', ['-o', `s@${first + 8000}`])
  assert.equal(since.toString(), '8\n9\n')
})

test('a consumer that waits at the end gets what is produced meanwhile', limit, async () => {
  await kcat(broker.bootstrap, ['-P', '-t', 'waiting'], { input: 'before\n' })
  const waiting = kcat(broker.bootstrap, ['-C', '-t', 'waiting', '-c', '2', '-q'])
  await kcat(broker.bootstrap, ['-P', '-t', 'waiting'], { input: 'meanwhile\n' })
  assert.equal((await waiting).text, 'before\nmeanwhile\n')
})
