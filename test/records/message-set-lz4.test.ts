import assert from 'node:assert/strict'
import { test } from 'node:test'
import { codecNamed } from '../../src/records/index.js'
import { oldChecksum, rightChecksum } from '../../src/records/message-set-lz4.js'

/** A frame as Kafka 0.8.2 begins one: version 1, independent blocks of 64 KiB. */
const OLD_HEADER = '04224d186040'

test('the checksums are those that both sides of the format have for the usual header', () => {
  const frame = Buffer.from(`${OLD_HEADER}0000000000`, 'hex')
  // 0x82 is in every such frame of the lz4 command; 0xc6 in what python clients send to Kafka 0.8.
  assert.equal(Buffer.from(rightChecksum(frame)).toString('hex', 6, 7), '82')
  assert.equal(rightChecksum(oldChecksum(frame))[6], 0x82)
  assert.notEqual(oldChecksum(frame)[6], 0x82)
})

test('the right checksum is the one that the codec writes', () => {
  const frame = codecNamed('lz4').compress(Buffer.from('some text, some text, some text'))
  assert.deepEqual(Buffer.from(rightChecksum(oldChecksum(frame))), Buffer.from(frame))
})

test('the content size is part of what is summed', () => {
  const header = Buffer.from('04224d1868400100000000000000ff00000000', 'hex')
  const changed = rightChecksum(header)
  assert.deepEqual(changed.subarray(0, 14), header.subarray(0, 14))
  assert.notEqual(changed[14], 0xff)
})

test('a frame that ends in its header is corrupt', () => {
  for (let size = 0; size < 7; size++) {
    const cut = Buffer.from(`${OLD_HEADER}82`, 'hex').subarray(0, size)
    assert.throws(() => rightChecksum(cut), { code: 'CORRUPT' })
  }
})
