/** Produce 0 to 2: message sets of magic 0 and 1. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { KafkaError } from '../../src/errors.js'
import { iterateBatches, iterateRecords } from '../../src/records/index.js'
import { latin1 } from '../records/helpers.js'
import { message, messageAround, messageSet } from '../records/old-messages.js'
import { batchOf, createTopic, fetchFrom, produceTo, startBroker } from '../support/broker.js'

const good = messageSet(0, { value: 'a' }, { value: 'b' })

for (const [version, magic] of [
  [0, 0],
  [1, 0],
  [2, 1],
] as const) {
  test(`produce ${version} takes messages of magic ${magic}, stored as one batch`, async (t) => {
    const { wire } = await startBroker(t)
    await createTopic(wire, 't')
    const set = messageSet(magic, { key: 'k', value: 'v', timestamp: 9 }, { value: null })
    for (const wanted of [0, 2]) {
      const { errorCode, baseOffset, logAppendTimeMs } = await produceTo(wire, 't', set, {
        version,
      })
      assert.deepEqual([errorCode, baseOffset, logAppendTimeMs], [0, wanted, -1])
    }
    const { records } = await fetchFrom(wire, 't', 0)
    assert.ok(records instanceof Uint8Array)
    const batches = [...iterateBatches(records)]
    assert.deepEqual(
      batches.map(({ header }) => [header.magic, header.count]),
      [
        [2, 2],
        [2, 2],
      ],
    )
    const rows = batches.flatMap((batch) => [...iterateRecords(batch)])
    assert.deepEqual(
      rows.map(({ offset, timestamp, key, value }) => [
        offset,
        timestamp,
        latin1(key),
        latin1(value),
      ]),
      [0, 2].flatMap((base) => [
        [base, magic === 0 ? -1 : 9, 'k', 'v'],
        [base + 1, -1, null, null],
      ]),
    )
  })
}

test('an empty set from an old client is no fault, and appends nothing', async (t) => {
  const { wire } = await startBroker(t)
  await createTopic(wire, 't')
  const { errorCode, baseOffset } = await produceTo(wire, 't', new Uint8Array(0), { version: 1 })
  assert.deepEqual([errorCode, baseOffset], [0, -1])
  assert.equal((await fetchFrom(wire, 't', 0)).highWatermark, 0)
})

test('a batch of magic 2 in an old request is taken as it is', async (t) => {
  const { wire } = await startBroker(t)
  await createTopic(wire, 't')
  assert.equal((await produceTo(wire, 't', batchOf('a'), { version: 2 })).errorCode, 0)
})

const flipped = Buffer.from(good)
flipped[good.length - 1] = 0x63
const lie = Buffer.from([0, 0, 0, 9, 0, 0, 0, 0])
const faults: [string, Buffer, number][] = [
  ['a wrong CRC in the second message', flipped, KafkaError.CORRUPT_MESSAGE],
  ['a message that is cut off', good.subarray(0, -1), KafkaError.CORRUPT_MESSAGE],
  ['less than a header', good.subarray(0, 10), KafkaError.CORRUPT_MESSAGE],
  ['a size of 0', Buffer.alloc(40), KafkaError.CORRUPT_MESSAGE],
  ['a key beyond the end', messageAround(0, 0, 0, lie), KafkaError.INVALID_RECORD],
  ['an unknown codec', message(0, { attributes: 7, value: 'x' }), KafkaError.INVALID_RECORD],
  ['no compressed data', message(0, { attributes: 1, value: 'x' }), KafkaError.CORRUPT_MESSAGE],
  ['zstd', message(1, { attributes: 4, value: 'x' }), KafkaError.UNSUPPORTED_COMPRESSION_TYPE],
  ['a batch behind it', Buffer.concat([good, batchOf('x')]), KafkaError.CORRUPT_MESSAGE],
  [
    'more than max.message.bytes',
    message(0, { value: Buffer.alloc(1_048_600) }),
    KafkaError.MESSAGE_TOO_LARGE,
  ],
]

test('a faulty set has its code, appends nothing, and the connection lives', async (t) => {
  const { wire } = await startBroker(t)
  await createTopic(wire, 't')
  for (const [what, set, code] of faults) {
    const { errorCode, baseOffset } = await produceTo(wire, 't', set, { version: 2 })
    assert.deepEqual([errorCode, baseOffset], [code, -1], what)
    assert.equal((await fetchFrom(wire, 't', 0)).highWatermark, 0, what)
  }
  assert.equal((await produceTo(wire, 't', good, { version: 0 })).errorCode, 0)
})

test('from version 3 on messages are a fault', async (t) => {
  const { wire } = await startBroker(t)
  await createTopic(wire, 't')
  for (const magic of [0, 1]) {
    const set = messageSet(magic, { value: 'x'.repeat(100) })
    const { errorCode } = await produceTo(wire, 't', set, { version: 3 })
    assert.equal(errorCode, KafkaError.INVALID_RECORD)
  }
})
