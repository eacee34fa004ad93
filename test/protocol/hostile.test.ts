/**
 * Bytes from strangers: whatever they are, reading them ends in a value or in MALFORMED_FRAME, in
 * time and memory that their own length bounds. Seeded, so that a failure repeats.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { apiVersions } from '../../src/apis/api-versions.js'
import { fetch } from '../../src/apis/fetch.js'
import { metadata } from '../../src/apis/metadata.js'
import { apiByKey, apis } from '../../src/apis/registry.js'
import { ITEMS_MAX, Reader, Writer } from '../../src/protocol/bytes.js'
import { FrameReader, readRequestHeader } from '../../src/protocol/frame.js'
import { Field, type Message, type Spec, struct, tagged } from '../../src/protocol/schema.js'
import { array, nullableSince, string, type Type } from '../../src/protocol/types.js'
import { generateStruct } from '../apis/values.js'
import { isMalformed } from './malformed.js'
import { type Random, seeded } from './random.js'

type AnyMessage = Message<unknown, unknown>
type AnyType = Type<unknown, unknown>

function bytesOf(message: AnyMessage, version: number, value: unknown): Buffer {
  const writer = new Writer()
  message.write(writer, version, value)
  return Buffer.concat(writer.finish().filter((part) => part instanceof Uint8Array))
}

/** Reads, and lets pass what is malformed and nothing else. */
function readAnyhow(what: string, read: () => unknown): void {
  try {
    read()
  } catch (error) {
    if (!isMalformed(error)) assert.fail(`${what}: ${String(error)}`)
  }
}

function mutated(bytes: Buffer, random: Random): Buffer {
  const copy = Buffer.from(bytes)
  for (let count = 1 + random.below(4); count > 0 && copy.length > 0; count--) {
    copy[random.below(copy.length)] = random.pick([0, 1, 0x7f, 0x80, 0xfe, 0xff, random.below(256)])
  }
  if (random.chance(0.2)) return copy.subarray(0, random.below(copy.length + 1))
  if (!random.chance(0.2)) return copy
  const at = random.below(copy.length + 1)
  return Buffer.concat([copy.subarray(0, at), random.bytes(1 + random.below(9)), copy.subarray(at)])
}

test('20,000 random and mutated messages are read or refused, and nothing else happens', () => {
  const random = seeded(2024)
  const messages = apis.flatMap((api) => [api.request, api.response])
  for (let round = 0; round < 20_000; round++) {
    const message = random.pick(messages)
    const [min, max] = message.versions
    const version = min + random.below(max - min + 1)
    const bytes = random.chance(0.3)
      ? Buffer.from(random.bytes(random.below(200)))
      : mutated(bytesOf(message, version, generateStruct(message.type, version, random)), random)
    readAnyhow(`round ${round}, ${message.name} v${version}, ${bytes.toString('hex')}`, () =>
      message.read(new Reader(bytes), version),
    )
  }
})

test('5,000 random streams are cut, their headers read, or refused', () => {
  const random = seeded(4711)
  for (let round = 0; round < 5000; round++) {
    const chunk = Buffer.from(random.bytes(random.below(100)))
    if (chunk.length > 8) {
      chunk.writeInt32BE(random.below(60), 0)
      chunk.writeInt16BE(random.below(80) - 2, 4)
      chunk.writeInt16BE(random.below(20) - 2, 6)
    }
    readAnyhow(`round ${round}, ${chunk.toString('hex')}`, () => {
      for (const frame of new FrameReader(1000).push(chunk)) {
        const { api, apiVersion, reader } = readRequestHeader(frame, apiByKey)
        api?.request.read(reader, apiVersion)
      }
    })
  }
})

test('a count of topics beyond the message is malformed', () => {
  const reader = new Reader(Buffer.from('033c0c00b6', 'hex'))
  assert.throws(() => metadata.request.read(reader, 0), isMalformed)
})

test('a count of -2 topics is null where null is allowed, else malformed', () => {
  const read = (version: number) =>
    metadata.request.read(new Reader(Buffer.from('fffffffe', 'hex')), version)
  assert.equal(read(1).topics, null)
  assert.throws(() => read(0), isMalformed)
})

test('a message that asks for more objects than a message may hold is refused at once', () => {
  const count = ITEMS_MAX + 1
  const writer = new Writer()
  writer.uvarint(count + 1)
  writer.raw(new Uint8Array(count * 2).fill(1))
  writer.raw(new Uint8Array(3))
  const bytes = Buffer.concat(writer.finish().filter((part) => part instanceof Uint8Array))
  const before = process.memoryUsage().heapUsed
  assert.throws(() => metadata.request.read(new Reader(bytes), 9), isMalformed)
  assert.ok(process.memoryUsage().heapUsed - before < 4 * 1024 * 1024)
})

test('many small lists count together', () => {
  const inner = 1000
  const outer = Math.ceil(ITEMS_MAX / inner) + 1
  const writer = new Writer()
  writer.int32(-1)
  writer.int32(0)
  writer.int32(0)
  writer.int32(outer)
  const partition = Buffer.alloc(16)
  const topic = Buffer.concat([Buffer.from('0001610000', 'hex'), Buffer.from('03e8', 'hex')])
  const partitions = Buffer.concat(Array.from({ length: inner }, () => partition))
  for (let i = 0; i < outer; i++) {
    writer.raw(topic)
    writer.raw(partitions)
  }
  const bytes = Buffer.concat(writer.finish().filter((part) => part instanceof Uint8Array))
  assert.throws(
    () => fetch.request.read(new Reader(bytes), 0),
    (error) => isMalformed(error) && String(error).includes('items in one message'),
  )
})

/** The same type with two tags at every level that no table knows. */
function withStrangers(type: AnyType): AnyType {
  let result: AnyType = type
  if (type.item) result = array(withStrangers(type.item))
  if (type.fields) {
    const spec: Record<string, Spec[string]> = {}
    for (const [name, field] of type.fields) {
      const { type: inner, from, to, fallback, tag } = field as Field<unknown, unknown>
      spec[name] = new Field(withStrangers(inner), from, to, fallback, tag)
    }
    spec.stranger = tagged(90, 0, string, 'no default')
    spec.other = tagged(1_000_000, 0, array(string), ['no default'])
    result = struct(spec) as AnyType
  }
  return Number.isFinite(type.nullableFrom) && (type.item || type.fields)
    ? nullableSince(type.nullableFrom, result)
    : result
}

/** Gives every struct of a value the tags that `withStrangers` added. */
function strange(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(strange)
  if (typeof value !== 'object' || value === null || value instanceof Uint8Array) return value
  const entries = Object.entries(value).map(([name, item]) => [name, strange(item)])
  return { ...Object.fromEntries(entries), stranger: 'x', other: ['a', 'b'] }
}

test('unknown tags at every level are passed over, in every flexible version', () => {
  for (const message of apis.flatMap((api) => [api.request, api.response])) {
    const strangers = withStrangers(message.type)
    for (let version = message.versions[0]; version <= message.versions[1]; version++) {
      if (!message.isFlexible(version)) continue
      const value = generateStruct(message.type, version, seeded(version))
      const writer = new Writer()
      const codec = strangers.compile({ version, flexible: true, nullable: false })
      codec.write(writer, strange(value))
      const parts = writer.finish().filter((part) => part instanceof Uint8Array)
      const reader = new Reader(Buffer.concat(parts))
      const plain = new Reader(bytesOf(message, version, value))
      const where = `${message.name} v${version}`
      assert.deepEqual(message.read(reader, version), message.read(plain, version), where)
      assert.equal(reader.remaining, 0, where)
      assert.ok(reader.end > plain.end, where)
    }
  }
})

test('trailing bytes of a request are left unread', () => {
  const reader = new Reader(Buffer.from('ffff', 'hex'))
  apiVersions.request.read(reader, 0)
  assert.equal(reader.remaining, 2)
})
