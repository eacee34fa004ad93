/**
 * Which syncs a log makes, and what a failed one means; the native calls are watched, or made to
 * fail.
 */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { SeglogError } from '../../src/errors.js'
import { native, Status } from '../../src/native.js'
import { buildBatch } from '../../src/records/encoder.js'
import { temporaryDirectory } from '../support/tmp.js'
import { until } from '../support/until.js'
import { append, open, values } from './log-fixture.js'

const code = (expected: string) => (error: unknown) =>
  error instanceof Error && 'code' in error && error.code === expected

/** Puts `replacement` in the place of a native function for one test. */
function replace<K extends 'segmentFlush' | 'segmentSeal' | 'segmentAppend'>(
  t: TestContext,
  name: K,
  replacement: (original: (typeof native)[K]) => (typeof native)[K],
): void {
  const original = native[name]
  native[name] = replacement(original)
  t.after(() => {
    native[name] = original
  })
}

const failure = () => Promise.reject(new SeglogError('IO', 'the disk failed', { errno: 5 }))

test('a hundred flushes at once are two syncs at most', async (t) => {
  let syncs = 0
  replace(t, 'segmentFlush', (flush) => (handle) => {
    syncs++
    return flush.call(native, handle)
  })
  const log = await open(t, temporaryDirectory(t), { segmentBytes: 1 << 20 })
  const flushes = Array.from({ length: 100 }, () => {
    append(log, 'v')
    return log.flush()
  })
  await Promise.all(flushes)
  assert.equal(log.recoveryPoint, 100)
  assert.ok(syncs <= 2, `${syncs} syncs`)
})

test('a flush with nothing to do makes no sync', async (t) => {
  let syncs = 0
  const log = await open(t, temporaryDirectory(t))
  append(log, 'a')
  await log.flush()
  replace(t, 'segmentFlush', (flush) => (handle) => {
    syncs++
    return flush.call(native, handle)
  })
  await log.flush()
  assert.equal(syncs, 0)
})

test('a flush waits for the segments that were sealed before', async (t) => {
  let sealed = false
  replace(t, 'segmentSeal', (seal) => async (handle) => {
    await new Promise((resolve) => setTimeout(resolve, 50))
    await seal.call(native, handle)
    sealed = true
  })
  const log = await open(t, temporaryDirectory(t))
  append(log, 'a')
  log.roll()
  append(log, 'b')
  await log.flush()
  assert.ok(sealed)
})

for (const name of ['segmentFlush', 'segmentSeal'] as const) {
  test(`after a failed ${name} nothing is appended until the log is opened again`, async (t) => {
    const directory = temporaryDirectory(t)
    const log = await open(t, directory)
    append(log, 'a')
    await log.flush()
    let fails = true
    replace(t, name, (original) => (handle) => (fails ? failure() : original.call(native, handle)))
    append(log, 'b')
    log.roll()
    await assert.rejects(log.flush(), code('IO'))
    assert.equal(log.recoveryPoint, 1)
    const batch = buildBatch([{ value: 'c' }])
    assert.equal(log.appendFromClient(batch, 0, batch.length, 0), Status.FENCED)
    assert.throws(() => log.roll(), code('IO'))
    await assert.rejects(log.flush(), code('IO'))
    fails = false
    await assert.rejects(log.close(), code('IO'))
    const again = await open(t, directory)
    assert.deepEqual(values(again), ['a', 'b'])
    assert.equal(append(again, 'c'), 2)
  })
}

test('a write that fails fences the log, one that finds no space does not', async (t) => {
  const log = await open(t, temporaryDirectory(t))
  const batch = buildBatch([{ value: 'c' }])
  const put = () => log.appendFromClient(batch, 0, batch.length, 0)
  let status: number = Status.NO_SPACE
  replace(
    t,
    'segmentAppend',
    (original) =>
      (...args) =>
        status || original.apply(native, args),
  )
  assert.equal(put(), Status.NO_SPACE)
  status = Status.OK
  assert.equal(put(), 0)
  status = Status.IO
  assert.equal(put(), Status.IO)
  status = Status.OK
  assert.equal(put(), Status.FENCED)
})

test('a batch whose write failed is not remembered of its producer, then or later', async (t) => {
  const directory = temporaryDirectory(t)
  const log = await open(t, directory)
  const made = (baseSequence: number) => {
    return buildBatch([{ value: 'v' }], { producer: { id: 7, epoch: 0, baseSequence } })
  }
  const put = (batch: Uint8Array) => log.appendFromClient(batch, 0, batch.length, 0)
  assert.equal(put(made(0)), 0)
  replace(t, 'segmentAppend', () => () => Status.IO)
  assert.equal(put(made(1)), Status.IO)
  assert.equal(log.producers.check(7, 0, 1, 1), 'append')
  await assert.rejects(log.close(), code('IO'))
  const again = await open(t, directory)
  assert.equal(again.endOffset, 1)
  assert.equal(typeof again.producers.check(7, 0, 0, 1), 'object')
  assert.equal(again.producers.check(7, 0, 1, 1), 'append')
})

test('a new limit holds for the segment that is open too', async (t) => {
  const log = await open(t, temporaryDirectory(t), { segmentBytes: 1 << 20 })
  for (let i = 0; i < 5; i++) append(log, 'v'.repeat(100))
  log.configure({ segmentBytes: 400 })
  for (let i = 0; i < 4; i++) append(log, 'v'.repeat(100))
  assert.equal(log.segmentCount, 3)
  assert.equal(values(log).length, 9)
})

test('the recovery point follows the rolls of a log that is never flushed', async (t) => {
  const log = await open(t, temporaryDirectory(t), { segmentBytes: 300 })
  for (let i = 0; i < 12; i++) append(log, `record ${i} ${'.'.repeat(50)}`)
  assert.ok(log.segmentCount > 3)
  const behind = () => log.recoveryPoint > 0 && log.endOffset - log.recoveryPoint <= 3
  await until(behind, 'all but the active segment on disk')
})

test('the recovery point stays where a segment could not be sealed', async (t) => {
  replace(t, 'segmentSeal', () => failure)
  const log = await open(t, temporaryDirectory(t), { segmentBytes: 300 })
  for (let i = 0; i < 4; i++) append(log, `record ${i} ${'.'.repeat(50)}`)
  await assert.rejects(log.flush(), code('IO'))
  assert.equal(log.recoveryPoint, 0)
})
