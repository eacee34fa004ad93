/** Tables of rates: the first row is compared with each of the others, round by round. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { rateTable } from '../../bench/rates.js'

const first = { name: 'ours', perSecond: [[10, 20, 40]] }

test('a ratio above 1 says that the first row is faster', () => {
  const { rows } = rateTable(
    't',
    'records',
    [100],
    [first, { name: 'b', perSecond: [[5, 20, 10]] }],
  )
  assert.deepEqual(rows[1]?.cells[0]?.ratio, { median: 2, min: 1, max: 4 })
})

test('the first row has rates and no ratio', () => {
  const cell = rateTable('t', 'records', [100], [first]).rows[0]?.cells[0]
  assert.deepEqual(cell?.spread, { median: 20, min: 10, max: 40 })
  assert.equal(cell?.ratio, undefined)
})

test('what a row does not do is empty, and so is the comparison with it', () => {
  const { rows } = rateTable(
    't',
    'records',
    [1, 2],
    [
      { name: 'ours', perSecond: [[10], []] },
      { name: 'b', perSecond: [[], [5]] },
    ],
  )
  assert.equal(rows[1]?.cells[0], null)
  assert.equal(rows[1]?.cells[1]?.ratio, undefined)
})
