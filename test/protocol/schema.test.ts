/** A table means the same in every version: what is absent, default, tagged, null or left out. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { SeglogError } from '../../src/errors.js'
import { Reader, Writer } from '../../src/protocol/bytes.js'
import { api, between, message, since, struct, tagged } from '../../src/protocol/schema.js'
import { array, int8, int16, nullable, string } from '../../src/protocol/types.js'
import { isBadArgument, isMalformed } from './malformed.js'

const sample = message({
  name: 'Sample',
  versions: [0, 4],
  flexible: 3,
  fields: {
    always: int8,
    old: between(0, 1, int8, -7),
    later: since(2, string, 'none'),
    label: tagged(1, 3, nullable(string), null),
    pair: tagged(0, 4, struct({ a: since(0, int8, -1), b: since(0, int8, -1) })),
  },
})

type SampleInput = Parameters<typeof sample.write>[2]

function hexOf(version: number, value: SampleInput): string {
  const writer = new Writer()
  sample.write(writer, version, value)
  const parts = writer.finish().filter((part) => part instanceof Uint8Array)
  return Buffer.concat(parts).toString('hex')
}

const readHex = (version: number, hex: string) =>
  sample.read(new Reader(Buffer.from(hex, 'hex')), version)

test('a version has the fields of its range and no others', () => {
  const value = { always: 1, old: 2, later: 'x' }
  assert.equal(hexOf(0, value), '0102')
  assert.equal(hexOf(1, value), '0102')
  assert.equal(hexOf(2, value), '01000178')
  assert.equal(hexOf(3, value), '01027800')
})

test('a field that the version lacks reads as its default', () => {
  const pair = { a: -1, b: -1 }
  assert.deepEqual(readHex(0, '0102'), { always: 1, old: 2, later: 'none', label: null, pair })
  assert.deepEqual(readHex(2, '01000178'), { always: 1, old: -7, later: 'x', label: null, pair })
})

test('a field that is left out is written as its default', () => {
  assert.equal(hexOf(1, { always: 1 }), '01f9')
  assert.equal(hexOf(2, { always: 1, later: undefined }), '0100046e6f6e65')
})

test('a field that may not be left out is named where it is missing', () => {
  const broken = {} as SampleInput
  assert.throws(
    () => hexOf(2, broken),
    (error) =>
      isBadArgument(error) &&
      error instanceof SeglogError &&
      error.message.startsWith('Sample v2: always: '),
  )
})

test('a tagged field is sent where it differs from its default, in the order of tags', () => {
  assert.equal(hexOf(4, { always: 1, later: '', label: null, pair: { a: -1 } }), '010100')
  assert.equal(hexOf(4, { always: 1, later: '', label: '' }), '010101' + '010101')
  assert.equal(
    hexOf(4, { always: 1, later: '', label: 'x', pair: { a: 5 } }),
    `010102${'000305ff00'}${'01020278'}`,
  )
})

test('a tagged field is not sent to a version that lacks it', () => {
  assert.equal(hexOf(3, { always: 1, later: '', pair: { a: 5, b: 5 } }), '010100')
  assert.equal(hexOf(2, { always: 1, later: '', label: 'x' }), '010000')
})

test('tagged fields are read in any order, with unknown ones among them', () => {
  const tags = '04' + '6303aabbcc' + '01020278' + '6400' + '000305ff00'
  const value = readHex(4, `0101${tags}`)
  assert.equal(value.label, 'x')
  assert.deepEqual(value.pair, { a: 5, b: -1 })
})

test('a tag of a later version is unknown to an earlier one', () => {
  assert.deepEqual(readHex(3, '0101' + '01' + '000305ff00').pair, { a: -1, b: -1 })
})

test('what a tagged field has beyond its known end is passed over', () => {
  assert.equal(readHex(3, '0101' + '01' + '01040278ffff').label, 'x')
})

test('a tagged field that is longer than it says, or than the message, is malformed', () => {
  assert.throws(() => readHex(3, '0101' + '01' + '01010278'), isMalformed)
  assert.throws(() => readHex(3, '0101' + '01' + '63ff'), isMalformed)
  assert.throws(() => readHex(3, '0101' + '01' + '63ffffffff07'), isMalformed)
})

test('more tagged fields than there are bytes for are malformed', () => {
  assert.throws(() => readHex(3, '0101' + 'ffffffff07'), isMalformed)
})

test('a struct may be null where its table says so, by a byte in front', () => {
  const holder = message({
    name: 'Holder',
    versions: [0, 0],
    flexible: 0,
    fields: { cursor: since(0, nullable(struct({ index: int8 })), null) },
  })
  const write = (value: Parameters<typeof holder.write>[2]) => {
    const writer = new Writer()
    holder.write(writer, 0, value)
    return Buffer.concat(writer.finish().filter((part) => part instanceof Uint8Array))
  }
  assert.equal(write({}).toString('hex'), 'ff00')
  assert.equal(write({ cursor: { index: 5 } }).toString('hex'), '01050000')
  assert.deepEqual(holder.read(new Reader(Buffer.from('ff00', 'hex')), 0), { cursor: null })
  const back = holder.read(new Reader(Buffer.from('01050000', 'hex')), 0)
  assert.deepEqual(back, { cursor: { index: 5 } })
})

test('a version outside the range is unsupported, and nothing is read or written', () => {
  const unsupported = (error: unknown) =>
    error instanceof SeglogError && error.code === 'UNSUPPORTED_VERSION'
  for (const version of [-1, 5, 1.5, Number.NaN]) {
    assert.throws(() => readHex(version, '0102'), unsupported)
    assert.throws(() => hexOf(version, { always: 1 }), unsupported)
  }
})

test('an error of reading names the message, the version and the field', () => {
  const listed = message({
    name: 'Listed',
    versions: [0, 0],
    fields: { topics: array(struct({ name: string })) },
  })
  const reader = new Reader(Buffer.from('00000001ffff', 'hex'))
  assert.throws(
    () => listed.read(reader, 0),
    (error) =>
      isMalformed(error) &&
      error instanceof SeglogError &&
      error.message.startsWith('Listed v0: topics: name: '),
  )
})

test('what reading gives for lack of a field cannot be changed by its reader', () => {
  const lists = message({
    name: 'Lists',
    versions: [0, 1],
    fields: { ids: since(1, array(int16)) },
  })
  const { ids } = lists.read(new Reader(Buffer.alloc(0)), 0)
  assert.throws(() => (ids as number[]).push(1), TypeError)
  assert.deepEqual(lists.read(new Reader(Buffer.alloc(0)), 0).ids, [])
})

test('the types of an API follow from its table', () => {
  const echo = api({
    key: 99,
    name: 'Echo',
    versions: [0, 1],
    request: { text: string, loud: since(1, int8) },
    response: { texts: array(string) },
  })
  const writer = new Writer()
  echo.request.write(writer, 1, { text: 'a' })
  const [bytes] = writer.finish()
  assert.ok(bytes instanceof Uint8Array)
  const read: { readonly text: string; readonly loud: number } = echo.request.read(
    new Reader(bytes),
    1,
  )
  assert.deepEqual(read, { text: 'a', loud: 0 })
  // @ts-expect-error a field without a version of its own may not be left out
  assert.throws(() => echo.request.write(new Writer(), 1, { loud: 1 }), isBadArgument)
  // @ts-expect-error a list of numbers is no list of strings
  assert.throws(() => echo.response.write(new Writer(), 1, { texts: [1] }), isBadArgument)
})
