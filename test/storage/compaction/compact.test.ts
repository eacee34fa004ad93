import assert from 'node:assert/strict'
import { test } from 'node:test'
import { temporaryDirectory } from '../../support/tmp.js'
import { filesOf, open } from '../log-fixture.js'
import { batchesIn } from './batches-in.js'
import { compactAll, lastValues, put, recordsOf } from './compaction-fixture.js'

test('of each key the last record stays, at its offset', async (t) => {
  const log = await open(t, temporaryDirectory(t))
  put(log, [
    ['a', '1'],
    ['b', '2'],
  ])
  put(log, [['a', '3']])
  put(log, [
    ['c', '4'],
    ['b', '5'],
  ])
  await compactAll(log)
  const found = recordsOf(log).map(({ offset, key, value }) => [offset, key, value])
  assert.deepEqual(found, [
    [2, 'a', '3'],
    [3, 'c', '4'],
    [4, 'b', '5'],
  ])
  assert.equal(log.startOffset, 0)
  assert.equal(log.endOffset, 5)
  assert.equal(log.cleanedOffset, 5)
})

test('the active segment is left as it is', async (t) => {
  const log = await open(t, temporaryDirectory(t))
  put(log, [['a', '1']])
  log.roll()
  put(log, [['a', '2']])
  put(log, [['a', '3']])
  await log.flush()
  await log.compact({ limitOffset: log.endOffset, bufferBytes: 1 << 20 })
  assert.deepEqual(
    recordsOf(log).map(({ offset }) => offset),
    [0, 1, 2],
  )
})

test('small segments are put together, and their files are gone after the delay', async (t) => {
  const directory = temporaryDirectory(t)
  const log = await open(t, directory, { fileDeleteDelayMs: 0 })
  for (let i = 0; i < 6; i++) {
    put(log, [
      ['a', String(i)],
      [`k${i}`, 'v'],
    ])
    log.roll()
  }
  await compactAll(log)
  assert.deepEqual(filesOf(directory, '.log'), [
    '00000000000000000000.log',
    '00000000000000000012.log',
  ])
  assert.equal(log.segmentCount, 2)
  assert.equal(lastValues(log).a, '5')
})

test('a segment that nothing remains of keeps its end', async (t) => {
  const log = await open(t, temporaryDirectory(t))
  put(log, [['a', '1']])
  log.roll()
  put(log, [['a', '2']])
  await compactAll(log)
  assert.deepEqual(
    batchesIn(log).map(({ lastOffset, count }) => [lastOffset, count]),
    [[1, 1]],
  )
})
