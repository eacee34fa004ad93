/** The statistics that every figure of the bench goes through. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { median, ratiosOf, spreadOf } from '../../bench/statistics.js'

test('the median of an odd number of values is the middle one, whatever their order', () => {
  assert.equal(median([9, 1, 5]), 5)
  assert.equal(median([7]), 7)
})

test('the median of an even number of values lies between the two middle ones', () => {
  assert.equal(median([10, 1, 3, 2]), 2.5)
})

test('the median of nothing is no number', () => {
  assert.ok(Number.isNaN(median([])))
})

test('the median sorts by value and leaves its argument alone', () => {
  const values = [100, 20, 3]
  assert.equal(median(values), 20)
  assert.deepEqual(values, [100, 20, 3])
})

test('a spread has the least and the largest value around the median', () => {
  assert.deepEqual(spreadOf([3, 1, 2]), { median: 2, min: 1, max: 3 })
})

test('a ratio compares trials of the same round and is above 1 for the faster candidate', () => {
  assert.deepEqual(ratiosOf([10, 20], [30, 20]), [3, 1])
})
