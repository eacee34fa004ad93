/**
 * The checksums of the addon against two strangers: the npm package crc-32, and zlib of Node where
 * it has the function. That every path of the processor agrees is shown by
 * test/native/crc32_test.cc.
 */
import assert from 'node:assert/strict'
import { createRequire } from 'node:module'
import { test } from 'node:test'
import * as zlib from 'node:zlib'
import { native, Status } from '../src/native.js'

interface Crc32Package {
  buf(bytes: Uint8Array, seed?: number): number
}
const require = createRequire(import.meta.url)
const oracle32 = require('crc-32') as Crc32Package
const oracle32c = require('crc-32/crc32c.js') as Crc32Package

/** Bytes that look random and are the same in every run. */
function bytesOf(length: number): Uint8Array {
  const bytes = new Uint8Array(length)
  let state = 12345
  for (let i = 0; i < length; i++) {
    state = (Math.imul(state, 1103515245) + 12345) >>> 0
    bytes[i] = state >>> 24
  }
  return bytes
}

const sample = bytesOf(70_000)
const lengths = [0, 1, 3, 4, 15, 16, 17, 63, 64, 65, 67, 100, 127, 511, 513, 1024, 4095, 65_537]

test('the check vector gives the published sums', () => {
  const vector = Buffer.from('123456789')
  assert.equal(native.crc32c(vector, 0, 9, 0), 0xe3069283)
  assert.equal(native.crc32(vector, 0, 9, 0), 0xcbf43926)
})

test('the path is one of the known ones', () => {
  const known =
    process.arch === 'x64' ? ['vpclmulqdq', 'pclmulqdq', 'portable'] : ['armv8', 'portable']
  assert.ok(known.includes(native.crcPath), native.crcPath)
})

test('crc32c equals the package crc-32 at every length and alignment', () => {
  for (const length of lengths) {
    for (let offset = 0; offset < 16; offset++) {
      const expected = oracle32c.buf(sample.subarray(offset, offset + length)) >>> 0
      assert.equal(native.crc32c(sample, offset, length, 0), expected, `${offset}+${length}`)
    }
  }
})

test('crc32 equals the package crc-32 at every length and alignment', () => {
  for (const length of lengths) {
    for (let offset = 0; offset < 16; offset++) {
      const expected = oracle32.buf(sample.subarray(offset, offset + length)) >>> 0
      assert.equal(native.crc32(sample, offset, length, 0), expected, `${offset}+${length}`)
    }
  }
})

test('crc32 equals zlib, also continued from a seed', () => {
  // Node has zlib.crc32 since 20.15 and 22.2; an older one is given the sum of the package instead.
  const packaged = (bytes: Uint8Array, seed: number) => oracle32.buf(bytes, seed) >>> 0
  const stranger = 'crc32' in zlib ? (zlib.crc32 as typeof packaged) : packaged
  for (const length of lengths) {
    const bytes = sample.subarray(0, length)
    assert.equal(native.crc32(bytes, 0, length, 0), stranger(bytes, 0))
    assert.equal(native.crc32(bytes, 0, length, 0xdeadbeef), stranger(bytes, 0xdeadbeef))
  }
})

test('a sum taken in chunks is the sum of the whole', () => {
  for (const sum of [native.crc32c, native.crc32]) {
    const whole = sum(sample, 0, 5000, 0)
    for (const chunk of [1, 7, 64, 100, 4999]) {
      let seed = 0
      for (let at = 0; at < 5000; at += chunk) {
        seed = sum(sample, at, Math.min(chunk, 5000 - at), seed)
      }
      assert.equal(seed, whole, `chunks of ${chunk}`)
    }
  }
})

test('a view is summed from where it starts, not from where its memory does', () => {
  const view = sample.subarray(33, 333)
  assert.equal(native.crc32c(view, 5, 200, 0), native.crc32c(sample, 38, 200, 0))
  assert.equal(native.crc32c(new Uint8Array(0), 0, 0, 77), 77)
})

test('a range that leaves the array is refused', () => {
  const bytes = new Uint8Array(10)
  for (const [offset, length] of [
    [0, 11],
    [1, 10],
    [11, 0],
    [-1, 1],
    [0, -1],
    [0.5, 1],
    [0, 1.5],
    [Number.NaN, 1],
    [0, Number.POSITIVE_INFINITY],
    [2 ** 53, 2 ** 53],
    [4, 2 ** 64 - 2],
  ] as const) {
    assert.equal(
      native.crc32c(bytes, offset, length, 0),
      Status.BAD_ARGUMENT,
      `${offset}+${length}`,
    )
    assert.equal(native.crc32(bytes, offset, length, 0), Status.BAD_ARGUMENT, `${offset}+${length}`)
  }
  assert.ok(native.crc32c(bytes, 10, 0, 0) === 0)
})

test('a seed that is no unsigned number of 32 bits is refused', () => {
  for (const seed of [-1, 2 ** 32, 0.5, Number.NaN]) {
    assert.equal(native.crc32c(new Uint8Array(4), 0, 4, seed), Status.BAD_ARGUMENT, `${seed}`)
  }
  assert.ok(native.crc32c(new Uint8Array(4), 0, 4, 2 ** 32 - 1) >= 0)
})

test('arguments of a wrong type are refused without an exception', () => {
  const call = native.crc32c as (...values: unknown[]) => number
  const bytes = new Uint8Array(8)
  for (const values of [
    [],
    [bytes],
    [bytes, 0, 8],
    ['text', 0, 4, 0],
    [null, 0, 0, 0],
    [new Float64Array(8), 0, 8, 0],
    [new ArrayBuffer(8), 0, 8, 0],
    [bytes, '0', 8, 0],
    [bytes, 0, 8n, 0],
    [bytes, 0, 8, {}],
  ]) {
    assert.equal(call(...values), Status.BAD_ARGUMENT, String(values))
  }
})

test('memory that was given away has no bytes left', () => {
  const bytes = new Uint8Array(16)
  structuredClone(bytes.buffer, { transfer: [bytes.buffer] })
  assert.equal(native.crc32c(bytes, 0, 16, 0), Status.BAD_ARGUMENT)
  assert.equal(native.crc32c(bytes, 0, 0, 0), 0)
})
