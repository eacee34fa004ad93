/**
 * What the command line tools of Apache Kafka, on its Java client, do with records on the broker:
 * send and read them, find their offsets, delete them, measure, verify.
 */
import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { handlers } from '../../src/handlers/registry.js'
import { startBroker, type TestBroker, temporaryFolder } from './harness.js'
import { KafkaJvm, toolClass } from './kafka-jvm.js'
import { accessLog } from './lines.js'
import { prepare } from './prepare.js'
import { codecs, consumeLines, kafkaTool, kcat } from './strangers.js'

const limit = { timeout: 120_000 }
const log = accessLog(10_000).toString()
const lines = log.split('\n').slice(0, -1)
let broker: TestBroker
let tools: KafkaJvm

before(async () => {
  await prepare()
  broker = await startBroker()
  tools = new KafkaJvm('4.3.1', broker.bootstrap)
})
after(async () => {
  await tools.close()
  await broker.stop()
})

async function consoleConsumer(topic: string, count: number): Promise<string[]> {
  const where = `--topic ${topic} --partition 0 --offset 0`
  const bounds = `--max-messages ${count} --timeout-ms 20000`
  return (await tools.run('ConsoleConsumer', `${where} ${bounds}`)).text.split('\n').slice(0, -1)
}

/** Partition, offset. */
async function offsets(args: string): Promise<[number, number][]> {
  const output = await tools.run('GetOffsetShell', args)
  return output.lines.map((line) => {
    const [, partition, offset] = line.split(':')
    return [Number(partition), Number(offset)]
  })
}

test('what the console producer sends, the console consumer reads', limit, async () => {
  await tools.run('ConsoleProducer', '--topic console', { input: log })
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

test('keys and headers come through the console in every codec, in a group', limit, async () => {
  const reading = ['parse.key=true', 'parse.headers=true'].map(
    (each) => `--reader-property ${each}`,
  )
  for (const codec of codecs) {
    const args = `--topic keyed --compression-codec ${codec} ${reading.join(' ')}`
    await tools.run('ConsoleProducer', args, {
      input: `h:${codec}\tkey-${codec}\tvalue ${codec}\n`,
    })
  }
  const printed = ['key', 'headers', 'offset', 'partition', 'timestamp']
  const format = printed.map((each) => `--formatter-property print.${each}=true`).join(' ')
  const bounds = '--max-messages 5 --timeout-ms 20000'
  const args = `--topic keyed --from-beginning --group readers ${format} ${bounds}`
  const read = (await tools.run('ConsoleConsumer', args)).lines
  assert.equal(read.length, codecs.length)
  for (const [index, codec] of codecs.entries()) {
    const place = `^CreateTime:\\d{13}\\tPartition:0\\tOffset:${index}\\t`
    const line = new RegExp(`${place}h:${codec}\\tkey-${codec}\\tvalue ${codec}$`)
    assert.match(read[index] ?? '', line)
  }
})

test('offsets are found at both ends and by time', limit, async () => {
  const create = '--create --topic timed --partitions 2'
  await tools.run('TopicCommand', create)
  const input = 'first\nsecond\nthird\n'
  await kcat(broker.bootstrap, ['-P', '-t', 'timed', '-p', '0'], { input })
  const of = '--topic timed --time'
  for (const latest of ['latest', '-1']) {
    assert.deepEqual(await offsets(`${of} ${latest}`), [
      [0, 3],
      [1, 0],
    ])
  }
  for (const earliest of ['earliest', '-2', 'earliest-local']) {
    assert.deepEqual(await offsets(`${of} ${earliest}`), [
      [0, 0],
      [1, 0],
    ])
  }
  const [[, newest] = []] = await offsets(`${of} max-timestamp`)
  assert.ok(newest !== undefined && newest >= 0 && newest < 3)
  const first = async (time: number) => (await offsets(`${of} ${time}`))[0]
  assert.deepEqual(await first(1_500_000_000_000), [0, 0])
  assert.deepEqual(await first(Date.now() + 3_600_000), undefined)
  assert.deepEqual(await offsets('--topic-partitions timed:1,timed:0'), [
    [0, 3],
    [1, 0],
  ])
})

test('records are deleted up to an offset', limit, async () => {
  await kcat(broker.bootstrap, ['-P', '-t', 'cut', '-p', '0'], { input: '0\n1\n2\n3\n4\n5\n' })
  const file = join(temporaryFolder(), 'cut.json')
  const deleteTo = async (offset: number, complains = false) => {
    const partitions = [{ topic: 'cut', partition: 0, offset }]
    writeFileSync(file, JSON.stringify({ partitions, version: 1 }))
    return tools.run('DeleteRecordsCommand', `--offset-json-file ${file}`, { complains })
  }
  assert.match((await deleteTo(4)).text, /partition: cut-0\s+low_watermark: 4$/m)
  assert.deepEqual(await offsets('--topic cut --time earliest'), [[0, 4]])
  assert.deepEqual(await consumeLines(broker.bootstrap, 'cut'), ['4', '5'])
  assert.match((await deleteTo(7, true)).text, /cut-0.*OffsetOutOfRangeException/)
  assert.match((await deleteTo(-1)).text, /low_watermark: 6$/m)
  assert.deepEqual(await offsets('--topic cut'), [[0, 6]])
  assert.deepEqual(await consumeLines(broker.bootstrap, 'cut'), [])
})

test('the log directories and the sizes of partitions are told', limit, async () => {
  await kcat(broker.bootstrap, ['-P', '-t', 'sized', '-z', 'none'], { input: 'x'.repeat(5000) })
  const { lines } = await tools.run('LogDirsCommand', '--describe --topic-list sized')
  const told = JSON.parse(lines.at(-1) ?? '')
  const [{ partitions, ...directory }] = told.brokers[0].logDirs
  assert.deepEqual([told.brokers.length, told.brokers[0].broker], [1, 0])
  assert.deepEqual(directory, { error: null, logDir: broker.dataDir })
  const [{ size, ...rest }] = partitions
  assert.deepEqual(rest, { partition: 'sized-0', offsetLag: 0, isFuture: false })
  assert.ok(size > 5000 && size < 5200, String(size))
})

test(
  'what the producer of measurements sends, the consumer of measurements counts',
  limit,
  async () => {
    const load = '--num-records 5000 --record-size 100 --throughput -1'
    for (const acks of ['all', '1', '0']) {
      const args = `--topic measured ${load} --command-property acks=${acks} batch.size=1000`
      const sent = await tools.run('ProducerPerformance', args)
      assert.match(sent.text, /^5000 records sent, [\d.]+ records\/sec .* 99\.9th\.$/m)
    }
    const read = await tools.run('ConsumerPerformance', '--topic measured --num-records 15000')
    const [head = '', row = ''] = read.lines
    const counted = row.split(', ')[head.split(', ').indexOf('data.consumed.in.nMsg')]
    assert.equal(counted, '15000')
    const args = '--topic there-and-back --num-records 200 --producer-acks all --record-size 100'
    const { text } = await tools.run('EndToEndLatency', args)
    assert.match(text, /^Percentiles: 50th = \d+, 99th = \d+, 99\.9th = \d+$/m)
    assert.deepEqual(await offsets('--topic there-and-back'), [[0, 200]])
  },
)

const eventsOf = (text: string) =>
  text
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line))

test('the verifiable producer and consumer agree on each record', limit, async () => {
  // It says what it did when its process ends, and so gets one of its own.
  const bounds = ['--max-messages', '100', '--throughput', '-1', '--acks', '-1']
  const args = ['--bootstrap-server', broker.bootstrap, '--topic', 'verified', ...bounds]
  const produced = await kafkaTool(toolClass('VerifiableProducer'), args)
  assert.equal(produced.stderr, '')
  const sent = eventsOf(produced.text)
  const offsetsSent = sent.filter(({ name }) => name === 'producer_send_success')
  assert.deepEqual(
    offsetsSent.map(({ value, offset }) => [value, offset]).sort(([, a], [, b]) => a - b),
    Array.from({ length: 100 }, (_, index) => [String(index), index]),
  )
  assert.deepEqual(
    sent.filter(({ name }) => name === 'producer_send_error'),
    [],
  )
  assert.equal(sent.at(-1).acked, 100)
  const group = '--group-id verifiers --max-messages 100 --verbose --reset-policy earliest'
  const output = await tools.run('VerifiableConsumer', `--topic verified ${group}`)
  const read = eventsOf(output.text)
  assert.deepEqual(
    read.filter(({ name }) => name === 'record_data').map(({ value, offset }) => [value, offset]),
    Array.from({ length: 100 }, (_, index) => [String(index), index]),
  )
  const committed = read.filter(({ name }) => name === 'offsets_committed')
  assert.ok(committed.every(({ success }) => success))
  assert.equal(committed.at(-1)?.offsets[0].offset, 100)
  assert.equal(read.at(-1)?.name, 'shutdown_complete')
})

test('the newest client finds a version of each API that is served', limit, async () => {
  const { lines } = await tools.run('BrokerApiVersionsCommand', '')
  const usable = lines.flatMap((line) => {
    const found = /^(\w+)\((\d+)\): (\d+)(?: to (\d+))? \[usable: (\d+)\]/.exec(line)
    if (found === null) return []
    const [, name, key, min, max = min, used] = found
    assert.equal(used, max, line)
    return [[Number(key), name, Number(min), Number(max)]]
  })
  const served = [...handlers.values()].map(({ api, versions }) => [api.key, api.name, ...versions])
  assert.deepEqual(
    usable,
    served.sort(([a], [b]) => Number(a) - Number(b)),
  )
})

test('leaders are where they should be, and no partition is on its way', limit, async () => {
  await kcat(broker.bootstrap, ['-P', '-t', 'led'], { input: 'x\n' })
  for (const type of ['preferred', 'unclean']) {
    const args = `--election-type ${type} --topic led --partition 0`
    const { lines } = await tools.run('LeaderElectionCommand', args)
    assert.deepEqual(lines, ['Valid replica already elected for partitions led-0'])
  }
  const all = await tools.run(
    'LeaderElectionCommand',
    '--election-type preferred --all-topic-partitions',
  )
  assert.equal(all.text, '')
})
