import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  BatchField,
  batchAt,
  buildBatch,
  crcMatches,
  iterateBatches,
  parseBatchHeader,
} from '../../src/records/index.js'

const batch = () => Buffer.from(buildBatch([{ value: 'a' }, { value: 'b' }], { baseOffset: 10 }))

function changed(field: number, bytes: number[]): Buffer {
  const result = batch()
  result.set(bytes, field)
  return result
}

const minusOne = [0xff, 0xff, 0xff, 0xff]
const wrong: [string, Buffer, string][] = [
  ['magic -1', changed(BatchField.MAGIC, [0xff]), 'BAD_MAGIC'],
  ['magic 3', changed(BatchField.MAGIC, [3]), 'BAD_MAGIC'],
  ['a length of -1', changed(BatchField.LENGTH, minusOne), 'CORRUPT'],
  ['a length of 0', changed(BatchField.LENGTH, [0, 0, 0, 0]), 'CORRUPT'],
  ['a length of 48', changed(BatchField.LENGTH, [0, 0, 0, 48]), 'CORRUPT'],
  ['a length of 2^31 - 1', changed(BatchField.LENGTH, [0x7f, 0xff, 0xff, 0xff]), 'CORRUPT'],
  ['a base offset of -1', changed(BatchField.BASE_OFFSET, [...minusOne, ...minusOne]), 'CORRUPT'],
  ['a base offset of 2^53', changed(BatchField.BASE_OFFSET, [0, 0x20]), 'OFFSET_TOO_LARGE'],
  [
    'a last offset of 2^53',
    changed(BatchField.BASE_OFFSET, [0, 0x1f, ...minusOne, 0xff, 0xff]),
    'OFFSET_TOO_LARGE',
  ],
  ['a last offset delta of -1', changed(BatchField.LAST_OFFSET_DELTA, minusOne), 'CORRUPT'],
  ['a count of -1', changed(BatchField.COUNT, minusOne), 'CORRUPT'],
  ['a count above the offsets', changed(BatchField.COUNT, [0, 0, 0, 3]), 'CORRUPT'],
  ['a timestamp of 2^53', changed(BatchField.MAX_TIMESTAMP, [0, 0x20]), 'CORRUPT'],
  ['a producer id of 2^53', changed(BatchField.PRODUCER_ID, [0, 0x20]), 'CORRUPT'],
  ['60 bytes', batch().subarray(0, 60), 'SHORT'],
  ['no byte', Buffer.alloc(0), 'SHORT'],
]
for (const [what, bytes, code] of wrong) {
  test(`a header with ${what} is ${code}`, () => {
    assert.throws(() => parseBatchHeader(bytes, 0), { name: 'SeglogError', code })
  })
}

test('a header is read where its 61 bytes are all that is there', () => {
  const header = parseBatchHeader(batch().subarray(0, 61), 0)
  assert.equal(header.baseOffset, 10)
  assert.equal(header.lastOffset, 11)
  assert.equal(header.count, 2)
})

test('a batch of which one byte lacks is SHORT', () => {
  assert.throws(() => batchAt(batch().subarray(0, -1), 0), { code: 'SHORT' })
})

test('base offset and leader epoch may change without the CRC', () => {
  const bytes = batch()
  bytes.fill(1, BatchField.LEADER_EPOCH, BatchField.LEADER_EPOCH + 4)
  bytes[BatchField.BASE_OFFSET + 7] = 99
  assert.ok(crcMatches(batchAt(bytes, 0)))
})

test('a flipped bit anywhere from the attributes on is seen by the CRC', () => {
  for (let bit = BatchField.ATTRIBUTES * 8; bit < batch().length * 8; bit++) {
    const bytes = batch()
    const { header } = batchAt(bytes, 0)
    bytes[bit >> 3] = (bytes[bit >> 3] ?? 0) ^ (1 << (bit & 7))
    assert.equal(crcMatches({ header, bytes, position: 0 }), false, `bit ${bit}`)
  }
})

test('whole batches are found one after the other, with their positions', () => {
  const bytes = Buffer.concat([batch(), batch(), batch()])
  const positions = [...iterateBatches(bytes)].map(({ position }) => position)
  assert.deepEqual(positions, [0, batch().length, 2 * batch().length])
})

test('a batch is a view into the bytes that it was found in', () => {
  const bytes = Buffer.concat([batch(), batch()])
  for (const found of iterateBatches(bytes)) assert.equal(found.bytes.buffer, bytes.buffer)
})

test('bytes that end anywhere in a batch end the iteration behind the last whole one', () => {
  const size = batch().length
  const two = Buffer.concat([batch(), batch()])
  for (let end = 0; end <= two.length; end++) {
    const batches = iterateBatches(two.subarray(0, end))
    let step = batches.next()
    let count = 0
    for (; step.done !== true; step = batches.next()) count++
    assert.equal(count, Math.floor(end / size), `${end} bytes`)
    assert.equal(step.value, count * size, `${end} bytes`)
  }
})

test('a malformed batch behind a good one is an error that names its position', () => {
  const size = batch().length
  const batches = iterateBatches(Buffer.concat([batch(), changed(BatchField.MAGIC, [7])]))
  assert.equal(batches.next().done, false)
  assert.throws(() => batches.next(), { code: 'BAD_MAGIC', message: new RegExp(`at ${size}:`) })
})
