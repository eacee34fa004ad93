/** The fuzzer of records for as long as a test may take; `npm run torture` runs it at length. */
import { test } from 'node:test'
import { fuzzRecords } from './records.js'

test('2,000 mutated batches and compressed blocks are read or refused, and nothing else', () => {
  for (let seed = 1; seed <= 2000; seed++) fuzzRecords(seed)
})
