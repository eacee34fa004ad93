import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { deleteRecords } from '../../src/apis/delete-records.js'
import { run as runConsume } from '../../src/cli/consume.js'
import { run as runProduce } from '../../src/cli/produce.js'
import { partitionOfKey } from '../../src/client/partitioner.js'
import { createTopic, describeTopic, startBroker } from '../support/broker.js'
import { temporaryDirectory } from '../support/tmp.js'
import { against, inside } from './inside.js'

async function scene(t: TestContext, partitions = 1) {
  const { broker, wire } = await startBroker(t)
  await createTopic(wire, 't', { partitions })
  const produce = against(runProduce, broker.bootstrap)
  const consume = against(runConsume, broker.bootstrap)
  const file = join(temporaryDirectory(t), 'input')
  return {
    broker,
    wire,
    produce: (text: string | Buffer, ...args: string[]) => {
      writeFileSync(file, text)
      return produce('t', '--file', file, ...args)
    },
    consume: (...args: string[]) => consume('t', ...args),
    /** All there is. */
    all: (...args: string[]) => consume('t', '--from-beginning', '--to-end', ...args),
  }
}

for (const codec of ['none', 'gzip', 'snappy', 'lz4', 'zstd']) {
  test(`lines come out as they went in, byte for byte, with codec ${codec}`, async (t) => {
    const { produce, all } = await scene(t)
    const text = 'a\n\nstraße 🚀\n  spaces  \nlast'
    const { stdout } = await produce(text, '--compression', codec)
    assert.match(stdout, /^5 records to t\n.*\n0 +5 +0 +4\n$/)
    assert.equal((await all()).stdout, `${text}\n`)
  })
}

test('an empty input is no record, and no batch', async (t) => {
  const { produce, all } = await scene(t)
  assert.equal((await produce('')).stdout, '0 records to t\n')
  assert.equal((await all()).stdout, '')
})

test('more than one batch keeps its order', async (t) => {
  const { produce, all } = await scene(t)
  const lines = Array.from({ length: 30_000 }, (_, i) => `line ${i} ${'x'.repeat(i % 90)}\n`)
  const { objects } = await produce(lines.join(''), '--json')
  assert.deepEqual(objects(), [
    { type: 'summary', topic: 't', records: 30_000 },
    {
      type: 'partition',
      topic: 't',
      partition: 0,
      records: 30_000,
      firstOffset: 0,
      lastOffset: 29_999,
    },
  ])
  assert.equal((await all()).stdout, lines.join(''))
})

test('a key chooses the partition, and is printed in front of the value', async (t) => {
  const { produce, consume } = await scene(t, 5)
  await produce('a:1\nb:2:3\n:4\n', '--key-separator', ':')
  for (const [key, value] of [
    ['a', '1'],
    ['b', '2:3'],
    ['', '4'],
  ] as const) {
    const partition = String(partitionOfKey(Buffer.from(key), 5))
    const { stdout } = await consume(
      '--partition',
      partition,
      '--offset',
      'earliest',
      '--to-end',
      '--print-key',
    )
    assert.ok(stdout.split('\n').includes(`${key}\t${value}`), `${key} in ${partition}`)
  }
})

test('a line without the separator is named, and what came before is stored', async (t) => {
  const { produce, all } = await scene(t)
  await assert.rejects(produce('a:1\nb\nc:3\n', '--key-separator', ':'), {
    message: 'line 2 of the input: no separator ":" between key and value',
  })
  assert.equal((await all()).stdout, '1\n')
})

test('a file that cannot be read is one line, and makes no topic', async (t) => {
  const { broker } = await startBroker(t)
  const produce = against(runProduce, broker.bootstrap)
  await assert.rejects(produce('t', '--file', '/nowhere/input'), { code: 'ENOENT' })
})

test('what is printed stands in the order of the console consumer of Kafka', async (t) => {
  const { produce, all } = await scene(t)
  const headers = '[{"key":"a","value":"1"},{"key":"b","value":null}]'
  const line = `{"key":"k","value":"v","timestamp":1700000000000,"headers":${headers}}`
  await produce(`${line}\n{"value":null,"timestamp":5}\n`, '--json-lines')
  const prints = ['key', 'timestamp', 'headers', 'offset', 'partition'].map(
    (each) => `--print-${each}`,
  )
  assert.equal(
    (await all(...prints, '--key-separator', '|')).stdout,
    'CreateTime:1700000000000|Partition:0|Offset:0|a:1,b:null|k|v\n' +
      'CreateTime:5|Partition:0|Offset:1|NO_HEADERS|null|null\n',
  )
})

test('JSON of consume is what produce takes, bytes, tombstones and headers alike', async (t) => {
  const { produce, all } = await scene(t)
  const records = [
    { timestamp: 1, key: null, value: null, headers: [] },
    { timestamp: 2, key: '', value: '', headers: [{ key: 'h', value: null }] },
    { timestamp: 3, key: '/w==', keyEncoding: 'base64', value: 'é', headers: [] },
    {
      timestamp: 4,
      key: 'k',
      value: 'AAo=',
      valueEncoding: 'base64',
      headers: [{ key: 'h', value: 'x' }],
    },
  ]
  await produce(records.map((each) => `${JSON.stringify(each)}\n`).join(''), '--json-lines')
  const read = await all('--json')
  const place = { topic: 't', partition: 0, timestampType: 'CreateTime' }
  assert.deepEqual(
    read.objects(),
    records.map((each, offset) => ({ ...place, offset, ...each })),
  )
  await produce(read.stdout, '--json-lines')
  const twice = (await all('--json')).objects()
  assert.deepEqual(
    twice.slice(4).map(({ offset: _, ...rest }) => rest),
    read.objects().map(({ offset: _, ...rest }) => rest),
  )
})

for (const [what, line, text] of [
  ['no JSON', '{', /^line 1 of the input: /],
  ['no object', '[1]', /it is no JSON object/],
  ['a value of another type', '{"value":1}', /value is no text/],
  ['an unknown encoding', '{"value":"a","valueEncoding":"hex"}', /valueEncoding is utf8 or base64/],
  ['base64 that is none', '{"value":"%%%","valueEncoding":"base64"}', /value is no base64/],
  ['a name that is misspelt', '{"valu":"x"}', /there is no field "valu"/],
  ['no value', '{"key":"k"}', /it has no value; null is one/],
  ['headers of another type', '{"value":null,"headers":{}}', /headers is no array/],
  ['a time that is none', '{"value":null,"timestamp":1.5}', /timestamp is no whole number/],
  [
    'a partition that is not there',
    '{"value":null,"partition":1}',
    /t has partitions 0 to 0, and none of 1/,
  ],
] as const) {
  test(`${what} in a line of JSON is told`, async (t) => {
    const { produce } = await scene(t)
    await assert.rejects(produce(line, '--json-lines'), { code: 'BAD_ARGUMENT', message: text })
  })
}

test('headers of the command line go with every record', async (t) => {
  const { produce, all } = await scene(t)
  await produce('a\nb\n', '--headers', 'x=1,y=2', '--headers', 'z=')
  const headers = 'x:1,y:2,z:'
  assert.equal((await all('--print-headers')).stdout, `${headers}\ta\n${headers}\tb\n`)
})

test('a topic that is not there is made by produce, and not by consume', async (t) => {
  const { broker, wire } = await startBroker(t)
  const consume = against(runConsume, broker.bootstrap)
  await assert.rejects(consume('new', '--to-end'), { kafkaName: 'UNKNOWN_TOPIC_OR_PARTITION' })
  assert.equal((await describeTopic(wire, 'new')).errorCode, 3)
  const file = join(temporaryDirectory(t), 'input')
  writeFileSync(file, 'a\n')
  await against(runProduce, broker.bootstrap)('new', '--file', file)
  assert.equal((await consume('new', '--from-beginning', '--to-end')).stdout, 'a\n')
})

test('records begin at an offset, and end behind as many as are wanted', async (t) => {
  const { produce, consume } = await scene(t)
  await produce('a\nb\nc\nd\n')
  const at = ['--partition', '0', '--offset', '1', '--max-messages', '2']
  assert.equal((await consume(...at)).stdout, 'b\nc\n')
  assert.equal((await consume(...at.slice(0, 4), '--max-messages', '0')).stdout, '')
})

test('without a word on where to begin it is the end, and silence ends it', async (t) => {
  const { produce, consume } = await scene(t)
  await produce('a\n')
  assert.equal((await consume('--timeout-ms', '50')).stdout, '')
})

test('an offset outside of the log is refused', async (t) => {
  const { produce, consume } = await scene(t)
  await produce('a\n')
  const far = consume('--partition', '0', '--offset', '2')
  await assert.rejects(far, {
    code: 'OFFSET_OUT_OF_RANGE',
    message: 'partition 0 of t holds offsets 0 to 1, and 2 is outside of them',
  })
})

test('what retention took away meanwhile is named, and the rest is read', async (t) => {
  const { wire, produce, consume } = await scene(t)
  await produce('a\nb\nc\nd\n')
  const group = ['--group', 'g', '--from-beginning']
  await consume(...group, '--max-messages', '1')
  const topics = [{ name: 't', partitions: [{ partitionIndex: 0, offset: 3 }] }]
  await wire.call(deleteRecords, 2, { topics, timeoutMs: 1000 })
  const { stdout, stderr } = await consume(...group, '--to-end')
  assert.equal(stdout, 'd\n')
  assert.equal(stderr, 'seglog: partition 0 of t: offsets 1 to 2 are no longer there\n')
})

test('records for many partitions are sent before they fill the memory', async (t) => {
  const { produce, all } = await scene(t, 200)
  const value = 'x'.repeat(200_000)
  const lines = Array.from({ length: 300 }, (_, i) => `${i}:${value}\n`)
  const { objects } = await produce(lines.join(''), '--key-separator', ':', '--json')
  assert.deepEqual(objects()[0], { type: 'summary', topic: 't', records: 300 })
  assert.equal((await all()).stdout.length, 300 * (value.length + 1))
})

test('a group goes on behind what was printed, and nothing else', async (t) => {
  const { produce, consume } = await scene(t)
  await produce('a\nb\nc\nd\ne\n')
  const group = ['--group', 'g', '--from-beginning']
  assert.equal((await consume(...group, '--max-messages', '2')).stdout, 'a\nb\n')
  assert.equal((await consume(...group, '--max-messages', '1')).stdout, 'c\n')
  assert.equal((await consume(...group, '--to-end')).stdout, 'd\ne\n')
  assert.equal((await consume(...group, '--to-end')).stdout, '')
})

for (const [what, run, args, text] of [
  ['no topic', runProduce, [], /TOPIC is needed/],
  ['an unknown codec', runProduce, ['t', '--compression', 'br'], /there is no codec br/],
  ['unknown acks', runProduce, ['t', '--acks', '2'], /--acks takes 0, 1 or all/],
  ['an empty separator', runProduce, ['t', '--key-separator', ''], /--key-separator is empty/],
  ['two forms of lines', runProduce, ['t', '--json-lines', '--key-separator', ':'], /exclude/],
  ['no topic to read', runConsume, [], /TOPIC is needed/],
  ['two beginnings', runConsume, ['t', '--offset', '1', '--from-beginning'], /exclude each other/],
  ['an offset of no partition', runConsume, ['t', '--offset', '1'], /needs --partition/],
  [
    'an offset that is none',
    runConsume,
    ['t', '--offset', '-1'],
    /number, earliest or latest|argument/,
  ],
  [
    'a broken number',
    runConsume,
    ['t', '--max-messages', '1.5'],
    /whole number from 0 to 2\^53 - 1/,
  ],
] as const) {
  test(`${what} is a fault of usage`, async () => {
    await assert.rejects(inside(run, [...args]), { code: 'USAGE', message: text })
  })
}

test('an offset above 2^53 - 1 is refused, and never rounded', async () => {
  const args = ['t', '--partition', '0', '--offset', '9007199254740993']
  await assert.rejects(inside(runConsume, args), {
    code: 'USAGE',
    message: '--offset is above 2^53 - 1: 9007199254740993',
  })
})
