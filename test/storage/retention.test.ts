import assert from 'node:assert/strict'
import { readdirSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { buildBatch } from '../../src/records/encoder.js'
import type { Log } from '../../src/storage/log.js'
import { countToDelete, type SegmentFacts } from '../../src/storage/retention.js'
import { SimEnv } from '../support/sim-env.js'
import { temporaryDirectory } from '../support/tmp.js'
import { append, crashCopy, filesOf, NOW, open, values } from './log-fixture.js'

/** Four segments of ten offsets and 100 bytes, one ms newer each. */
const facts: SegmentFacts[] = [1, 2, 3, 4].map((i) => ({
  endOffset: i * 10,
  sizeBytes: 100,
  timestampMs: i,
}))
const limits = {
  nowMs: 10,
  retentionMs: -1,
  retentionBytes: -1,
  logStartOffset: 0,
  highWatermark: 40,
}

const cases: [string, Partial<typeof limits>, number][] = [
  ['without limits', {}, 0],
  ['of an age', { retentionMs: 7 }, 2],
  ['of the very age that is kept', { retentionMs: 9 }, 0],
  ['of an age that all have', { retentionMs: 0 }, 4],
  ['behind a watermark that lags', { retentionMs: 0, highWatermark: 25 }, 2],
  ['above a size', { retentionBytes: 250 }, 1],
  ['above the very size', { retentionBytes: 200 }, 2],
  ['above no size at all', { retentionBytes: 0 }, 3],
  ['below the start', { logStartOffset: 29 }, 2],
]
for (const [which, changes, count] of cases) {
  test(`${count} segments go ${which}`, () => {
    assert.equal(countToDelete(facts, { ...limits, ...changes }), count)
  })
}

test('an empty active segment never goes', () => {
  const empty = { endOffset: 40, sizeBytes: 0, timestampMs: 0 }
  assert.equal(countToDelete([empty], { ...limits, retentionMs: 0, retentionBytes: 0 }), 0)
})

function appendAt(log: Log, timestamp: number): void {
  const batch = buildBatch([{ value: 'v', timestamp }])
  assert.ok(log.appendFromClient(batch, 0, batch.length, 0) >= 0)
}

test('an idle log of one expired segment is rolled and emptied, its end kept', async (t) => {
  const log = await open(t, temporaryDirectory(t), { retentionMs: 1000 })
  appendAt(log, NOW)
  assert.equal(await log.deleteOldSegments(NOW + 1000, 1), 0)
  assert.equal(await log.deleteOldSegments(NOW + 1001, 0), 0)
  assert.equal(await log.deleteOldSegments(NOW + 1001, 1), 1)
  assert.deepEqual([log.startOffset, log.endOffset, log.segmentCount], [1, 1, 1])
  assert.equal(await log.deleteOldSegments(NOW + 9999, 1), 0)
  assert.equal(append(log, 'next'), 1)
})

const forgetful: Record<string, (directory: string) => void> = {
  'a plain start': () => {},
  'the loss of time indexes': (directory) => {
    for (const name of filesOf(directory, '.timeindex')) rmSync(join(directory, name))
  },
  'time indexes that became zeros': (directory) => {
    for (const name of filesOf(directory, '.timeindex')) {
      const path = join(directory, name)
      writeFileSync(path, Buffer.alloc(statSync(path).size))
    }
  },
  'files that seem to be of 2001': (directory) => {
    const then = new Date('2001-02-03')
    for (const name of readdirSync(directory)) utimesSync(join(directory, name), then, then)
  },
}
for (const [what, forget] of Object.entries(forgetful)) {
  test(`fresh segments stay after ${what}, and old ones go`, async (t) => {
    const directory = temporaryDirectory(t)
    const log = await open(t, directory)
    for (const age of [5000, 20, 10]) {
      appendAt(log, NOW - age)
      log.roll()
    }
    appendAt(log, NOW)
    await log.close()
    for (const clean of [true, false]) {
      const copy = crashCopy(directory, join(temporaryDirectory(t), 't-0'))
      forget(copy)
      const again = await open(t, copy, { clean, retentionMs: 1000 })
      assert.equal(await again.deleteOldSegments(NOW, 4), 1)
      assert.deepEqual([again.startOffset, values(again).length], [1, 3])
    }
  })
}

test('without limits, or with limits of -1, nothing goes however old it is', async (t) => {
  for (const options of [{}, { retentionMs: -1, retentionBytes: -1 }]) {
    const log = await open(t, temporaryDirectory(t), options)
    for (let i = 0; i < 3; i++) {
      appendAt(log, i)
      log.roll()
    }
    assert.equal(await log.deleteOldSegments(NOW * 2, 3), 0)
    assert.equal(log.startOffset, 0)
  }
})

test('a time in the future does not keep a record whose time is that of its append', async (t) => {
  const env = new SimEnv({ now: NOW })
  const options = { retentionMs: 1000, timestampType: 'LogAppendTime' } as const
  const log = await open(t, temporaryDirectory(t), options, env)
  appendAt(log, Date.UTC(2099, 0))
  assert.equal(log.maxTimestamp, NOW)
  assert.equal(await log.deleteOldSegments(NOW + 1001, 1), 1)
})

test('records without a time have the age of their file', async (t) => {
  const log = await open(t, temporaryDirectory(t), { retentionMs: 60_000 })
  appendAt(log, -1)
  assert.equal(await log.deleteOldSegments(Date.now(), 1), 0)
  assert.equal(await log.deleteOldSegments(Date.now() + 120_000, 1), 1)
})

test('a segment is closed by the time of its first batch', async (t) => {
  const log = await open(t, temporaryDirectory(t), { segmentMs: 1000, segmentJitterMs: 100 })
  for (const later of [0, 900, 901, 1000]) appendAt(log, NOW + later)
  assert.equal(log.segmentCount, 2)
  assert.equal(log.slice(0, 1 << 20)?.sizeBytes, 2 * buildBatch([{ value: 'v' }]).length)
})

test('a segment without times is closed by the wall clock', async (t) => {
  const env = new SimEnv()
  const log = await open(t, temporaryDirectory(t), { segmentMs: 1000 }, env)
  appendAt(log, -1)
  await env.advance(1000)
  appendAt(log, -1)
  assert.equal(log.segmentCount, 1)
  await env.advance(1)
  appendAt(log, -1)
  assert.equal(log.segmentCount, 2)
})

test('an empty segment is not closed, however long it has been there', async (t) => {
  const env = new SimEnv()
  const directory = temporaryDirectory(t)
  const log = await open(t, directory, { segmentMs: 1000 }, env)
  await env.advance(1_000_000)
  appendAt(log, NOW)
  assert.equal(log.segmentCount, 1)
  assert.deepEqual(filesOf(directory, '.log'), ['00000000000000000000.log'])
})
