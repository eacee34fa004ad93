import assert from 'node:assert/strict'
import { test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { downConverted, upConverted } from '../../src/records/conversion.js'
import {
  type BatchOptions,
  batchAt,
  buildBatch,
  codecNamed,
  crcMatches,
  iterateBatches,
  iterateRecords,
  type RecordInput,
} from '../../src/records/index.js'
import type { OldMagic } from '../../src/records/message-set-format.js'
import { codecNames, latin1, plain } from './helpers.js'
import { message, messageAround, messageSet } from './old-messages.js'

const packed = (codec: 'gzip' | 'snappy' | 'lz4', set: Buffer) =>
  Buffer.from(codecNamed(codec).compress(set))

/** Offset, timestamp, key and value of what a set or a batch holds. */
function rows(bytes: Uint8Array) {
  return [...iterateBatches(bytes)].flatMap((batch) =>
    [...iterateRecords(batch)]
      .map(plain)
      .map((row) => [row.offset, row.timestamp, row.key, row.value]),
  )
}

test('messages of magic 0 become one batch without timestamps', () => {
  const set = messageSet(0, { key: 'k', value: 'v' }, { offset: 9, value: null }, { value: '' })
  const { header, bytes } = batchAt(upConverted(set), 0)
  assert.deepEqual([header.magic, header.count, header.compression], [2, 3, 0])
  assert.deepEqual([header.baseTimestamp, header.maxTimestamp, header.producerId], [-1, -1, -1])
  assert.deepEqual(rows(bytes), [
    [0, -1, 'k', 'v'],
    [1, -1, null, null],
    [2, -1, null, ''],
  ])
})

test('messages of magic 1 keep their timestamps', () => {
  const set = messageSet(1, { timestamp: 50 }, { timestamp: 70 }, { timestamp: -1 })
  const { header, bytes } = batchAt(upConverted(set), 0)
  assert.equal(header.maxTimestamp, 70)
  assert.deepEqual(
    rows(bytes).map(([, timestamp]) => timestamp),
    [50, 70, -1],
  )
})

for (const codec of ['gzip', 'snappy', 'lz4'] as const) {
  for (const magic of [0, 1] as const) {
    test(`a wrapper of magic ${magic} in ${codec} becomes a batch in ${codec}`, () => {
      const { id } = codecNamed(codec)
      const set = messageSet(magic, { value: 'a', timestamp: 1 }, { value: 'b', timestamp: 2 })
      const value = packed(codec, set)
      const { header, bytes } = batchAt(upConverted(message(magic, { attributes: id, value })), 0)
      assert.deepEqual([header.compression, header.count], [id, 2])
      assert.deepEqual(
        rows(bytes).map(([, , , text]) => text),
        ['a', 'b'],
      )
    })
  }
}

test('several wrappers and messages between them are one batch, in the last codec', () => {
  const wrapper = (codec: 'gzip' | 'snappy', ...values: string[]) => {
    const set = messageSet(0, ...values.map((value) => ({ value })))
    return { attributes: codecNamed(codec).id, value: packed(codec, set) }
  }
  const set = messageSet(0, wrapper('gzip', 'a', 'b'), { value: 'c' }, wrapper('snappy', 'd'), {
    value: 'e',
  })
  const batch = upConverted(set)
  assert.equal(batchAt(batch, 0).header.compression, codecNamed('snappy').id)
  assert.deepEqual(
    rows(batch).map(([offset, , , value]) => [offset, value]),
    [
      [0, 'a'],
      [1, 'b'],
      [2, 'c'],
      [3, 'd'],
      [4, 'e'],
    ],
  )
})

const good = messageSet(0, { value: 'a' })
const flipped = Buffer.from(good)
flipped[26] = 0x62
const faults: [string, Buffer, string][] = [
  ['a message that is cut off', Buffer.concat([good, good.subarray(0, 20)]), 'SHORT'],
  ['a message whose CRC is wrong, behind a good one', Buffer.concat([good, flipped]), 'CORRUPT'],
  ['a batch among messages', Buffer.concat([good, buildBatch([{ value: 'x' }])]), 'BAD_MAGIC'],
  ['LogAppendTime, which is the broker’s to say', message(1, { attributes: 8 }), 'INVALID_RECORD'],
  ['codec 6', message(0, { attributes: 6, value: 'x' }), 'INVALID_RECORD'],
  ['zstd', message(1, { attributes: 4, value: 'x' }), 'UNSUPPORTED_COMPRESSION'],
  [
    'a length that lies',
    messageAround(0, 0, 0, Buffer.from([0, 0, 0, 9, 0, 0, 0, 0])),
    'INVALID_RECORD',
  ],
]
for (const [what, set, code] of faults) {
  test(`a set with ${what} is ${code}`, () => {
    assert.throws(() => upConverted(set), { name: 'SeglogError', code })
  })
}

test('many small bombs count together', () => {
  const value = gzipSync(messageSet(0, { value: Buffer.alloc(5 << 20) }))
  const bombs = messageSet(0, ...Array.from({ length: 7 }, () => ({ attributes: 1, value })))
  assert.throws(() => upConverted(bombs), { code: 'TOO_LARGE' })
  const empty = gzipSync(Buffer.concat(new Array(200_000).fill(message(0, {}))))
  const swarm = messageSet(0, ...Array.from({ length: 7 }, () => ({ attributes: 1, value: empty })))
  assert.throws(() => upConverted(swarm), { code: 'TOO_LARGE' })
})

const records: RecordInput[] = [
  { timestamp: 100, key: 'k', value: 'v', headers: [{ key: 'h', value: 'lost' }] },
  { timestamp: 300, key: null, value: null },
  { timestamp: 200, key: '', value: '' },
]
const batchOf = (options: BatchOptions) =>
  Buffer.from(buildBatch(records, { baseOffset: 70, ...options }))
const down = (bytes: Uint8Array, magic: OldMagic, fromOffset = 0, maxBytes = 1 << 20) =>
  downConverted(bytes, { magic, fromOffset, maxBytes })

for (const magic of [0, 1] as const) {
  const time = (timestamp: number) => (magic === 0 ? -1 : timestamp)
  for (const compression of codecNames.filter((name) => name !== 'zstd')) {
    test(`a batch in ${compression} becomes magic ${magic}, offsets and fields kept`, () => {
      const { bytes } = down(batchOf({ compression }), magic)
      assert.deepEqual(rows(bytes), [
        [70, time(100), 'k', 'v'],
        [71, time(300), null, null],
        [72, time(200), '', ''],
      ])
      const batches = [...iterateBatches(bytes)]
      assert.ok(batches.every((batch) => batch.header.magic === magic && crcMatches(batch)))
      assert.equal(batches.length, compression === 'none' ? 3 : 1)
      assert.equal(batches[0]?.header.compression, codecNamed(compression).id)
      if (compression === 'none') return
      const { lastOffset, maxTimestamp } = batches[0]?.header ?? {}
      assert.deepEqual([lastOffset, maxTimestamp], [72, time(300)])
    })
  }
}

test('inner offsets are absolute in magic 0 and relative in magic 1', () => {
  for (const [magic, wanted] of [
    [0, [70, 71, 72]],
    [1, [0, 1, 2]],
  ] as const) {
    const { bytes } = down(batchOf({ compression: 'gzip' }), magic)
    const inner = codecNamed('gzip').decompress(bytes.subarray(magic === 0 ? 26 : 34), 1 << 20)
    assert.deepEqual(
      [...iterateBatches(inner)].map(({ header }) => header.lastOffset),
      wanted,
    )
  }
})

test('the time of the append marks messages of magic 1', () => {
  for (const compression of ['none', 'gzip'] as const) {
    const { bytes } = down(batchOf({ compression, logAppendTime: 999 }), 1)
    assert.ok([...iterateBatches(bytes)].every(({ header }) => header.isLogAppendTime))
    assert.deepEqual(
      rows(bytes).map(([, timestamp]) => timestamp),
      [999, 999, 999],
    )
  }
})

test('plain records below the offset asked for are left out', () => {
  assert.deepEqual(
    rows(down(batchOf({}), 0, 71).bytes).map(([offset]) => offset),
    [71, 72],
  )
})

test('control batches are left out, and told by the next offset', () => {
  const control = buildBatch([{ key: Buffer.alloc(4), value: Buffer.alloc(6) }], {
    control: true,
    baseOffset: 73,
  })
  const found = down(Buffer.concat([control]), 1, 73)
  assert.deepEqual([found.bytes.length, found.nextOffset], [0, 74])
  assert.equal(rows(down(Buffer.concat([batchOf({}), control]), 1).bytes).length, 3)
})

test('messages as old as wanted, or older, pass as they are; newer ones are converted', () => {
  const old = messageSet(0, { offset: 3, value: 'a' })
  const newer = messageSet(1, { offset: 4, value: 'b', timestamp: 8 })
  assert.deepEqual(
    Buffer.from(down(Buffer.concat([old, newer]), 1).bytes),
    Buffer.concat([old, newer]),
  )
  const { bytes } = down(Buffer.concat([old, newer]), 0)
  assert.deepEqual(
    Buffer.from(bytes),
    messageSet(0, { offset: 3, value: 'a' }, { offset: 4, value: 'b' }),
  )
})

test('conversion ends behind the batch that passes the limit, and at half a batch', () => {
  const batches = Buffer.concat([
    batchOf({}),
    batchOf({ baseOffset: 80 }),
    batchOf({ baseOffset: 90 }),
  ])
  assert.deepEqual(
    rows(down(batches, 0, 0, 1).bytes).map(([offset]) => offset),
    [70, 71, 72],
  )
  assert.equal(rows(down(batches.subarray(0, -1), 0).bytes).length, 6)
  const { firstBytes, nextOffset } = down(batches, 0)
  assert.deepEqual([firstBytes, nextOffset], [28, 93])
})

test('damage behind good batches ends the set, at the start it is an error', () => {
  const bad = batchOf({ baseOffset: 80, compression: 'gzip' })
  bad[bad.length - 1] = (bad[bad.length - 1] ?? 0) ^ 1
  assert.deepEqual(rows(down(Buffer.concat([batchOf({}), bad]), 0).bytes).length, 3)
  assert.throws(() => down(bad, 0), { code: 'CORRUPT' })
})

test('zstd is unsupported before magic 2', () => {
  assert.throws(() => down(batchOf({ compression: 'zstd' }), 1), {
    code: 'UNSUPPORTED_COMPRESSION',
  })
})

test('up and down again, a record is what it was', () => {
  const set = messageSet(
    1,
    { key: 'k', value: 'v', timestamp: 5 },
    { key: null, value: '', timestamp: 6 },
  )
  const again = down(upConverted(set), 1).bytes
  assert.deepEqual(
    Buffer.from(again),
    messageSet(
      1,
      { offset: 0, key: 'k', value: 'v', timestamp: 5 },
      { offset: 1, key: null, value: '', timestamp: 6 },
    ),
  )
  assert.equal(latin1(again.subarray(0, 8)), '\0'.repeat(8))
})
