/**
 * The addon's walk over a chunk against a reader in JavaScript that takes it batch by batch: the
 * same records wherever the walk goes, and none where bytes were changed.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { addRecords, RecordTable, type StoredRecord } from '../../src/library/stored-record.js'
import { findPlaces } from '../../src/native-records.js'
import { batchAt } from '../../src/records/batch.js'
import { buildBatch } from '../../src/records/encoder.js'
import { BatchField } from '../../src/records/format.js'
import { iterateRecords } from '../../src/records/reader.js'
import type { RecordInput } from '../../src/records/record.js'
import { type Random, seeded } from '../protocol/random.js'

const ROUNDS = 400
const NOW = 1_700_000_000_000

function recordOf(random: Random): RecordInput {
  const bytes = () => Buffer.alloc(random.pick([0, 1, 63, 64, 200, 9000]), random.below(256))
  const headers = Array.from({ length: random.pick([0, 0, 1, 3]) }, (_, i) => ({
    key: `h${i}`,
    value: random.chance(0.3) ? null : bytes(),
  }))
  return {
    key: random.chance(0.3) ? bytes() : null,
    value: random.chance(0.1) ? null : bytes(),
    timestamp: NOW + random.below(1_000_000) - 500_000,
    ...(headers.length > 0 ? { headers } : {}),
  }
}

interface Made {
  bytes: Buffer
  /** `plain`: the walk takes such a batch. */
  batches: { position: number; baseOffset: number; count: number; plain: boolean }[]
}

/** Batches that follow one another, some compressed. */
function chunkOf(random: Random, compressed: number): Made {
  const parts: Buffer[] = []
  const batches: Made['batches'] = []
  let next = random.below(1000)
  let position = 0
  for (let left = 1 + random.below(5); left > 0; left--) {
    const records = Array.from({ length: 1 + random.below(4) }, () => recordOf(random))
    const plain = !random.chance(compressed)
    const bytes = Buffer.from(buildBatch(records, plain ? {} : { compression: 'gzip' }))
    bytes.writeBigInt64BE(BigInt(next), BatchField.BASE_OFFSET)
    batches.push({ position, baseOffset: next, count: records.length, plain })
    parts.push(bytes)
    position += bytes.length
    next += records.length
  }
  return { bytes: Buffer.concat(parts), batches }
}

const whole = { from: 0, to: Number.MAX_SAFE_INTEGER, bytesMax: 1 << 30 }

function walk(bytes: Buffer, at: number, range = whole) {
  const found = findPlaces(bytes, at, range)
  const records: StoredRecord[] = []
  addRecords(records, new RecordTable(bytes, found.times, found.places))
  return { ...found, records }
}

const plainOf = ({ offset, timestamp, key, value, headers }: StoredRecord) => ({
  offset: Number(offset),
  timestamp,
  key,
  value,
  headers: headers.map((header) => ({ ...header })),
})

/** What the reader in JavaScript makes of the first `sizeBytes` bytes from `at` on. */
function expected(bytes: Buffer, at: number, sizeBytes: number, { from, to } = whole) {
  const records = []
  for (const end = at + sizeBytes; at < end; ) {
    const batch = batchAt(bytes, at)
    for (const record of iterateRecords(batch)) {
      if (record.offset >= from && record.offset < to) records.push({ ...record })
    }
    at += batch.header.sizeBytes
  }
  return records
}

test('the records of plain batches are those that a reader makes of each', () => {
  const random = seeded(11)
  for (let round = 0; round < ROUNDS; round++) {
    const { bytes, batches } = chunkOf(random, 0.2)
    const first = batches.findIndex(({ plain }) => plain)
    if (first < 0) continue
    const at = batches[first]!.position
    const stop = batches.slice(first).find(({ plain }) => !plain)?.position ?? bytes.length
    const { baseOffset, count } = batches[first]!
    const from = baseOffset + (at === 0 ? random.below(count) : 0)
    const range = { ...whole, from, to: random.chance(0.3) ? from + random.below(6) : whole.to }
    const found = walk(bytes, at, range)
    if (range.to === whole.to) assert.equal(at + found.sizeBytes, stop)
    assert.deepEqual(found.records.map(plainOf), expected(bytes, at, found.sizeBytes, range))
  }
})

test('a walk ends in front of whatever was changed', () => {
  const random = seeded(12)
  let stopped = 0
  for (let round = 0; round < ROUNDS; round++) {
    const { bytes, batches } = chunkOf(random, 0)
    const at = random.below(bytes.length)
    // A base offset, length or epoch that was changed is told by what follows, or not by the sum.
    const { position } = batches.findLast((batch) => batch.position <= at)!
    if (at - position < BatchField.MAGIC) continue
    bytes[at]! ^= 1 << random.below(8)
    const found = walk(bytes, 0)
    assert.equal(found.sizeBytes, position)
    assert.deepEqual(found.records.map(plainOf), expected(bytes, 0, position))
    stopped++
  }
  assert.ok(stopped > ROUNDS / 2)
})

test('a walk ends behind its bytes, at a gap, and at a batch that is cut', () => {
  const batchOf = (base: number) => {
    const bytes = Buffer.from(buildBatch([{ value: 'x', timestamp: NOW }]))
    bytes.writeBigInt64BE(BigInt(base), BatchField.BASE_OFFSET)
    return bytes
  }
  const size = batchOf(0).length
  const chunk = Buffer.concat([0, 1, 2, 5].map(batchOf))
  assert.equal(walk(chunk, 0).sizeBytes, 3 * size)
  assert.equal(walk(chunk, 0).nextOffset, 3)
  assert.equal(walk(chunk, 0, { ...whole, bytesMax: size + 1 }).rows, 2)
  assert.equal(walk(chunk, 0, { ...whole, to: 1 }).rows, 1)
  assert.equal(walk(chunk.subarray(0, 3 * size - 1), 0).rows, 2)
  assert.equal(walk(chunk.subarray(3 * size), 0).rows, 1)
  assert.equal(walk(Buffer.alloc(0), 0).rows, 0)
})

test('a batch of more records than a table has rows is left to the caller', () => {
  const many = buildBatch(Array.from({ length: 9000 }, () => ({ value: null, timestamp: NOW })))
  const found = walk(Buffer.from(many), 0)
  assert.deepEqual([found.rows, found.sizeBytes], [0, 0])
})

test('arguments that are none are a typed error', () => {
  const bytes = Buffer.alloc(10)
  for (const [chunk, at, range] of [
    [bytes, 11, whole],
    [bytes, -1, whole],
    [bytes, Number.NaN, whole],
    ['text', 0, whole],
    [bytes, 0, { ...whole, from: -1 }],
    [bytes, 0, { ...whole, to: 1.5 }],
  ] as [Buffer, number, typeof whole][]) {
    assert.throws(() => findPlaces(chunk, at, range), { code: 'BAD_ARGUMENT' })
  }
})
