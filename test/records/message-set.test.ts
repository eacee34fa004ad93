import assert from 'node:assert/strict'
import { test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { codecNamed, iterateBatches, iterateRecords } from '../../src/records/index.js'
import { iterateMessageRecords, messageAt } from '../../src/records/message-set.js'
import { oldChecksum } from '../../src/records/message-set-lz4.js'
import { latin1 } from './helpers.js'
import { message, messageAround, messageSet, type PlainMessage } from './old-messages.js'

type Row = [number, number, string | null, string | null]

/** Offset, timestamp, key and value of every record, as any reader of a log gets them. */
function read(bytes: Uint8Array): Row[] {
  const rows: Row[] = []
  for (const batch of iterateBatches(bytes)) {
    for (const { offset, timestamp, key, value, headers } of iterateRecords(batch)) {
      assert.deepEqual(headers, [])
      rows.push([offset, timestamp, latin1(key), latin1(value)])
    }
  }
  return rows
}

const inner = (...offsets: number[]): PlainMessage[] =>
  offsets.map((offset) => ({ offset, timestamp: 1000 + offset, value: `v${offset % 10}` }))

function wrapper(magic: number, offset: number, codec: number, set: Buffer, more = {}): Buffer {
  return message(magic, { offset, attributes: codec, value: set, timestamp: 5000, ...more })
}

for (const magic of [0, 1]) {
  const time = (timestamp: number) => (magic === 0 ? -1 : timestamp)

  test(`null, empty and other keys and values of magic ${magic} keep apart`, () => {
    const set = messageSet(
      magic,
      { offset: 7, key: null, value: null, timestamp: 11 },
      { offset: 8, key: '', value: '', timestamp: -1 },
      { offset: 10, key: 'k', value: 'v', timestamp: 2 ** 52 },
    )
    assert.deepEqual(read(set), [
      [7, time(11), null, null],
      [8, -1, '', ''],
      [10, time(2 ** 52), 'k', 'v'],
    ])
  })

  for (const name of ['gzip', 'snappy', 'lz4'] as const) {
    test(`a wrapper of magic ${magic} in ${name} holds records at their own offsets`, () => {
      const offsets = magic === 0 ? [40, 41, 45] : [0, 1, 5]
      const set = messageSet(magic, ...inner(...offsets))
      const codec = codecNamed(name)
      const bytes = wrapper(magic, 45, codec.id, Buffer.from(codec.compress(set)))
      const rows = offsets.map((offset, i): Row => {
        return [[40, 41, 45][i] ?? -1, time(1000 + offset), null, `v${offset % 10}`]
      })
      assert.deepEqual(read(Buffer.concat([bytes, message(magic, { offset: 46 })])), [
        ...rows,
        [46, -1, null, null],
      ])
    })
  }
}

test('an lz4 frame of magic 0 may have the header checksum of old clients', () => {
  const codec = codecNamed('lz4')
  const frame = oldChecksum(codec.compress(messageSet(0, { offset: 3, value: 'old' })))
  assert.deepEqual(read(wrapper(0, 3, codec.id, Buffer.from(frame))), [[3, -1, null, 'old']])
})

test('a wrapper of LogAppendTime overrides the times inside, one of CreateTime does not', () => {
  const set = gzipSync(messageSet(1, ...inner(0, 1)))
  const times = (attributes: number) =>
    read(wrapper(1, 1, attributes, set)).map(([, timestamp]) => timestamp)
  assert.deepEqual(times(1), [1000, 1001])
  assert.deepEqual(times(1 | 8), [5000, 5000])
})

test('in magic 0 that bit has no meaning', () => {
  assert.deepEqual(read(message(0, { offset: 1, value: 'v', attributes: 8 })), [[1, -1, null, 'v']])
})

test('bytes that end in a message end the iteration behind the last whole one', () => {
  const set = messageSet(0, { offset: 0, value: 'a' }, { offset: 1, value: 'b' })
  for (let end = 0; end <= set.length; end++) {
    assert.equal(read(set.subarray(0, end)).length, Math.floor(end / 27), `${end} bytes`)
  }
})

const two = (magic: number) => messageSet(magic, ...inner(0, 1))
const broken = (bytes: Buffer, at: number) => {
  const copy = Buffer.from(bytes)
  copy[at] = (copy[at] ?? 0) ^ 1
  return copy
}
const rest = (...numbers: number[]) => {
  const bytes = Buffer.alloc(4 * numbers.length)
  for (const [i, number] of numbers.entries()) bytes.writeInt32BE(number, 4 * i)
  return bytes
}
const resized = (size: number) => {
  const bytes = Buffer.concat([message(0, { value: 'v' }), Buffer.alloc(64)])
  bytes.writeInt32BE(size, 8)
  return bytes
}
const far = (offset: bigint) => {
  const bytes = message(0, { value: 'v' })
  bytes.writeBigInt64BE(offset)
  return bytes
}

const faults: [string, Buffer, string][] = [
  ['a flipped bit in the value', broken(message(0, { value: 'v' }), 26), 'CORRUPT'],
  ['a flipped bit in a wrapper', broken(wrapper(0, 1, 1, gzipSync(two(0))), 40), 'CORRUPT'],
  ['a wrong CRC inside', wrapper(0, 1, 1, gzipSync(broken(two(0), 27))), 'CORRUPT'],
  ['bytes that no codec wrote', wrapper(0, 1, 1, Buffer.from('no gzip')), 'CORRUPT'],
  ['a size of 13', resized(13), 'CORRUPT'],
  ['a size of -1', resized(-1), 'CORRUPT'],
  ['an offset of -1', far(-1n), 'CORRUPT'],
  ['an offset of 2^53', far(2n ** 53n), 'OFFSET_TOO_LARGE'],
  ['a time of -2', message(1, { timestamp: -2 }), 'CORRUPT'],
  ['a key length of -2', messageAround(0, 0, 0, rest(-2, -1)), 'INVALID_RECORD'],
  ['a key beyond the end', messageAround(0, 0, 0, rest(5, -1)), 'INVALID_RECORD'],
  ['a value beyond the end', messageAround(0, 0, 0, rest(-1, 2 ** 31 - 1)), 'INVALID_RECORD'],
  ['bytes behind the value', messageAround(0, 0, 0, rest(-1, -1, 0)), 'INVALID_RECORD'],
  ['a wrapper without a value', messageAround(0, 0, 1, rest(-1, -1)), 'INVALID_RECORD'],
  ['a wrapper around nothing', wrapper(0, 0, 1, gzipSync('')), 'INVALID_RECORD'],
  [
    'a wrapper around half a message',
    wrapper(0, 1, 1, gzipSync(two(0).subarray(0, 50))),
    'INVALID_RECORD',
  ],
  [
    'a wrapper in a wrapper',
    wrapper(0, 1, 1, gzipSync(wrapper(0, 1, 1, gzipSync(two(0))))),
    'INVALID_RECORD',
  ],
  ['another magic inside', wrapper(1, 1, 1, gzipSync(two(0))), 'INVALID_RECORD'],
  [
    'inner offsets that go back',
    wrapper(0, 9, 1, gzipSync(messageSet(0, { offset: 5 }, { offset: 4 }))),
    'INVALID_RECORD',
  ],
  ['inner offsets above its own', wrapper(0, 0, 1, gzipSync(two(0))), 'INVALID_RECORD'],
  ['relative offsets above its own', wrapper(1, 0, 1, gzipSync(two(1))), 'INVALID_RECORD'],
  ['codec 5', wrapper(0, 1, 5, two(0)), 'INVALID_RECORD'],
  ['zstd', wrapper(1, 1, 4, two(1)), 'UNSUPPORTED_COMPRESSION'],
]
for (const [what, bytes, code] of faults) {
  test(`a message with ${what} is ${code}`, () => {
    assert.throws(() => read(bytes), { name: 'SeglogError', code })
  })
}

test('decompression stops at the bound', () => {
  const bomb = wrapper(0, 0, 1, gzipSync(message(0, { value: Buffer.alloc(1 << 20) })))
  const records = iterateMessageRecords(messageAt(bomb, 0), { maxOutputBytes: 1 << 19 })
  assert.throws(() => records.next(), { code: 'TOO_LARGE' })
})

test('where offsets are of no meaning, any are taken', () => {
  const set = two(0)
  set.writeBigInt64BE(-1n, 0)
  const bytes = wrapper(0, 0, 1, gzipSync(set))
  bytes.writeBigInt64BE(-7n)
  const records = [...iterateMessageRecords(messageAt(bytes, 0, true), { anyOffset: true })]
  assert.deepEqual(
    records.map(({ offset, value }) => [offset, latin1(value)]),
    [
      [0, 'v0'],
      [0, 'v1'],
    ],
  )
})
