import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ReceiveBudget } from '../../src/server/receive-budget.js'

const KIB = 1024
const receiver = () => {
  const self = { resumed: 0, resumeReceiving: () => void self.resumed++ }
  return self
}

test('above the bound only the request that began first goes on, then the next', () => {
  const budget = new ReceiveBudget(200 * KIB)
  const [first, second] = [receiver(), receiver()]
  assert.equal(budget.hold(first, 150 * KIB), true)
  assert.equal(budget.hold(second, 100 * KIB), false)
  assert.equal(budget.hold(first, 190 * KIB), true)
  assert.equal(second.resumed, 0)
  budget.hold(first, 0)
  assert.equal(second.resumed, 1)
  assert.equal(budget.hold(second, 500 * KIB), true)
})

test('a small request never waits', () => {
  const budget = new ReceiveBudget(1)
  budget.hold(receiver(), 100 * KIB)
  assert.equal(budget.hold(receiver(), 64 * KIB - 1), true)
})
