import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Offset, offsetNumber } from '../src/offsets.js'

test('bigint, number and text are taken where they are exact', () => {
  const max = Number.MAX_SAFE_INTEGER
  const given: Offset[] = [7n, 7, '7', BigInt(max), String(max)]
  assert.deepEqual(
    given.map((offset) => offsetNumber(offset, 'from')),
    [7, 7, 7, max, max],
  )
})

test('fractions, negatives, text that is no number and rounded numbers are refused', () => {
  for (const offset of [1.5, -7, Number.NaN, 2 ** 53, '1e3', '', '-1', ' 1', -1n] as Offset[]) {
    assert.throws(() => offsetNumber(offset, 'from'), { code: 'BAD_ARGUMENT' }, String(offset))
  }
})

test('an offset above 2^53 - 1 is refused, not rounded', () => {
  for (const offset of [2n ** 53n, '9007199254740993']) {
    assert.throws(() => offsetNumber(offset, 'from'), { code: 'OFFSET_TOO_LARGE' })
  }
})
