import assert from 'node:assert/strict'
import { test } from 'node:test'
import { subscriptionOf } from '../../src/client/subscription.js'

/** Version 1, topics a and b, user data of null. */
const wanted = Buffer.from('00010000000200016100016200000000ffffffff', 'hex')
/** Version 0, topic a with partitions 0 and 2. */
const given = Buffer.from('00000000000100016100000002000000000000000200000000', 'hex')

test('topics and assignment of a member are read, whatever stands behind them', () => {
  assert.deepEqual(subscriptionOf('consumer', wanted, given), {
    topics: ['a', 'b'],
    assignment: [
      { topic: 'a', partition: 0 },
      { topic: 'a', partition: 2 },
    ],
  })
})

test('bytes that break off are nothing, at every length', () => {
  for (let length = 0; length < 12; length++) {
    const { topics } = subscriptionOf('consumer', wanted.subarray(0, length), new Uint8Array(0))
    assert.deepEqual(topics, [])
  }
})

test('a count that cannot be makes nothing', () => {
  const hostile = Buffer.from('00017fffffff', 'hex')
  assert.deepEqual(subscriptionOf('consumer', hostile, hostile), { topics: [], assignment: [] })
})

test('what other kinds of groups say is not read', () => {
  assert.deepEqual(subscriptionOf('connect', wanted, given), { topics: [], assignment: [] })
})
