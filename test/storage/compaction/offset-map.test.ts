import assert from 'node:assert/strict'
import { test } from 'node:test'
import { OffsetMap } from '../../../src/storage/compaction/offset-map.js'
import { seeded } from '../../protocol/random.js'

const key = (text: string) => Buffer.from(text)

test('a key that was never put has no offset', () => {
  assert.equal(new OffsetMap(10, 1 << 20).get(key('a')), -1)
})

test('offset 0 and those above 2^32 are given back exactly', () => {
  const map = new OffsetMap(10, 1 << 20)
  for (const offset of [0, 2 ** 32 - 1, 2 ** 32, 2 ** 53 - 2]) {
    map.put(key('a'), offset)
    assert.equal(map.get(key('a')), offset)
  }
  assert.equal(map.size, 1)
})

test('the empty key is one like any other', () => {
  const map = new OffsetMap(10, 1 << 20)
  map.put(key(''), 5)
  assert.equal(map.get(key('')), 5)
})

test('it is a map, filled to its bound', () => {
  const random = seeded(7)
  const map = new OffsetMap(5000, 1 << 20)
  const model = new Map<string, number>()
  for (let offset = 0; model.size < 5000; offset++) {
    const name = `k${random.below(20_000)}`
    assert.ok(map.put(key(name), offset))
    model.set(name, offset)
  }
  assert.equal(map.size, 5000)
  for (const [name, offset] of model) assert.equal(map.get(key(name)), offset)
})

test('what has no room is not taken, and what is known still moves', () => {
  const map = new OffsetMap(1000, 10 * 24)
  assert.equal(map.sizeMax, 9)
  for (let i = 0; i < 9; i++) assert.ok(map.put(key(`k${i}`), i))
  assert.equal(map.put(key('more'), 10), false)
  assert.equal(map.get(key('more')), -1)
  assert.ok(map.put(key('k3'), 11))
  assert.equal(map.get(key('k3')), 11)
})
