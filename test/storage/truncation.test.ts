/**
 * Cuts at a log's end: what stays, what goes, and what a start after it finds.
 */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { native, Status } from '../../src/native.js'
import { buildBatch } from '../../src/records/encoder.js'
import type { Log } from '../../src/storage/log.js'
import { SimEnv } from '../support/sim-env.js'
import { temporaryDirectory } from '../support/tmp.js'
import { until } from '../support/until.js'
import { append, crashCopy, filesOf, NOW, open, values } from './log-fixture.js'

const code = (expected: string) => (error: unknown) =>
  error instanceof Error && 'code' in error && error.code === expected

/** Thirty records in three segments of ten, time rising by one a record. */
async function thirty(t: TestContext, env = new SimEnv()) {
  const directory = join(temporaryDirectory(t), 't-0')
  const options = { segmentBytes: 1 << 20, indexIntervalBytes: 1 }
  const log = await open(t, directory, options, env)
  for (let i = 0; i < 30; i++) {
    if (i === 10 || i === 20) log.roll()
    appendAt(log, `v${i}`, NOW + i)
  }
  await log.flush()
  return { directory, log, env }
}

function appendAt(log: Log, value: string, timestamp: number): void {
  const batch = buildBatch([{ value, timestamp }])
  assert.ok(log.appendFromClient(batch, 0, batch.length, 0) >= 0)
}

const thirtyValues = Array.from({ length: 30 }, (_, i) => `v${i}`)

/** The highest offset and time that any entry of an index names; -1 without entries. */
function highest(directory: string) {
  const found = { offset: -1, time: -1 }
  for (const ending of ['.index', '.timeindex']) {
    const entryBytes = ending === '.index' ? 8 : 12
    for (const name of filesOf(directory, ending)) {
      const bytes = readFileSync(join(directory, name))
      const base = Number.parseInt(name, 10)
      for (let at = 0; at < bytes.length; at += entryBytes) {
        const relative = bytes.readUInt32BE(ending === '.index' ? at : at + 8)
        found.offset = Math.max(found.offset, base + relative)
        if (ending === '.timeindex') {
          found.time = Math.max(found.time, Number(bytes.readBigInt64BE(at)))
        }
      }
    }
  }
  return found
}

for (const cut of [1, 9, 10, 11, 15, 19, 20, 21, 29]) {
  test(`a log cut at ${cut} ends there in every respect, also after a start`, async (t) => {
    const { directory, log } = await thirty(t)
    await log.truncateTo(cut)
    const kept = thirtyValues.slice(0, cut)
    const check = (it: Log) => {
      assert.deepEqual([it.startOffset, it.endOffset], [0, cut])
      assert.ok(it.recoveryPoint <= cut)
      assert.deepEqual(values(it), kept)
      assert.equal(it.maxTimestamp, NOW + cut - 1)
      assert.equal(it.batchForTimestamp(NOW + cut), undefined)
      assert.throws(() => it.slice(cut + 1, 100), code('OFFSET_OUT_OF_RANGE'))
      for (const name of filesOf(directory, '.log')) assert.ok(Number.parseInt(name, 10) <= cut)
    }
    check(log)
    const killed = await open(t, crashCopy(directory, join(temporaryDirectory(t), 't-0')))
    assert.deepEqual(values(killed), kept)
    await log.close()
    const { offset, time } = highest(directory)
    assert.ok(offset < cut && time < NOW + cut, `entries up to ${offset}, ${time - NOW}`)
    assert.ok(cut % 10 < 3 || offset >= cut - 2, `entries up to ${offset}`)
    const again = await open(t, directory, { clean: true })
    check(again)
    assert.equal(append(again, 'next'), cut)
    assert.deepEqual(values(again), [...kept, 'next'])
  })
}

test('what is appended after a cut takes the place of what was cut', async (t) => {
  const { directory, log } = await thirty(t)
  await log.truncateTo(15)
  for (let i = 0; i < 10; i++) append(log, `w${i}`)
  await log.flush()
  assert.equal(log.recoveryPoint, 25)
  const expected = [...thirtyValues.slice(0, 15), ...Array.from({ length: 10 }, (_, i) => `w${i}`)]
  assert.deepEqual(values(log), expected)
  await log.close()
  assert.deepEqual(values(await open(t, directory)), expected)
})

test('a cut inside a batch takes the batch', async (t) => {
  const log = await open(t, temporaryDirectory(t))
  append(log, 'a', 'b')
  append(log, 'c', 'd', 'e')
  await log.truncateTo(4)
  assert.equal(log.endOffset, 2)
  assert.deepEqual(values(log), ['a', 'b'])
})

test('a cut at the end or above changes nothing', async (t) => {
  const { log } = await thirty(t)
  await log.truncateTo(30)
  await log.truncateTo(1000)
  assert.deepEqual(values(log), thirtyValues)
  assert.equal(log.segmentCount, 3)
})

test('a cut at the base of the only segment leaves one empty file', async (t) => {
  const directory = temporaryDirectory(t)
  const log = await open(t, directory)
  append(log, 'a')
  await log.truncateTo(0)
  assert.deepEqual([log.endOffset, log.sizeBytes, log.maxTimestamp], [0, 0, -1])
  assert.equal(append(log, 'b'), 0)
  assert.deepEqual(filesOf(directory, '.log'), ['00000000000000000000.log'])
  assert.deepEqual(values(log), ['b'])
})

test('a cut below the first segment begins the log anew there', async (t) => {
  const directory = temporaryDirectory(t)
  const log = await open(t, directory)
  await log.truncateFullyAndStartAt(100)
  append(log, 'a')
  await log.truncateTo(50)
  assert.deepEqual([log.startOffset, log.endOffset, log.recoveryPoint], [50, 50, 50])
  assert.equal(append(log, 'b'), 50)
  assert.deepEqual(filesOf(directory, '.log'), ['00000000000000000050.log'])
  await log.close()
  const again = await open(t, directory, { clean: true })
  assert.deepEqual([again.startOffset, again.endOffset, values(again)], [50, 51, ['b']])
  assert.deepEqual(filesOf(directory, '.snapshot'), ['00000000000000000051.snapshot'])
})

test('a cut below a start inside a segment takes the start along', async (t) => {
  const { log } = await thirty(t)
  log.deleteBefore(25)
  await log.truncateTo(22)
  assert.deepEqual([log.startOffset, log.endOffset], [22, 22])
  assert.equal(append(log, 'next'), 22)
  assert.deepEqual(values(log), ['next'])
})

test('a log that begins anew at its first offset has new files under the old names', async (t) => {
  const { directory, log } = await thirty(t)
  await log.truncateFullyAndStartAt(10)
  assert.deepEqual([log.startOffset, log.endOffset, log.segmentCount], [10, 10, 1])
  assert.equal(append(log, 'x'), 10)
  assert.deepEqual(values(log), ['x'])
  assert.deepEqual(filesOf(directory, '.log'), ['00000000000000000010.log'])
  await log.close()
  const again = await open(t, directory)
  assert.deepEqual([again.startOffset, values(again)], [10, ['x']])
})

test('nothing is appended or rolled during a cut, and a flush waits for it', async (t) => {
  const { log } = await thirty(t)
  const cut = log.truncateTo(15)
  const batch = buildBatch([{ value: 'x' }])
  assert.equal(log.appendFromClient(batch, 0, batch.length, 0), Status.READ_ONLY)
  assert.throws(() => log.roll(), code('READ_ONLY'))
  assert.throws(() => log.deleteBefore(5), code('READ_ONLY'))
  const second = log.truncateTo(12)
  await Promise.all([log.flush(), cut, second])
  assert.equal(append(log, 'x'), 12)
})

test('a close waits for the cut that is under way', async (t) => {
  const { directory, log } = await thirty(t)
  const cut = log.truncateTo(5)
  await log.close()
  await cut
  assert.deepEqual(values(await open(t, directory)), thirtyValues.slice(0, 5))
})

test('a cut that fails fences the log', async (t) => {
  const { log } = await thirty(t)
  const original = native.segmentTruncate
  native.segmentTruncate = () => Promise.reject(new Error('made up'))
  t.after(() => {
    native.segmentTruncate = original
  })
  await assert.rejects(log.truncateTo(25), /made up/)
  const batch = buildBatch([{ value: 'x' }])
  assert.equal(log.appendFromClient(batch, 0, batch.length, 0), Status.FENCED)
})

test('cuts, deletions and rolls in any order give every offset once', async (t) => {
  const directory = temporaryDirectory(t)
  const log = await open(t, directory, { fileDeleteDelayMs: 1 })
  for (let round = 0; round < 20; round++) {
    const before = log.endOffset
    const kept = values(log)
    for (let i = 0; i < 8; i++) append(log, `r${round}.${i}`)
    const flushed = log.flush()
    await log.truncateTo(log.endOffset - 3)
    await flushed
    assert.equal(log.endOffset, before + 5)
    const added = Array.from({ length: 5 }, (_, i) => `r${round}.${i}`)
    assert.deepEqual(values(log), [...kept, ...added])
    log.deleteBefore(Math.max(log.startOffset, log.endOffset - 12))
  }
  await until(() => filesOf(directory, '.deleted').length === 0, 'removed files are unlinked')
  await log.close()
})
