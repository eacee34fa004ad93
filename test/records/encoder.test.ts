import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  BatchEncoder,
  batchAt,
  buildBatch,
  crcMatches,
  iterateRecords,
  type RecordInput,
} from '../../src/records/index.js'
import {
  codecNames,
  fixtureRecords,
  kafkaFixtures,
  latin1,
  type PlainRecord,
  plain,
  seeded,
} from './helpers.js'

const read = (batch: Uint8Array) => [...iterateRecords(batch)].map(plain)

for (const compression of codecNames) {
  test(`null, empty and filled fields come back apart through ${compression}`, () => {
    const fields = [null, '', 'x']
    const records: RecordInput[] = []
    for (const key of fields) {
      for (const value of fields) {
        for (const header of [undefined, ...fields]) {
          const headers = header === undefined ? [] : [{ key: header ?? '', value: header }]
          records.push({ key, value, headers, timestamp: 5 })
        }
      }
    }
    const got = read(buildBatch(records, { compression }))
    assert.deepEqual(
      got,
      records.map(({ key, value, headers }, offset) => ({
        offset,
        timestamp: 5,
        key,
        value,
        headers: (headers as { key: string; value: string | null }[]).map((h) => [h.key, h.value]),
      })),
    )
  })
}

test('an absent key, value or header value is null, not empty', () => {
  const [record] = read(buildBatch([{ headers: [{ key: 'h' }] }]))
  assert.deepEqual(record, {
    offset: 0,
    timestamp: -1,
    key: null,
    value: null,
    headers: [['h', null]],
  })
})

test('headers keep their order and may repeat a key', () => {
  const headers = [
    { key: 'b', value: '1' },
    { key: 'a', value: '2' },
    { key: 'b', value: '3' },
  ]
  const [record] = read(buildBatch([{ headers }]))
  assert.deepEqual(
    record?.headers,
    headers.map(({ key, value }) => [key, value]),
  )
})

test('headers may be an object', () => {
  const [record] = read(buildBatch([{ headers: { b: 'x', a: null } }]))
  assert.deepEqual(record?.headers, [
    ['b', 'x'],
    ['a', null],
  ])
})

test('the batch is the same, byte for byte, as the one that Kafka writes', () => {
  const mine = buildBatch(fixtureRecords, { baseOffset: 42, leaderEpoch: 7 })
  assert.deepEqual(Buffer.from(mine), kafkaFixtures().get('none'))
})

test('the batch of an idempotent producer is the same as the one that Kafka writes', () => {
  const producer = { id: 4000, epoch: 3, baseSequence: 17 }
  const mine = buildBatch(fixtureRecords, { baseOffset: 9, leaderEpoch: 5, producer })
  assert.deepEqual(Buffer.from(mine), kafkaFixtures().get('idempotent'))
})

test('the batch of a time of append is the same as the one that Kafka writes', () => {
  const mine = buildBatch(fixtureRecords, { baseOffset: 100, logAppendTime: 1800000000000 })
  assert.deepEqual(Buffer.from(mine), kafkaFixtures().get('log-append-time'))
})

test('a batch carries what its options say', () => {
  const producer = { id: 2 ** 53 - 1, epoch: 32767, baseSequence: 2 ** 31 - 1 }
  const options = { baseOffset: 2 ** 53 - 1, leaderEpoch: 2 ** 31 - 1, producer }
  const { header } = batchAt(
    buildBatch([{}], { ...options, transactional: true, control: true }),
    0,
  )
  assert.equal(header.baseOffset, 2 ** 53 - 1)
  assert.equal(header.lastOffset, 2 ** 53 - 1)
  assert.equal(header.leaderEpoch, 2 ** 31 - 1)
  assert.equal(header.producerId, 2 ** 53 - 1)
  assert.equal(header.producerEpoch, 32767)
  assert.equal(header.baseSequence, 2 ** 31 - 1)
  assert.ok(header.isTransactional && header.isControl)
})

test('timestamps far apart, also before the first one, come back exactly', () => {
  const times = [2 ** 40, 0, 2 ** 53 - 1, -1, 2 ** 31, 2 ** 40 - 2 ** 34, 2 ** 40 + 2 ** 34]
  const batch = buildBatch(times.map((timestamp) => ({ timestamp })))
  assert.deepEqual(
    read(batch).map(({ timestamp }) => timestamp),
    times,
  )
  assert.equal(batchAt(batch, 0).header.maxTimestamp, 2 ** 53 - 1)
})

test('a record without a timestamp takes that of the batch', () => {
  const got = read(buildBatch([{}, { timestamp: 3 }], { timestamp: 7 }))
  assert.deepEqual(
    got.map(({ timestamp }) => timestamp),
    [7, 3],
  )
})

for (const length of [15, 16, 17, 62, 63, 64, 8190, 8192, 70_000]) {
  test(`text of ${length} characters is stored as UTF-8, whatever they are`, () => {
    for (const text of ['a', 'é', '漢', '🜁'].map((char) => char.repeat(length))) {
      const [record] = [...iterateRecords(buildBatch([{ key: text, value: text }]))]
      assert.deepEqual(latin1(record?.key ?? null), Buffer.from(text).toString('latin1'))
      assert.deepEqual(latin1(record?.value ?? null), Buffer.from(text).toString('latin1'))
    }
  })
}

test('an unpaired surrogate becomes U+FFFD', () => {
  const [record] = [...iterateRecords(buildBatch([{ value: 'a\ud800b' }]))]
  assert.equal(Buffer.from(record?.value ?? []).toString('utf8'), 'a\ufffdb')
})

test('a batch that follows a large one is not touched by it', () => {
  const encoder = new BatchEncoder()
  const small = Buffer.from(encoder.bytes.subarray(0, encoder.encode([{ value: 'x' }])))
  encoder.encode([{ value: Buffer.alloc(17 * 1024 * 1024) }])
  const size = encoder.encode([{ value: 'x' }])
  assert.deepEqual(encoder.bytes.subarray(0, size), small)
  assert.ok(encoder.bytes.length < 1024 * 1024, 'the large buffer was let go')
})

test('a batch that was built stays as it is when the next is built', () => {
  const first = buildBatch([{ value: 'first' }])
  buildBatch([{ value: 'second' }])
  assert.ok(crcMatches(batchAt(first, 0)))
})

const refused: [string, RecordInput[], object][] = [
  ['no record', [], {}],
  ['a fractional timestamp', [{ timestamp: 1.5 }], {}],
  ['a timestamp that is not a number', [{ timestamp: Number.NaN }], {}],
  ['a later timestamp that is not a number', [{}, { timestamp: Number.NaN }], {}],
  ['a timestamp below -1', [{ timestamp: -2 }], {}],
  ['a timestamp above 2^53 - 1', [{ timestamp: 2 ** 53 }], {}],
  ['timestamps 2^53 apart', [{ timestamp: -1 }, { timestamp: 2 ** 53 - 1 }], {}],
  ['a number as value', [{ value: 5 as unknown as string }], {}],
  ['a header without a key', [{ headers: [{ value: 'x' } as unknown as { key: string }] }], {}],
  ['a negative base offset', [{}], { baseOffset: -1 }],
  ['offsets above 2^53 - 1', [{}, {}], { baseOffset: 2 ** 53 - 1 }],
  ['a producer epoch of 32768', [{}], { producer: { id: 1, epoch: 32768, baseSequence: 0 } }],
  ['a gzip level of 10', [{}], { compression: 'gzip', compressionLevel: 10 }],
  ['a zstd level of 23', [{}], { compression: 'zstd', compressionLevel: 23 }],
]
for (const [what, records, options] of refused) {
  test(`${what} is refused`, () => {
    assert.throws(() => buildBatch(records, options), { name: 'SeglogError', code: 'BAD_ARGUMENT' })
  })
}

test('a codec that does not exist is refused', () => {
  const compression = 'brotli' as 'gzip'
  assert.throws(() => buildBatch([{}], { compression }), { code: 'UNSUPPORTED_COMPRESSION' })
})

test('random records come back as a model has them', () => {
  const next = seeded(20)
  const bytes = () => {
    const kind = next(4)
    if (kind === 0) return null
    const length = kind === 1 ? next(3) : next(200)
    return String.fromCharCode(...Array.from({ length }, () => next(256)))
  }
  for (let round = 0; round < 150; round++) {
    const model: PlainRecord[] = Array.from({ length: 1 + next(30) }, (_, index) => ({
      offset: 1000 + index,
      timestamp: next(2) === 0 ? next(1000) : next(2 ** 32) * 2 ** 20,
      key: bytes(),
      value: bytes(),
      headers: Array.from({ length: next(3) }, () => [`h${next(5)}`, bytes()]),
    }))
    const stored = (text: string | null) => (text === null ? null : Buffer.from(text, 'latin1'))
    const records = model.map(({ timestamp, key, value, headers }) => ({
      timestamp,
      key: stored(key),
      value: stored(value),
      headers: headers.map(([name, text]) => ({ key: name, value: stored(text) })),
    }))
    const compression = codecNames[next(codecNames.length)]
    assert.deepEqual(read(buildBatch(records, { baseOffset: 1000, compression })), model)
  }
})
