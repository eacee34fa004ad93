import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Batch, batchAt, crcMatches } from '../../src/records/batch.js'
import { MessageSetBuilder } from '../../src/records/message-set-builder.js'
import { iterateRecords } from '../../src/records/reader.js'
import { upgradedMessage } from '../../src/records/upgrade.js'
import { damaged } from '../support/batches.js'

const NOW = 1_500_000_000_000
/** Views of different kinds, by what they hold. */
const plain = (batch: Batch) =>
  [...iterateRecords(batch)].map(({ offset, timestamp, key, value }) => {
    const text = (bytes: Uint8Array | null) => bytes && Buffer.from(bytes).toString()
    return [offset, timestamp, text(key), text(value)]
  })

const bytesOf = (text: string) => Buffer.from(text)
const records = [
  { offset: 40, timestamp: NOW, key: bytesOf('a'), value: null, headers: [] },
  { offset: 42, timestamp: NOW + 3, key: null, value: bytesOf(''), headers: [] },
  { offset: 45, timestamp: NOW - 2, key: bytesOf(''), value: bytesOf('v'), headers: [] },
]

for (const magic of [0, 1] as const) {
  for (const codecId of [1, 2, 3]) {
    test(`a wrapper of magic ${magic} and codec ${codecId} becomes one batch`, () => {
      const builder = new MessageSetBuilder(magic)
      builder.wrap(records, codecId)
      const message = batchAt(builder.bytes, 0)
      const batch = batchAt(upgradedMessage(message, 1 << 20), 0)
      assert.ok(crcMatches(batch))
      assert.equal(batch.header.magic, 2)
      assert.equal(batch.header.compression, codecId)
      assert.equal(batch.header.baseOffset, 40)
      assert.equal(batch.header.lastOffset, 45)
      assert.deepEqual(plain(batch), plain(message))
      assert.equal(batch.header.maxTimestamp, magic === 0 ? -1 : NOW + 3)
    })
  }

  test(`a plain message of magic ${magic} becomes a batch of one record`, () => {
    const builder = new MessageSetBuilder(magic)
    builder.add(records[2]!, true)
    const message = batchAt(builder.bytes, 0)
    const batch = batchAt(upgradedMessage(message, 1 << 20), 0)
    assert.equal(batch.header.isLogAppendTime, magic === 1)
    assert.equal(batch.header.baseOffset, 45)
    assert.deepEqual(plain(batch), plain(message))
  })
}

test('a message with a wrong sum is CORRUPT', () => {
  const builder = new MessageSetBuilder(1)
  builder.add(records[2]!)
  const message = batchAt(damaged(builder.bytes), 0)
  assert.throws(() => upgradedMessage(message, 1 << 20), { code: 'CORRUPT' })
})
