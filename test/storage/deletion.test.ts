/**
 * Deletion at a log's start: the offsets, the files, and those who read meanwhile.
 */
import assert from 'node:assert/strict'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { native } from '../../src/native.js'
import { SimEnv } from '../support/sim-env.js'
import { temporaryDirectory } from '../support/tmp.js'
import { until } from '../support/until.js'
import { append, crashCopy, filesOf, open, values } from './log-fixture.js'

const code = (expected: string) => (error: unknown) =>
  error instanceof Error && 'code' in error && error.code === expected

/** Nine records in three segments of three. */
async function nine(t: TestContext, env = new SimEnv()) {
  const directory = join(temporaryDirectory(t), 't-0')
  const log = await open(t, directory, { segmentBytes: 1 << 20 }, env)
  for (let i = 0; i < 9; i++) {
    if (i === 3 || i === 6) log.roll()
    append(log, `v${i}`)
  }
  return { directory, log, env }
}

test('the start moves inside a segment, and nothing below it is read', async (t) => {
  const { directory, log } = await nine(t)
  log.deleteBefore(2)
  assert.equal(log.startOffset, 2)
  assert.equal(log.segmentCount, 3)
  assert.throws(() => log.slice(1, 100), code('OFFSET_OUT_OF_RANGE'))
  assert.deepEqual(values(log), ['v2', 'v3', 'v4', 'v5', 'v6', 'v7', 'v8'])
  assert.equal(filesOf(directory, '.log').length, 3)
})

test('segments that lie wholly below the start leave, the others stay', async (t) => {
  const { directory, log } = await nine(t)
  log.deleteBefore(6)
  assert.deepEqual([log.startOffset, log.segmentCount, log.endOffset], [6, 1, 9])
  await until(() => filesOf(directory, '.log').length === 1, 'files have other names')
  assert.deepEqual(filesOf(directory, '.log'), ['00000000000000000006.log'])
})

test('a start that moves back, or nowhere, is no error and no change', async (t) => {
  const { log } = await nine(t)
  log.deleteBefore(5)
  log.deleteBefore(5)
  log.deleteBefore(1)
  assert.equal(log.startOffset, 5)
})

test('a start above the end is out of range', async (t) => {
  const { log } = await nine(t)
  assert.throws(() => log.deleteBefore(10), code('OFFSET_OUT_OF_RANGE'))
  assert.equal(log.startOffset, 0)
})

test('a log from which all is deleted keeps its end, also through a kill', async (t) => {
  const { directory, log, env } = await nine(t)
  log.deleteBefore(9)
  assert.deepEqual([log.startOffset, log.endOffset, log.sizeBytes], [9, 9, 0])
  await until(() => env.timers === 3, 'all segments wait')
  const killed = await open(t, crashCopy(directory, join(temporaryDirectory(t), 't-0')))
  assert.deepEqual([killed.startOffset, killed.endOffset], [9, 9])
  log.deleteBefore(9)
  assert.equal(append(log, 'next'), 9)
  await log.close()
  assert.deepEqual(values(await open(t, directory)), ['next'])
})

test('removed files keep their place on the disk for the delay, and no longer', async (t) => {
  const { directory, log, env } = await nine(t)
  log.deleteBefore(6)
  await until(() => env.timers === 2, 'both segments wait')
  // A snapshot of producers that was written by then is one more.
  const waiting = filesOf(directory, '.deleted')
  assert.equal(waiting.filter((name) => !name.includes('snapshot')).length, 6)
  assert.ok(waiting.includes('00000000000000000003.log.deleted'))
  await env.advance(59_999)
  assert.deepEqual(filesOf(directory, '.deleted'), waiting)
  await env.advance(1)
  await until(() => filesOf(directory, '.deleted').length === 0, 'files are unlinked')
})

test('who reads a segment that is removed reads on, until it leaves the disk', async (t) => {
  const { log, env } = await nine(t)
  const slice = log.slice(0, 1 << 20)
  assert.ok(slice)
  const before = slice.bytes()
  log.deleteBefore(6)
  await until(() => env.timers === 2, 'both segments wait')
  assert.deepEqual(slice.bytes(), before)
  await env.advance(60_000)
  assert.throws(() => slice.bytes(), code('CLOSED'))
})

test('a close unlinks at once what waits, and leaves no timer', async (t) => {
  const { directory, log, env } = await nine(t)
  log.deleteBefore(6)
  await log.close()
  assert.equal(env.timers, 0)
  assert.deepEqual(filesOf(directory, '.deleted'), [])
  assert.deepEqual(filesOf(directory, '.log'), ['00000000000000000006.log'])
})

test('a start inside a segment is known again by what the log is opened with', async (t) => {
  const { directory, log } = await nine(t)
  log.deleteBefore(4)
  await log.close()
  const options = { clean: true, logStartOffset: 4 }
  const again = await open(t, directory, options)
  assert.deepEqual([again.startOffset, values(again)[0]], [4, 'v4'])
  await again.close()
  assert.equal((await open(t, directory)).startOffset, 3)
})

test('a log that ends below the start it is opened with begins anew there', async (t) => {
  const { directory, log } = await nine(t)
  await log.close()
  const again = await open(t, directory, { logStartOffset: 20 })
  assert.deepEqual([again.startOffset, again.endOffset], [20, 20])
  assert.deepEqual(again.report.removedSegments, [0, 3, 6])
  assert.deepEqual(filesOf(directory, '.log'), ['00000000000000000020.log'])
})

test('a time is looked for above the start only', async (t) => {
  const { log } = await nine(t)
  log.deleteBefore(1)
  const found = log.batchForTimestamp(0)?.bytes()
  assert.equal(found && new DataView(found.buffer).getBigInt64(0), 1n)
})

test('the names of a new segment are on disk before the last old ones go', async (t) => {
  const { directory, log } = await nine(t)
  const original = native.segmentFlush
  let release = () => {}
  const held = new Promise<void>((resolve) => {
    release = resolve
  })
  native.segmentFlush = async (handle) => {
    await held
    return original.call(native, handle)
  }
  t.after(() => {
    native.segmentFlush = original
  })
  log.deleteBefore(9)
  await new Promise((resolve) => setTimeout(resolve, 20))
  assert.equal(filesOf(directory, '.log').length, 4)
  release()
  await until(() => filesOf(directory, '.log').length === 1, 'old names are gone')
})

test('descriptors stay bounded through appends and deletions in turn', async (t) => {
  const directory = temporaryDirectory(t)
  const log = await open(t, directory, { segmentBytes: 300, fileDeleteDelayMs: 0 })
  const descriptors = () => readdirSync('/proc/self/fd').length
  const before = descriptors()
  for (let i = 0; i < 300; i++) {
    append(log, 'v'.repeat(100))
    log.deleteBefore(Math.max(0, log.endOffset - 5))
    if (i % 50 === 49) await log.flush()
  }
  await until(() => descriptors() < before + 60, 'descriptors go with the files')
  assert.equal(log.startOffset, 295)
})

test('a close right after the deletion of everything ends, and keeps the end', async (t) => {
  const { directory, log } = await nine(t)
  log.deleteBefore(9)
  await log.close()
  const again = await open(t, directory, { clean: true })
  assert.deepEqual([again.startOffset, again.endOffset], [9, 9])
})
