/**
 * Strings, lists, bytes and records: null, empty and absent stay apart, and lengths are judged
 * before use.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Reader, Writer } from '../../src/protocol/bytes.js'
import {
  array,
  boolean,
  bytes,
  int8,
  int32,
  nullable,
  nullableSince,
  records,
  string,
  type Type,
  uuid,
  ZERO_UUID,
} from '../../src/protocol/types.js'
import { isBadArgument, isMalformed } from './malformed.js'

type Form = 'plain' | 'compact'

const codecOf = <T, I>(type: Type<T, I>, form: Form, version = 0) =>
  type.compile({ version, flexible: form === 'compact', nullable: false })

function hexOf<T, I>(type: Type<T, I>, form: Form, value: I, version = 0): string {
  const writer = new Writer()
  codecOf(type, form, version).write(writer, value)
  const parts = writer.finish().filter((part) => part instanceof Uint8Array)
  return Buffer.concat(parts).toString('hex')
}

function readHex<T, I>(type: Type<T, I>, form: Form, hex: string, version = 0): T {
  return codecOf(type, form, version).read(new Reader(Buffer.from(hex, 'hex')))
}

test('null and empty strings are two things in both forms', () => {
  const type = nullable(string)
  for (const [form, value, hex] of [
    ['plain', null, 'ffff'],
    ['plain', '', '0000'],
    ['plain', 'a', '000161'],
    ['compact', null, '00'],
    ['compact', '', '01'],
    ['compact', 'a', '0261'],
  ] as const) {
    assert.equal(hexOf(type, form, value), hex)
    assert.equal(readHex(type, form, hex), value)
  }
})

test('null and empty lists are two things in both forms', () => {
  const type = nullable(array(int8))
  for (const [form, value, hex] of [
    ['plain', null, 'ffffffff'],
    ['plain', [], '00000000'],
    ['plain', [7], '0000000107'],
    ['compact', null, '00'],
    ['compact', [], '01'],
    ['compact', [7], '0207'],
  ] as const) {
    assert.equal(hexOf(type, form, value), hex)
    assert.deepEqual(readHex(type, form, hex), value)
  }
})

test('null and empty records are two things in both forms', () => {
  for (const [form, value, hex] of [
    ['plain', null, 'ffffffff'],
    ['plain', new Uint8Array(0), '00000000'],
    ['plain', new Uint8Array([7]), '0000000107'],
    ['compact', null, '00'],
    ['compact', new Uint8Array(0), '01'],
    ['compact', new Uint8Array([7]), '0207'],
  ] as const) {
    assert.equal(hexOf(records, form, value), hex)
    assert.deepEqual(readHex(records, form, hex), value)
  }
})

test('any negative length reads as null where null is allowed', () => {
  assert.equal(readHex(nullable(array(int8)), 'plain', 'fffffffe'), null)
  assert.equal(readHex(nullable(string), 'plain', '8000'), null)
  assert.equal(readHex(records, 'plain', '80000000'), null)
})

test('a negative length is malformed where null is not allowed', () => {
  assert.throws(() => readHex(array(int8), 'plain', 'fffffffe'), isMalformed)
  assert.throws(() => readHex(array(int8), 'compact', '00'), isMalformed)
  assert.throws(() => readHex(string, 'plain', 'ffff'), isMalformed)
  assert.throws(() => readHex(string, 'compact', '00'), isMalformed)
  assert.throws(() => readHex(bytes, 'plain', 'ffffffff'), isMalformed)
})

test('null cannot be written where it is not allowed', () => {
  const loose = nullableSince(3, string)
  assert.throws(() => hexOf(loose, 'plain', null, 2), isBadArgument)
  assert.equal(hexOf(loose, 'plain', null, 3), 'ffff')
})

test('null inside a list is not allowed by null instead of the list', () => {
  const type = nullable(array(string))
  assert.throws(() => readHex(type, 'compact', '0200'), isMalformed)
  assert.deepEqual(readHex(array(nullable(string)), 'compact', '0200'), [null])
})

test('a count or length beyond the bytes left is malformed before anything is made for it', () => {
  const before = process.memoryUsage().arrayBuffers
  for (const type of [array(int32), array(boolean), array(string), array(uuid), bytes, records]) {
    for (const hex of ['7fffffff', '7fffffff00000000', '0000000a00000000']) {
      assert.throws(() => readHex(type as Type<unknown>, 'plain', hex), isMalformed)
    }
    for (const hex of ['ffffffff07', 'ffffffff070000', '0b00']) {
      assert.throws(() => readHex(type as Type<unknown>, 'compact', hex), isMalformed)
    }
  }
  assert.ok(process.memoryUsage().arrayBuffers - before < 1024 * 1024)
})

test('a compact string above 32,767 bytes is malformed', () => {
  const longest = Buffer.concat([Buffer.from('808002', 'hex'), Buffer.alloc(32_767, 'x')])
  const one = Buffer.concat([Buffer.from('818002', 'hex'), Buffer.alloc(32_768, 'x')])
  assert.equal(readHex(string, 'compact', longest.toString('hex')).length, 32_767)
  assert.throws(() => readHex(string, 'compact', one.toString('hex')), isMalformed)
})

test('bytes are a copy, records a view', () => {
  const frame = Buffer.from('0000000107', 'hex')
  const copy = codecOf(bytes, 'plain').read(new Reader(frame))
  const view = codecOf(records, 'plain').read(new Reader(frame))
  frame[4] = 9
  assert.deepEqual([...copy], [7])
  assert.deepEqual([...(view ?? [])], [9])
})

test('a value of another type cannot be written', () => {
  const wrong: [Type<unknown, unknown>, unknown][] = [
    [string, 5],
    [string, undefined],
    [boolean, 1],
    [int32, '5'],
    [int32, undefined],
    [uuid, undefined],
    [array(int32), 'list'],
    [array(int32), undefined],
    [bytes, undefined],
    [records, undefined],
    [records, 'text'],
  ]
  for (const [type, value] of wrong) {
    assert.throws(() => hexOf(type, 'plain', value), isBadArgument, `${type.kind} of ${value}`)
    assert.throws(() => hexOf(type, 'compact', value), isBadArgument, `${type.kind} of ${value}`)
  }
})

test('the zero uuid is sixteen zero bytes', () => {
  assert.equal(hexOf(uuid, 'plain', ZERO_UUID), '0'.repeat(32))
  assert.equal(readHex(uuid, 'plain', '0'.repeat(32)), ZERO_UUID)
})
