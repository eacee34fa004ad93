/**
 * The primitive values: exact at their bounds, refused beyond them, and never read past the end.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ITEMS_MAX, Reader, Writer } from '../../src/protocol/bytes.js'
import { isBadArgument, isMalformed } from './malformed.js'

function written(write: (writer: Writer) => void): Buffer {
  const writer = new Writer()
  write(writer)
  return Buffer.concat(writer.finish().filter((part) => part instanceof Uint8Array))
}

const hex = (write: (writer: Writer) => void) => written(write).toString('hex')
const reading = (text: string) => new Reader(Buffer.from(text, 'hex'))

test('numbers are written big endian, two to the complement', () => {
  assert.equal(
    hex((w) => w.int8(-2)),
    'fe',
  )
  assert.equal(
    hex((w) => w.int16(-2)),
    'fffe',
  )
  assert.equal(
    hex((w) => w.int32(0x01020304)),
    '01020304',
  )
  assert.equal(
    hex((w) => w.int64(-2)),
    'fffffffffffffffe',
  )
  assert.equal(
    hex((w) => w.int64(2 ** 53 - 1)),
    '001fffffffffffff',
  )
})

test('a 64-bit value is exact at both bounds', () => {
  for (const value of [2 ** 53 - 1, 1 - 2 ** 53, 2 ** 32, -(2 ** 32), 2 ** 31, -1, 0]) {
    assert.equal(new Reader(written((w) => w.int64(value))).int64(), value)
  }
})

test('a 64-bit value beyond 2^53-1 is refused, never rounded', () => {
  assert.throws(() => reading('0020000000000000').int64(), isMalformed)
  assert.throws(() => reading('0020000000000001').int64(), isMalformed)
  assert.throws(() => reading('ffe0000000000000').int64(), isMalformed)
  assert.throws(() => reading('7fffffffffffffff').int64(), isMalformed)
  assert.throws(() => reading('8000000000000000').int64(), isMalformed)
})

test('a clamped 64-bit value reads as the bound, and the bound is written as the largest', () => {
  assert.equal(reading('7fffffffffffffff').int64Clamped(), Number.MAX_SAFE_INTEGER)
  assert.equal(reading('0020000000000001').int64Clamped(), Number.MAX_SAFE_INTEGER)
  assert.equal(reading('8000000000000000').int64Clamped(), Number.MIN_SAFE_INTEGER)
  assert.equal(reading('000000000000002a').int64Clamped(), 42)
  assert.equal(
    hex((w) => w.int64Clamped(Number.MAX_SAFE_INTEGER)),
    '7fffffffffffffff',
  )
  assert.equal(
    hex((w) => w.int64Clamped(Number.MIN_SAFE_INTEGER)),
    '8000000000000000',
  )
  assert.equal(
    hex((w) => w.int64Clamped(-1)),
    'ffffffffffffffff',
  )
})

test('a number that does not fit its type cannot be written', () => {
  const writer = new Writer()
  assert.throws(() => writer.int8(128), isBadArgument)
  assert.throws(() => writer.int16(-32_769), isBadArgument)
  assert.throws(() => writer.int32(2 ** 31), isBadArgument)
  assert.throws(() => writer.int32(Number.NaN), isBadArgument)
  assert.throws(() => writer.int32(1.5), isBadArgument)
  assert.throws(() => writer.int64(2 ** 53), isBadArgument)
  assert.throws(() => writer.int64Clamped(Number.POSITIVE_INFINITY), isBadArgument)
  assert.throws(() => writer.uvarint(-1), isBadArgument)
  assert.equal(writer.sizeBytes, 0)
})

test('a varint takes one byte up to 127 and five up to 2^31-1', () => {
  for (const [value, text] of [
    [0, '00'],
    [127, '7f'],
    [128, '8001'],
    [16_383, 'ff7f'],
    [16_384, '808001'],
    [0x7fffffff, 'ffffffff07'],
  ] as const) {
    assert.equal(
      hex((w) => w.uvarint(value)),
      text,
    )
    assert.equal(reading(text).uvarint(), value)
  }
})

test('a varint of more than 31 bits, or without an end, is malformed', () => {
  for (const text of ['ffffffff08', 'ffffffff0f', '808080808001', '8080808080', '80', '']) {
    assert.throws(() => reading(text).uvarint(), isMalformed, text)
  }
})

test('a short and a long string are written alike, with their length in bytes', () => {
  for (const length of [0, 1, 41, 42, 43, 126, 127, 200, 32_767]) {
    const text = 'x'.repeat(length)
    const plain = new Reader(written((w) => w.string(text, false)))
    assert.equal(plain.int16(), length)
    assert.equal(plain.utf8(length), text)
    const compact = new Reader(written((w) => w.string(text, true)))
    assert.equal(compact.uvarint(), length + 1)
    assert.equal(compact.utf8(length), text)
    assert.equal(plain.remaining + compact.remaining, 0)
  }
})

test('a string of other than ASCII has the length of its UTF-8', () => {
  for (const text of ['é', '€'.repeat(42), '🐢'.repeat(21), 'aé', `${'a'.repeat(41)}é`]) {
    const reader = new Reader(written((w) => w.string(text, true)))
    const length = reader.uvarint() - 1
    assert.equal(length, Buffer.byteLength(text))
    assert.equal(reader.utf8(length), text)
  }
})

test('a string above 32,767 bytes cannot be written', () => {
  assert.throws(() => new Writer().string('x'.repeat(32_768), true), isBadArgument)
  assert.throws(() => new Writer().string('é'.repeat(16_384), false), isBadArgument)
})

test('bytes that are not UTF-8 read as the replacement character', () => {
  assert.equal(reading('41ff42').utf8(3), 'A\ufffdB')
})

test('a uuid comes back as it was given, and nothing else is one', () => {
  const uuid = 'cv2x4RS9uRGGIu-eP2OxDQ'
  assert.equal(new Reader(written((w) => w.uuid(uuid))).uuid(), uuid)
  for (const wrong of ['', uuid.slice(1), `${uuid}A`, `!${uuid.slice(1)}`]) {
    assert.throws(() => new Writer().uuid(wrong), isBadArgument, wrong)
  }
})

test('a view shares the memory of the message', () => {
  const message = Buffer.from('0102030405', 'hex')
  const reader = new Reader(message)
  reader.skip(1)
  const view = reader.view(2)
  message[1] = 9
  assert.deepEqual([...view], [9, 3])
  assert.equal(reader.remaining, 2)
})

test('nothing is read past the end', () => {
  for (const read of [
    (r: Reader) => r.int16(),
    (r: Reader) => r.int32(),
    (r: Reader) => r.int64(),
    (r: Reader) => r.uuid(),
    (r: Reader) => r.utf8(2),
    (r: Reader) => r.view(0x7fffffff),
    (r: Reader) => r.skip(2),
  ]) {
    assert.throws(() => read(reading('01')), isMalformed)
  }
  assert.throws(() => reading('').boolean(), isMalformed)
})

test('more items than fit the bytes left are refused, however large their count', () => {
  const reader = reading('00000000')
  reader.claim(2, 2, 1)
  assert.throws(() => reader.claim(3, 2, 1), isMalformed)
  assert.throws(() => reader.claim(0x7fffffff, 0x7fffffff, 1), isMalformed)
})

test('a message may hold so many items and no more, over all its arrays', () => {
  const reader = new Reader(Buffer.alloc(ITEMS_MAX + 1))
  reader.claim(ITEMS_MAX - 1, 1, 1)
  reader.claim(ITEMS_MAX, 1, 0)
  reader.claim(1, 1, 1)
  assert.throws(() => reader.claim(1, 1, 1), isMalformed)
})

test('a message that outgrows its first chunk is gathered without a gap', () => {
  const writer = new Writer(8)
  for (let i = 0; i < 5000; i++) writer.int32(i)
  const parts = writer.finish().filter((part) => part instanceof Uint8Array)
  const whole = Buffer.concat(parts)
  assert.equal(whole.length, 20_000)
  assert.equal(writer.sizeBytes, 20_000)
  for (let i = 0; i < 5000; i++) assert.equal(whole.readInt32BE(i * 4), i)
})

test('a slice becomes a part of its own between the bytes around it', () => {
  const slice = { sizeBytes: 1000 }
  const writer = new Writer()
  writer.int8(1)
  writer.records(slice)
  writer.int8(2)
  assert.equal(writer.sizeBytes, 1002)
  assert.deepEqual(writer.finish(), [new Uint8Array([1]), slice, new Uint8Array([2])])
})

test('an empty slice is no part', () => {
  const writer = new Writer()
  writer.records({ sizeBytes: 0 })
  assert.deepEqual(writer.finish(), [])
})

test('a slice of no sensible size cannot be written', () => {
  for (const sizeBytes of [-1, 1.5, Number.NaN]) {
    assert.throws(() => new Writer().records({ sizeBytes }), isBadArgument)
  }
})

test('few bytes are copied, many are a part of their own', () => {
  const few = new Uint8Array(100)
  const many = new Uint8Array(100_000)
  const writer = new Writer()
  writer.raw(few)
  writer.raw(many)
  const parts = writer.finish()
  assert.equal(parts.length, 2)
  assert.notEqual(parts[0], few)
  assert.equal(parts[1], many)
})

test('a frame has its length in front, slices included', () => {
  const writer = new Writer(8)
  writer.beginFrame()
  writer.int32(7)
  writer.records({ sizeBytes: 1000 })
  writer.int32(8)
  const [first] = writer.finishFrame()
  assert.ok(first instanceof Uint8Array)
  assert.equal(Buffer.from(first).readInt32BE(0), 1008)
  assert.equal(writer.sizeBytes, 1012)
})
