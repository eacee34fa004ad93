/** What stays of a log that is compacted, case by case. */
import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { systemEnv } from '../../../src/env.js'
import { MessageSetBuilder } from '../../../src/records/message-set-builder.js'
import { temporaryDirectory } from '../../support/tmp.js'
import { filesOf, NOW, open } from '../log-fixture.js'
import { batchesIn } from './batches-in.js'
import { compactAll, put, recordsOf } from './compaction-fixture.js'

/** A wall clock that is set by hand. */
function clock(start: number) {
  const env = { ...systemEnv, ms: start, now: () => env.ms }
  return env
}

test('a tombstone stays for its time after the first compaction, and goes then', async (t) => {
  const env = clock(NOW)
  const log = await open(t, temporaryDirectory(t), { deleteRetentionMs: 1000 }, env)
  put(log, [
    ['a', '1'],
    ['b', '1'],
  ])
  put(log, [['a', null]])
  const keys = () => recordsOf(log).map(({ key, value }) => [key, value])
  env.ms = NOW + 5000
  await compactAll(log)
  assert.deepEqual(keys(), [
    ['b', '1'],
    ['a', null],
  ])
  for (const [afterMs, stays] of [
    [999, true],
    [1000, false],
  ] as const) {
    env.ms = NOW + 5000 + afterMs
    put(log, [['c', String(afterMs)]])
    await compactAll(log)
    assert.equal(
      keys().some(([key]) => key === 'a'),
      stays,
      `after ${afterMs} ms`,
    )
  }
  assert.equal(recordsOf(log).find(({ key }) => key === 'b')?.timestamp, NOW)
})

test('a record without a key goes', async (t) => {
  const log = await open(t, temporaryDirectory(t))
  put(log, [
    [null, 'x'],
    ['', 'y'],
  ])
  await compactAll(log)
  assert.deepEqual(
    recordsOf(log).map(({ offset, key }) => [offset, key]),
    [[1, '']],
  )
})

test('the last batch of a producer stays as a header, and its repeat is known', async (t) => {
  const directory = temporaryDirectory(t)
  const log = await open(t, directory)
  put(log, [['a', '1']], { producer: { id: 9, epoch: 0, baseSequence: 0 } })
  put(log, [['a', '2']], { producer: { id: 9, epoch: 0, baseSequence: 1 } })
  put(log, [
    ['a', '3'],
    ['b', '3'],
  ])
  await compactAll(log)
  const headers = batchesIn(log).map(({ producerId, baseSequence, count, baseOffset }) => {
    return [producerId, baseSequence, count, baseOffset]
  })
  assert.deepEqual(headers, [
    [9, 1, 0, 1],
    [-1, -1, 2, 2],
  ])
  await log.close()
  for (const name of filesOf(directory, '.snapshot')) writeFileSync(join(directory, name), '')
  const again = await open(t, directory)
  assert.deepEqual(again.producers.check(9, 0, 1, 1), {
    firstSequence: 1,
    lastSequence: 1,
    baseOffset: 1,
    lastOffset: 1,
    timestamp: NOW,
  })
})

test('records above what the memory has room for stay, and are compacted next', async (t) => {
  const log = await open(t, temporaryDirectory(t), { segmentBytes: 1 << 20 })
  for (let i = 0; i < 20; i++) put(log, [[`k${i}`, '1']])
  for (let i = 0; i < 20; i++) put(log, [[`k${i}`, '2']])
  // Nine tenths of 24 slots are 21 keys.
  const first = await compactAll(log, 24 * 12)
  assert.equal(first?.end, 10)
  assert.equal(recordsOf(log).length, 40)
  let rounds = 1
  while (await log.compact({ limitOffset: log.endOffset, bufferBytes: 24 * 12 })) rounds++
  assert.equal(rounds, 4)
  assert.deepEqual(
    recordsOf(log).map(({ value }) => value),
    Array(20).fill('2'),
  )
})

test('a batch above max.message.bytes is compacted too', async (t) => {
  const log = await open(t, temporaryDirectory(t), { segmentBytes: 1 << 22 })
  put(log, [
    ['a', 'v'.repeat(1 << 20)],
    ['b', '1'],
  ])
  put(log, [['a', '2']])
  log.configure({ maxMessageBytes: 1000 })
  await compactAll(log)
  assert.deepEqual(
    recordsOf(log).map(({ key, value }) => [key, value]),
    [
      ['b', '1'],
      ['a', '2'],
    ],
  )
})

test('a checkpoint below the start of the log begins at the start', async (t) => {
  const log = await open(t, temporaryDirectory(t), { cleanedOffset: 1 })
  for (const value of ['1', '2', '3', '4']) {
    put(log, [['a', value]])
    log.roll()
  }
  log.deleteBefore(2)
  const report = await compactAll(log)
  assert.equal(report?.firstDirty, 2)
  assert.equal(log.cleanedOffset, 4)
  assert.deepEqual(
    recordsOf(log).map(({ offset }) => offset),
    [3],
  )
  assert.equal(await compactAll(log), undefined)
})

test('what is not committed is not compacted', async (t) => {
  const log = await open(t, temporaryDirectory(t))
  for (const value of ['1', '2', '3']) {
    put(log, [['a', value]])
    log.roll()
  }
  await log.flush()
  await log.compact({ limitOffset: 2, bufferBytes: 1 << 20 })
  assert.deepEqual(
    recordsOf(log).map(({ value }) => value),
    ['2', '3'],
  )
})

test('what is not on the disk is not compacted', async (t) => {
  const log = await open(t, temporaryDirectory(t))
  put(log, [['a', '1']])
  put(log, [['a', '2']])
  log.roll()
  assert.ok(log.recoveryPoint < 2)
  assert.equal(await log.compact({ limitOffset: 2, bufferBytes: 1 << 20 }), undefined)
  await log.flush()
  assert.ok(await log.compact({ limitOffset: 2, bufferBytes: 1 << 20 }))
})

test('nothing of a transaction is judged, nor what follows it', async (t) => {
  const log = await open(t, temporaryDirectory(t))
  put(log, [['a', '1']])
  put(log, [['a', '2']])
  const producer = { id: 4, epoch: 0, baseSequence: 0 }
  put(log, [['a', '3']], { producer, transactional: true })
  put(log, [['a', '4']])
  const report = await compactAll(log)
  assert.equal(report?.end, 2)
  assert.deepEqual(
    recordsOf(log).map(({ value }) => value),
    ['2', '3', '4'],
  )
  assert.equal(await compactAll(log), undefined)
})

test('messages of before magic 2 are compacted, and batches afterwards', async (t) => {
  const directory = temporaryDirectory(t)
  const builder = new MessageSetBuilder(1)
  const message = (offset: number, key: string, value: string) => ({
    offset,
    timestamp: NOW + offset,
    key: Buffer.from(key),
    value: Buffer.from(value),
    headers: [],
  })
  builder.add(message(0, 'a', '1'))
  builder.wrap([message(1, 'b', '1'), message(2, 'a', '2'), message(3, 'b', '2')], 1)
  writeFileSync(join(directory, '00000000000000000000.log'), builder.bytes)
  writeFileSync(join(directory, '00000000000000000004.log'), '')
  const log = await open(t, directory, { clean: true })
  put(log, [['c', '1']])
  await compactAll(log)
  assert.deepEqual(
    recordsOf(log).map(({ offset, key, value, timestamp }) => [offset, key, value, timestamp]),
    [
      [2, 'a', '2', NOW + 2],
      [3, 'b', '2', NOW + 3],
      [4, 'c', '1', NOW],
    ],
  )
  assert.deepEqual(
    batchesIn(log).map(({ magic }) => magic),
    [2, 2],
  )
})

test('a damaged batch is CORRUPT and nothing is changed', async (t) => {
  const directory = temporaryDirectory(t)
  const log = await open(t, directory)
  put(log, [['a', '1']])
  put(log, [['a', '2']])
  log.roll()
  await log.close()
  const path = join(directory, '00000000000000000000.log')
  const bytes = readFileSync(path)
  bytes[bytes.length - 1]! ^= 1
  writeFileSync(path, bytes)
  const again = await open(t, directory, { clean: true })
  await assert.rejects(compactAll(again), { code: 'CORRUPT', message: /seglog-test.*offset 1/ })
  assert.deepEqual(readFileSync(path), bytes)
  assert.deepEqual(filesOf(directory, '.cleaned'), [])
})

test('a reader of a segment that was replaced goes on', async (t) => {
  const log = await open(t, temporaryDirectory(t))
  put(log, [['a', '1']])
  put(log, [['a', '2']])
  const slice = log.slice(0, 1 << 20)!
  const bytes = slice.bytes()
  await compactAll(log)
  put(log, [['a', '3']])
  await compactAll(log)
  assert.deepEqual(slice.bytes(), bytes)
})

test('deletion at the start meanwhile ends the run, and the log is right', async (t) => {
  const log = await open(t, temporaryDirectory(t))
  for (const value of ['1', '2', '3', '4']) {
    put(log, [[value, value]])
    log.roll()
  }
  await log.flush()
  const run = log.compact({ limitOffset: 4, bufferBytes: 1 << 20 })
  log.deleteBefore(2)
  await assert.rejects(run, { name: 'Interrupted' })
  assert.deepEqual(
    recordsOf(log).map(({ offset }) => offset),
    [2, 3],
  )
  assert.ok(await log.compact({ limitOffset: 4, bufferBytes: 1 << 20 }))
  assert.deepEqual(
    recordsOf(log).map(({ offset }) => offset),
    [2, 3],
  )
})

test('a lookup by time goes past a batch that was emptied', async (t) => {
  const log = await open(t, temporaryDirectory(t))
  put(log, [['a', '1']], { timestamp: NOW + 50 })
  log.roll()
  put(log, [['a', '2']], { timestamp: NOW + 20 })
  put(log, [['b', '3']], { timestamp: NOW + 60 })
  await compactAll(log)
  assert.equal(log.batchForTimestamp(NOW + 40)?.bytes().length, log.slice(2, 1)?.sizeBytes)
})
