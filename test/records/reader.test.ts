import assert from 'node:assert/strict'
import { test } from 'node:test'
import { SeglogError } from '../../src/errors.js'
import {
  BatchField,
  batchAt,
  buildBatch,
  iterateBatches,
  iterateRecords,
} from '../../src/records/index.js'
import {
  batchAround,
  codecNames,
  fixturePlain,
  kafkaFixtures,
  librdkafkaFixtures,
  plain,
  sealed,
  seeded,
} from './helpers.js'

const fixtures = kafkaFixtures()

function fixture(name: string): Buffer {
  const bytes = fixtures.get(name)
  assert.ok(bytes, `fixture ${name}`)
  return bytes
}

for (const name of codecNames) {
  test(`a batch that Kafka wrote with ${name} is read`, () => {
    const got = [...iterateRecords(fixture(name))].map(plain)
    const expected = fixturePlain.map((record) => ({ ...record, offset: record.offset + 42 }))
    assert.deepEqual(got, expected)
  })
}

for (const name of codecNames.slice(1)) {
  test(`a batch of several blocks that Kafka wrote with ${name} is read`, () => {
    const got = [...iterateRecords(fixture(`${name}-many`))].map(plain)
    assert.deepEqual(
      got,
      Array.from({ length: 400 }, (_, index) => ({
        offset: index,
        timestamp: 1700000000000 + index,
        key: `key-${index % 10}`,
        value: `value number ${index}${'-'.repeat(350)}`,
        headers: [],
      })),
    )
  })
}

for (const [name, bytes] of librdkafkaFixtures()) {
  test(`a batch that librdkafka sent with ${name} is read`, () => {
    const got = [...iterateRecords(bytes)].map(plain)
    assert.equal(got.length, 500)
    for (const [index, { offset, key, value, headers }] of got.entries()) {
      assert.deepEqual(
        { offset, key, value, headers },
        {
          offset: index,
          key: `k${index + 1}`,
          value: `value number ${index + 1} from kcat`,
          headers: [['a', '1']],
        },
      )
    }
  })
}

test('a transactional batch and its marker that Kafka wrote are told by their headers', () => {
  const bytes = Buffer.concat([fixture('transactional'), fixture('commit-marker')])
  const flags = [...iterateBatches(bytes)].map(({ header }) => [
    header.producerId,
    header.producerEpoch,
    header.baseSequence,
    header.isTransactional,
    header.isControl,
  ])
  assert.deepEqual(flags, [
    [4001, 2, 0, true, false],
    [4001, 2, -1, true, true],
  ])
})

test('records of a batch with a time of append carry that time', () => {
  const times = [...iterateRecords(fixture('log-append-time'))].map(({ timestamp }) => timestamp)
  assert.deepEqual(times, Array(4).fill(1800000000000))
})

test('an empty batch, as compaction leaves it, has a last offset and no records', () => {
  const batch = batchAt(fixture('empty'), 0)
  assert.equal(batch.header.lastOffset, 109)
  assert.deepEqual([...iterateRecords(batch)], [])
})

test('gaps, as compaction leaves them, keep their offsets', () => {
  const offsets = [...iterateRecords(fixture('compacted-gaps'))].map(({ offset }) => offset)
  assert.deepEqual(offsets, [200, 205, 290])
})

test('a wrong CRC is CORRUPT unless the caller has checked it', () => {
  const bytes = Buffer.from(buildBatch([{ value: 'a' }]))
  bytes[BatchField.CRC] = (bytes[BatchField.CRC] ?? 0) ^ 1
  assert.throws(() => [...iterateRecords(bytes)], { code: 'CORRUPT' })
  assert.equal([...iterateRecords(bytes, { checkCrc: false })].length, 1)
})

/** One record of null key, null value and no headers: length 6, and each byte at its place. */
const record = [12, 0, 0, 0, 1, 1, 0]
const at = (index: number, ...bytes: number[]) => record.toSpliced(index, 1, ...bytes)
const longVarint = [0xff, 0xff, 0xff, 0xff, 0x1f]
const longVarlong = [...Array(9).fill(0xff), 0x02]
const huge = [0xfe, 0xff, 0xff, 0xff, 0x0f] // 2^31 - 1

const malformed: [string, number[]][] = [
  ['no record', []],
  ['a record of length -1', at(0, 1)],
  ['a record shorter than its fields', at(0, 10)],
  ['a record longer than the batch', at(0, 14)],
  ['a record of 2^31 - 1 bytes', at(0, ...huge)],
  ['a length of more than 32 bits', at(0, ...longVarint)],
  ['a varint without an end', [0xff, 0xff, 0xff]],
  ['bytes behind the last record', [...record, 0]],
  ['bytes behind the headers of a record', [14, ...record.slice(1), 0]],
  ['a key of -2 bytes', at(4, 3)],
  ['a key longer than its record', at(4, 6)],
  ['a value of -2 bytes', at(5, 3)],
  ['a value of 2^31 - 1 bytes', [20, 0, 0, 0, 1, ...huge, 0]],
  ['-1 headers', at(6, 1)],
  ['a header that is not there', at(6, 2)],
  ['2^31 - 1 headers', [20, 0, 0, 0, 1, 1, ...huge]],
  ['a header without a key', [16, 0, 0, 0, 1, 1, 2, 1, 1]],
  ['a timestamp of more than 64 bits', [30, 0, ...longVarlong, 0, 1, 1, 0]],
  ['a timestamp of 2^62', [28, 0, ...Array(8).fill(0x80), 0x40, 0, 1, 1, 0]],
  ['an offset below the base offset', at(3, 1)],
  ['an offset above the last offset', at(3, 2)],
]
for (const [what, bytes] of malformed) {
  test(`${what} is INVALID_RECORD`, () => {
    const batch = batchAround(buildBatch([{}]), Buffer.from(bytes))
    assert.throws(() => [...iterateRecords(batch)], { code: 'INVALID_RECORD' })
  })
}

test('the record that the malformed ones are made from is right', () => {
  const batch = batchAround(buildBatch([{}]), Buffer.from(record))
  assert.equal([...iterateRecords(batch)].length, 1)
})

test('an offset that stands twice is INVALID_RECORD', () => {
  const batch = batchAround(buildBatch([{}, {}]), Buffer.from([...record, ...record]))
  assert.throws(() => [...iterateRecords(batch)], { code: 'INVALID_RECORD' })
})

test('a count of 2^31 - 1 is refused before anything is made of it', () => {
  const batch = Buffer.from(buildBatch([{}]))
  batch.writeInt32BE(0x7ffffffe, BatchField.LAST_OFFSET_DELTA)
  batch.writeInt32BE(0x7fffffff, BatchField.COUNT)
  assert.throws(() => [...iterateRecords(sealed(batch))], { code: 'INVALID_RECORD' })
})

for (const id of [5, 6, 7]) {
  test(`codec ${id} is UNSUPPORTED_COMPRESSION`, () => {
    const batch = Buffer.from(buildBatch([{}]))
    batch[BatchField.ATTRIBUTES + 1] = id
    assert.throws(() => [...iterateRecords(sealed(batch))], { code: 'UNSUPPORTED_COMPRESSION' })
  })
}

const allowed = new Set([
  'CORRUPT',
  'INVALID_RECORD',
  'TOO_LARGE',
  'UNSUPPORTED_COMPRESSION',
  'OFFSET_TOO_LARGE',
])

function mutated(source: Buffer, next: (below: number) => number): Uint8Array {
  let bytes = Buffer.from(source)
  for (let change = 1 + next(4); change > 0; change--) {
    const from = next(3) === 0 ? 17 : 61
    const at = from + next(Math.max(bytes.length - from, 1))
    if (at < bytes.length) bytes[at] = [next(256), 0, 255, 0x7f][next(4)] as number
  }
  if (next(4) === 0) bytes = bytes.subarray(0, 61 + next(bytes.length - 60))
  bytes.writeInt32BE(bytes.length - 12, BatchField.LENGTH)
  return sealed(bytes)
}

test('damaged batches with a right CRC give records or a typed error, and nothing else', () => {
  const sources = [...fixtures.values()].filter((bytes) => bytes.length < 500)
  for (const compression of codecNames) {
    const records = Array.from({ length: 20 }, (_, index) => ({
      key: `k${index}`,
      value: 'v'.repeat(index * 3),
      headers: { a: 'b' },
      timestamp: index * 1e9,
    }))
    sources.push(Buffer.from(buildBatch(records, { compression })))
  }
  const next = seeded(59)
  let errors = 0
  for (let round = 0; round < 8000; round++) {
    const bytes = mutated(sources[next(sources.length)] as Buffer, next)
    try {
      for (const _ of iterateRecords(bytes, { maxOutputBytes: 1 << 20 }));
    } catch (error) {
      assert.ok(error instanceof SeglogError && allowed.has(error.code), `round ${round}: ${error}`)
      errors++
    }
  }
  assert.ok(errors > 1000, 'most of what was damaged is noticed')
})
