import assert from 'node:assert/strict'
import { test } from 'node:test'
import { distinct } from '../../src/handlers/distinct.js'

test('the first of each key stays, in order', () => {
  const items = ['b1', 'a1', 'b2', 'c1', 'a2']
  assert.deepEqual(
    distinct(items, (item) => item.slice(0, 1)),
    ['b1', 'a1', 'c1'],
  )
})
