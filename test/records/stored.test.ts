/** Records out of a chunk: the same as the general reader gives, within a range. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { buildBatch } from '../../src/records/encoder.js'
import { iterateBatches, iterateRecords } from '../../src/records/index.js'
import { readStored, type StoredRecord } from '../../src/records/stored.js'

const inputs = [
  { key: 'k', value: 'v', headers: { a: 'b', c: null }, timestamp: 5 },
  { key: null, value: null },
  { key: '', value: '' },
  { value: 'x'.repeat(300), timestamp: 99 },
]

function chunkOf(...options: Parameters<typeof buildBatch>[1][]): Buffer {
  return Buffer.concat(options.map((each) => buildBatch(inputs, each)))
}

function read(chunk: Buffer, next: number, end: number, leftBytes = Infinity) {
  const records: StoredRecord[] = []
  const range = { next, end, leftBytes }
  readStored(chunk, range, records)
  return { records, range, offsets: records.map(({ offset }) => Number(offset)) }
}

test('gives what the general reader gives, plain, compressed and stamped by the broker', () => {
  const chunk = chunkOf(
    { timestamp: 7 },
    { baseOffset: 4, compression: 'gzip' },
    {
      baseOffset: 8,
      logAppendTime: 1234,
    },
  )
  const expected = [...iterateBatches(chunk)].flatMap((batch) => [...iterateRecords(batch)])
  const { records } = read(chunk, 0, 100)
  assert.equal(records.length, 12)
  for (const [index, record] of records.entries()) {
    const { offset, timestamp, key, value, headers } = expected[index]!
    assert.equal(record.offset, BigInt(offset))
    assert.equal(record.timestamp, timestamp)
    assert.deepEqual(record.key && new Uint8Array(record.key), key && new Uint8Array(key))
    assert.deepEqual(record.value && new Uint8Array(record.value), value && new Uint8Array(value))
    assert.deepEqual(
      record.headers.map((header) => [header.key, header.value?.toString() ?? null]),
      headers.map((header) => [header.key, header.value && Buffer.from(header.value).toString()]),
    )
  }
})

test('begins and ends inside batches where the range does', () => {
  const chunk = chunkOf({}, { baseOffset: 4, compression: 'gzip' })
  assert.deepEqual(read(chunk, 2, 6).offsets, [2, 3, 4, 5])
  assert.deepEqual(read(chunk, 5, 7).offsets, [5, 6])
})

test('goes on behind the last whole batch, and leaves a part of one', () => {
  const chunk = chunkOf({}, { baseOffset: 4 })
  const { range, offsets } = read(chunk.subarray(0, chunk.length - 1), 0, 100)
  assert.deepEqual(offsets, [0, 1, 2, 3])
  assert.equal(range.next, 4)
})

test('stops after the batch that passes the bytes that may be read', () => {
  const { range, offsets } = read(chunkOf({}, { baseOffset: 4 }), 0, 100, 1)
  assert.deepEqual(offsets, [0, 1, 2, 3])
  assert.ok(range.leftBytes <= 0)
})

test('damage in a batch is an error after the records before it', () => {
  const chunk = chunkOf({}, { baseOffset: 4 })
  chunk[chunk.length - 1]! ^= 1
  const records: StoredRecord[] = []
  assert.throws(() => readStored(chunk, { next: 0, end: 100, leftBytes: 1e9 }, records), {
    code: 'CORRUPT',
  })
  assert.equal(records.length, 4)
})
