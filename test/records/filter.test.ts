import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Batch, batchAt, crcMatches } from '../../src/records/batch.js'
import { type BatchOptions, buildBatch } from '../../src/records/encoder.js'
import { type Candidate, emptiedBatch, filterBatch } from '../../src/records/filter.js'
import { iterateRecords } from '../../src/records/reader.js'
import type { RecordInput } from '../../src/records/record.js'
import { changed, damaged } from '../support/batches.js'

const options = { maxOutputBytes: 1 << 20 }
const NOW = 1_700_000_000_000

const records: RecordInput[] = [
  { key: 'a', value: '0', timestamp: NOW + 5 },
  { key: 'b', value: null, timestamp: NOW + 9 },
  { key: '', value: '', timestamp: NOW + 1, headers: { h: 'v', n: null } },
  { key: null, value: 'd', timestamp: NOW + 7 },
]

function batchOf(given: BatchOptions = {}, from = records): Batch {
  return batchAt(buildBatch(from, { baseOffset: 100, leaderEpoch: 3, ...given }), 0)
}

const offsetsIn = (...offsets: number[]) => {
  return (record: Candidate) => offsets.includes(record.offset)
}

function filtered(batch: Batch, keep: (record: Candidate) => boolean, more = {}): Batch {
  const left = filterBatch(batch, keep, { ...options, ...more })
  assert.ok(left)
  const found = batchAt(left, 0)
  assert.equal(found.bytes.length, left.length)
  assert.ok(crcMatches(found))
  return found
}

test('a batch of which everything stays is the same bytes', () => {
  const batch = batchOf()
  assert.equal(
    filterBatch(batch, () => true, options),
    batch.bytes,
  )
})

test('a batch of which nothing stays is none', () => {
  assert.equal(
    filterBatch(batchOf(), () => false, options),
    undefined,
  )
})

for (const compression of ['none', 'gzip', 'snappy', 'lz4', 'zstd'] as const) {
  test(`kept records are as they were, ${compression}`, () => {
    const batch = batchOf({ compression })
    const found = filtered(batch, offsetsIn(101, 102))
    const before = [...iterateRecords(batch)].slice(1, 3)
    assert.deepEqual([...iterateRecords(found)], before)
    assert.equal(found.header.compression, batch.header.compression)
  })
}

test('base and last offset, epoch, producer and sequence stay', () => {
  const producer = { id: 7, epoch: 2, baseSequence: 40 }
  const { header } = filtered(batchOf({ producer, transactional: true }), offsetsIn(102))
  assert.equal(header.baseOffset, 100)
  assert.equal(header.lastOffset, 103)
  assert.equal(header.leaderEpoch, 3)
  assert.equal(header.producerId, 7)
  assert.equal(header.producerEpoch, 2)
  assert.equal(header.baseSequence, 40)
  assert.equal(header.isTransactional, true)
  assert.equal(header.count, 1)
})

test('the largest timestamp is that of what is left', () => {
  assert.equal(filtered(batchOf(), offsetsIn(100, 102)).header.maxTimestamp, NOW + 5)
})

test('the time of the append stays that of a batch that has it', () => {
  const { header } = filtered(batchOf({ logAppendTime: NOW + 50 }), offsetsIn(100))
  assert.equal(header.maxTimestamp, NOW + 50)
  assert.equal(header.isLogAppendTime, true)
})

test('null and empty keys and values are told apart', () => {
  const seen: unknown[] = []
  filterBatch(
    batchOf(),
    ({ key, isTombstone }) => {
      seen.push([key === null ? null : Buffer.from(key).toString(), isTombstone])
      return false
    },
    options,
  )
  assert.deepEqual(seen, [
    ['a', false],
    ['b', true],
    ['', false],
    [null, false],
  ])
})

test('a kept tombstone gives the batch a horizon, and every record keeps its time', () => {
  const batch = batchOf()
  const found = filtered(batch, () => true, { horizonMs: NOW + 86_400_000 })
  assert.equal(found.header.hasDeleteHorizon, true)
  assert.equal(found.header.baseTimestamp, NOW + 86_400_000)
  assert.deepEqual([...iterateRecords(found)], [...iterateRecords(batch)])
})

test('a horizon is given once', () => {
  const first = filtered(batchOf({ compression: 'gzip' }), () => true, { horizonMs: NOW + 1000 })
  const second = filtered(first, offsetsIn(101), { horizonMs: NOW + 9000 })
  assert.equal(second.header.baseTimestamp, NOW + 1000)
  assert.deepEqual(
    [...iterateRecords(second)].map(({ timestamp }) => timestamp),
    [NOW + 9],
  )
})

test('no horizon is given where no tombstone stays', () => {
  const found = filtered(batchOf(), offsetsIn(100), { horizonMs: NOW })
  assert.equal(found.header.hasDeleteHorizon, false)
})

test('records without a time keep none beside a horizon', () => {
  const batch = batchOf({}, [{ key: 'a', value: null }])
  const found = filtered(batch, () => true, { horizonMs: NOW })
  assert.deepEqual(
    [...iterateRecords(found)].map(({ timestamp }) => timestamp),
    [-1],
  )
})

test('an emptied batch is a header with the offsets and the producer', () => {
  const producer = { id: 7, epoch: 2, baseSequence: 40 }
  const emptied = batchAt(emptiedBatch(batchOf({ producer, compression: 'gzip' })), 0)
  assert.equal(emptied.bytes.length, 61)
  assert.ok(crcMatches(emptied))
  const { baseOffset, lastOffset, count, producerId, baseSequence, maxTimestamp } = emptied.header
  assert.deepEqual([baseOffset, lastOffset, count], [100, 103, 0])
  assert.deepEqual([producerId, baseSequence, maxTimestamp], [7, 40, NOW + 9])
  assert.deepEqual([...iterateRecords(emptied)], [])
  assert.equal(
    filterBatch(emptied, () => true, options),
    undefined,
  )
})

test('a batch with a wrong sum is CORRUPT', () => {
  const batch = batchAt(damaged(batchOf().bytes), 0)
  assert.throws(() => filterBatch(batch, () => true, options), { code: 'CORRUPT' })
})

test('records that break the format are INVALID_RECORD', () => {
  const bytes = changed(batchOf().bytes, (view) => view.setInt8(61, 1))
  assert.throws(() => filterBatch(batchAt(bytes, 0), () => true, options), {
    code: 'INVALID_RECORD',
  })
})

test('a batch that holds more than the bound is TOO_LARGE', () => {
  const batch = batchOf({ compression: 'gzip' }, [{ key: 'a', value: 'v'.repeat(5000) }])
  assert.throws(() => filterBatch(batch, () => true, { maxOutputBytes: 1000 }), {
    code: 'TOO_LARGE',
  })
})
