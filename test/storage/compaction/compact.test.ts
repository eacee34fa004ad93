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

const lastRecords = [
  ['a record without a key', null, 'x'],
  ['a tombstone that is over', 'a', null],
] as const

for (const [what, key, value] of lastRecords) {
  test(`${what}, the last of the log, leaves the log its end`, async (t) => {
    const directory = temporaryDirectory(t)
    const log = await open(t, directory, { deleteRetentionMs: 0, fileDeleteDelayMs: 0 })
    put(log, [['a', '1']])
    log.roll()
    put(log, [[key, value]])
    await compactAll(log)
    // A tombstone goes with the second one.
    put(log, [['b', '1']])
    await compactAll(log)
    put(log, [[null, 'the last one']])
    await compactAll(log)
    const offsets = recordsOf(log).map(({ offset }) => offset)
    assert.deepEqual(offsets, key === null ? [0, 2] : [2])
    assert.equal(log.endOffset, 4)
    const { cleanedOffset } = log
    await log.close()
    for (const known of [{ clean: true }, { recoveryPoint: 4 }, { recoveryPoint: 0 }, {}]) {
      const again = await open(t, directory, { ...known, cleanedOffset, isCompacted: true })
      assert.equal(again.endOffset, 4, JSON.stringify(known))
      assert.deepEqual(
        recordsOf(again).map(({ offset }) => offset),
        offsets,
      )
      await again.close()
    }
    const appended = await open(t, directory, { clean: true, isCompacted: true, cleanedOffset })
    assert.equal(put(appended, [['c', '1']]), 4)
  })
}

test('a log of tombstones alone keeps its end when they are over', async (t) => {
  const directory = temporaryDirectory(t)
  const log = await open(t, directory, { deleteRetentionMs: 0, fileDeleteDelayMs: 0 })
  for (const key of ['a', 'b', 'c']) {
    put(log, [[key, null]])
    log.roll()
  }
  await compactAll(log)
  put(log, [[null, 'dirty']])
  await compactAll(log)
  assert.deepEqual(recordsOf(log), [])
  assert.equal(log.endOffset, 4)
  await log.close()
  const again = await open(t, directory, { recoveryPoint: 4 })
  assert.equal(again.endOffset, 4)
  assert.equal(put(again, [['a', '1']]), 4)
})
