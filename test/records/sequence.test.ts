import assert from 'node:assert/strict'
import { test } from 'node:test'
import { buildBatch } from '../../src/records/encoder.js'
import { readExtent, readSequence } from '../../src/records/sequence.js'

const producer = { id: 2 ** 40 + 3, epoch: 5, baseSequence: 77 }
const batch = buildBatch([{ value: 'a' }, { value: 'b' }], { producer, baseOffset: 2 ** 33 })

test('id, epoch, sequence and count of a batch are read from its header', () => {
  const expected = { producerId: 2 ** 40 + 3, producerEpoch: 5, baseSequence: 77, count: 2 }
  assert.deepEqual(readSequence(batch), expected)
})

test('a batch without a producer has no sequence', () => {
  assert.equal(readSequence(buildBatch([{ value: 'a' }])), undefined)
})

test('fewer bytes than a header give nothing', () => {
  assert.equal(readSequence(batch.subarray(0, 60)), undefined)
  assert.equal(readExtent(batch.subarray(0, 60), 0), undefined)
  assert.equal(readSequence(new Uint8Array(0)), undefined)
})

test('a header is read at its place among others', () => {
  const two = Buffer.concat([buildBatch([{ value: 'first' }]), batch])
  const at = two.length - batch.length
  assert.equal(readSequence(two, at)?.baseSequence, 77)
  assert.deepEqual(readExtent(two, at), { baseOffset: 2 ** 33, sizeBytes: batch.length })
})

test('the extent of a batch with a senseless length still moves on', () => {
  const senseless = Buffer.from(batch)
  senseless.writeInt32BE(-100, 8)
  assert.equal(readExtent(senseless, 0)?.sizeBytes, 61)
})
