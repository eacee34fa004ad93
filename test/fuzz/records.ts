/**
 * Records from strangers: batches, compressed or not, with any bytes changed and mostly with a
 * right CRC behind them. Whatever they are, reading ends in records or in a SeglogError, and
 * decompression within its bound.
 */
import assert from 'node:assert/strict'
import { SeglogError } from '../../src/errors.js'
import {
  BatchField,
  buildBatch,
  type CompressionName,
  codecNamed,
  iterateBatches,
  iterateRecords,
  type RecordInput,
} from '../../src/records/index.js'
import { type Random, seeded } from '../protocol/random.js'
import { codecNames, sealed } from '../records/helpers.js'

const OUTPUT_BYTES_MAX = 256 * 1024

/** Codes that bytes alone may bring about. */
const codes = new Set([
  'SHORT',
  'BAD_MAGIC',
  'CORRUPT',
  'INVALID_RECORD',
  'OFFSET_TOO_LARGE',
  'TOO_LARGE',
  'UNSUPPORTED_COMPRESSION',
])

/** The value of `read`, or undefined where it refused the bytes in good form. */
export function refusedOr<T>(what: () => string, read: () => T): T | undefined {
  try {
    return read()
  } catch (error) {
    if (error instanceof SeglogError && codes.has(error.code)) return undefined
    assert.fail(`${what()}: ${error instanceof Error ? error.stack : String(error)}`)
  }
}

const interesting = [0, 1, 2, 0x3d, 0x7f, 0x80, 0x81, 0xfe, 0xff]

/** Some bytes changed, cut, added or moved, from position `from` on. */
export function mutated(bytes: Uint8Array, random: Random, from = 0): Uint8Array {
  let copy = Buffer.from(bytes)
  for (let left = 1 + random.below(4); left > 0 && copy.length > from; left--) {
    const at = from + random.below(copy.length - from)
    const how = random.below(8)
    if (how < 5) copy[at] = random.chance(0.6) ? random.pick(interesting) : random.below(256)
    else if (how === 5) copy = copy.subarray(0, at)
    else if (how === 6) copy.copy(copy, at, from, from + random.below(copy.length - from))
    else copy = Buffer.concat([copy.subarray(0, at), random.bytes(9), copy.subarray(at)])
  }
  return Uint8Array.from(copy)
}

function someRecords(random: Random): RecordInput[] {
  return Array.from({ length: 1 + random.below(8) }, (_, i) => ({
    key: random.chance(0.3) ? null : `key ${i}`,
    value: random.chance(0.2) ? null : Buffer.alloc(random.below(300), random.below(256)),
    headers: random.chance(0.3) ? [{ key: 'h', value: random.chance(0.5) ? null : 'v' }] : [],
    timestamp: 1_700_000_000_000 + random.below(1000),
  }))
}

function readAll(bytes: Uint8Array): number {
  let count = 0
  for (const batch of iterateBatches(bytes)) {
    for (const _ of iterateRecords(batch, { maxOutputBytes: OUTPUT_BYTES_MAX })) count++
  }
  return count
}

function fuzzBatch(random: Random, name: CompressionName, where: string): void {
  const records = someRecords(random)
  const batch = buildBatch(records, { compression: name })
  assert.equal(readAll(batch), records.length, where)
  let bytes = mutated(batch, random, random.chance(0.7) ? BatchField.RECORDS : 0)
  if (bytes.length >= BatchField.RECORDS && random.chance(0.8)) {
    new DataView(bytes.buffer).setInt32(BatchField.LENGTH, bytes.length - 12)
    bytes = sealed(bytes)
  }
  const what = () => `${where} ${Buffer.from(bytes).toString('hex')}`
  const count = refusedOr(what, () => readAll(bytes)) ?? 0
  // A record takes 7 bytes at least, of what comes out of the codec.
  assert.ok(count <= OUTPUT_BYTES_MAX / 7, where)
}

function fuzzCodec(random: Random, name: CompressionName, where: string): void {
  const codec = codecNamed(name)
  const plain = random.chance(0.5) ? random.bytes(random.below(500)) : Buffer.alloc(5000, 'seglog')
  const packed = codec.compress(plain)
  assert.deepEqual(
    Buffer.from(codec.decompress(packed, plain.length + 1)),
    Buffer.from(plain),
    where,
  )
  const bytes = mutated(packed, random)
  const bound = random.pick([0, 1, 100, plain.length, OUTPUT_BYTES_MAX])
  const what = () => `${where}, bound ${bound}: ${Buffer.from(bytes).toString('hex')}`
  const output = refusedOr(what, () => codec.decompress(bytes, bound))
  assert.ok((output?.length ?? 0) <= bound, what())
}

/** One input of one seed. */
export function fuzzRecords(seed: number): void {
  const random = seeded(seed)
  const name = random.pick(codecNames)
  fuzzBatch(random, name, `seed ${seed}, batch, ${name}`)
  fuzzCodec(random, name, `seed ${seed}, codec ${name}`)
}
