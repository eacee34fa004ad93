/**
 * What of a flush fences a log: a sync that fails does, a file or directory that cannot be opened
 * for its sync does not. The calls of the addon are made to fail.
 */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { SeglogError } from '../../src/errors.js'
import { native, Status } from '../../src/native.js'
import { buildBatch } from '../../src/records/encoder.js'
import { temporaryDirectory } from '../support/tmp.js'
import { append, open, values } from './log-fixture.js'

const code = (expected: string) => (error: unknown) =>
  error instanceof Error && 'code' in error && error.code === expected

interface Syncing {
  pathSync(path: string): Promise<number>
}

/** Has the sync of this path go through `replacement` until the returned function is called. */
function replaceSync(
  t: TestContext,
  path: string,
  replacement: (original: () => Promise<number>) => Promise<number>,
): () => void {
  const addon = native as unknown as Syncing
  const original = addon.pathSync
  addon.pathSync = (target) => {
    const really = () => original(target)
    return target === path ? replacement(really) : really()
  }
  const restore = () => {
    addon.pathSync = original
  }
  t.after(restore)
  return restore
}

const EMFILE = 24
const failed = () => Promise.reject({ status: Status.IO, errno: 5 })

test('a directory that cannot be opened for want of descriptors fences nothing', async (t) => {
  const directory = temporaryDirectory(t)
  const log = await open(t, directory)
  append(log, 'a')
  const restore = replaceSync(t, directory, async () => EMFILE)
  await assert.rejects(log.flush(), code('TOO_MANY_FILES'))
  assert.equal(log.recoveryPoint, 0)
  assert.equal(append(log, 'b'), 1)
  await assert.rejects(log.flush(), code('TOO_MANY_FILES'))
  restore()
  await log.flush()
  assert.equal(log.recoveryPoint, 2)
  assert.deepEqual(values(log), ['a', 'b'])
})

test('a directory whose sync fails fences the log', async (t) => {
  const directory = temporaryDirectory(t)
  const log = await open(t, directory)
  append(log, 'a')
  replaceSync(t, directory, failed)
  await assert.rejects(log.flush(), code('IO'))
  assert.equal(log.recoveryPoint, 0)
  const batch = buildBatch([{ value: 'b' }])
  assert.equal(log.appendFromClient(batch, 0, batch.length, 0), Status.FENCED)
  await assert.rejects(log.flush(), code('IO'))
  await assert.rejects(log.close(), code('IO'))
})

test('an older segment that cannot be opened for its sync is owed until it can', async (t) => {
  const directory = temporaryDirectory(t)
  const first = await open(t, directory)
  append(first, 'a')
  first.roll()
  append(first, 'b')
  await first.close()
  const log = await open(t, directory)
  const path = `${directory}/00000000000000000000.log`
  let syncs = 0
  let restore = replaceSync(t, path, async () => EMFILE)
  await assert.rejects(log.flush(), code('TOO_MANY_FILES'))
  assert.equal(append(log, 'c'), 2)
  restore()
  restore = replaceSync(t, path, (original) => {
    syncs++
    return original()
  })
  await log.flush()
  assert.equal(syncs, 1)
  assert.equal(log.recoveryPoint, 3)
})

test('a seal that finds no descriptor is owed until one does, and fences nothing', async (t) => {
  const log = await open(t, temporaryDirectory(t))
  const original = native.segmentSeal
  const restore = () => {
    native.segmentSeal = original
  }
  t.after(restore)
  const sealed: number[] = []
  let fails = true
  native.segmentSeal = (handle) => {
    if (fails) return Promise.reject(new SeglogError('TOO_MANY_FILES', 'none left'))
    sealed.push(handle)
    return original.call(native, handle)
  }
  append(log, 'a')
  log.roll()
  append(log, 'b')
  await assert.rejects(log.flush(), code('TOO_MANY_FILES'))
  assert.equal(log.recoveryPoint, 0)
  assert.equal(append(log, 'c'), 2)
  fails = false
  await log.flush()
  assert.equal(sealed.length, 1)
  assert.equal(log.recoveryPoint, 3)
  assert.deepEqual(values(log), ['a', 'b', 'c'])
})

test('a roll beyond sixty-four seals under way has the oldest done at once', async (t) => {
  const log = await open(t, temporaryDirectory(t))
  const original = native.segmentSeal
  const originalNow = native.segmentSealNow
  const started: number[] = []
  const done: number[] = []
  native.segmentSeal = async (handle) => {
    started.push(handle)
    await new Promise((resolve) => setTimeout(resolve, 50))
    return original.call(native, handle)
  }
  native.segmentSealNow = (handle) => {
    done.push(handle)
    return originalNow.call(native, handle)
  }
  t.after(() => {
    native.segmentSeal = original
    native.segmentSealNow = originalNow
  })
  for (let i = 0; i < 70; i++) {
    append(log, `v${i}`)
    log.roll()
  }
  assert.deepEqual(done, started.slice(0, 6))
  await log.flush()
  assert.equal(log.recoveryPoint, 70)
  assert.equal(values(log).length, 70)
})

test('a seal that is done at once and fails fences the log, and the roll is none', async (t) => {
  const log = await open(t, temporaryDirectory(t))
  const originals = { create: native.segmentCreate, now: native.segmentSealNow }
  append(log, 'a')
  log.roll()
  append(log, 'b')
  native.segmentCreate = () => Status.TOO_MANY_FILES
  native.segmentSealNow = () => Status.IO
  t.after(() => {
    native.segmentCreate = originals.create
    native.segmentSealNow = originals.now
  })
  assert.throws(() => log.roll(), code('IO'))
  assert.equal(log.segmentCount, 2)
  const batch = buildBatch([{ value: 'c' }])
  assert.equal(log.appendFromClient(batch, 0, batch.length, 0), Status.FENCED)
})
