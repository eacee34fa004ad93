import assert from 'node:assert/strict'
import { test } from 'node:test'
import { murmur2, partitionOfKey } from '../../src/client/partitioner.js'

test('the hash is that of Kafka, for keys of every length modulo four', () => {
  for (const [text, hash] of [
    ['21', -973932308],
    ['foobar', -790332482],
    ['a-little-bit-long-string', -985981536],
    ['a-little-bit-longer-string', -1486304829],
    ['lkjh234lh9fiuh90y23oiuhsafujhadof229phr9h19h89h8', -58897971],
    ['abc', 479470107],
  ] as const) {
    assert.equal(murmur2(Buffer.from(text)), hash, text)
  }
})

test('a negative hash still gives a partition', () => {
  assert.equal(partitionOfKey(Buffer.from('21'), 7), (-973932308 & 0x7fffffff) % 7)
})
