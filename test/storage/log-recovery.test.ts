/**
 * What a start makes of a log by its recovery point, and of files that an end in the middle of
 * something left.
 */
import assert from 'node:assert/strict'
import { copyFileSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { native } from '../../src/native.js'
import { temporaryDirectory } from '../support/tmp.js'
import { append, filesOf, open, values } from './log-fixture.js'

const code = (expected: string) => (error: unknown) =>
  error instanceof Error && 'code' in error && error.code === expected
const name = (base: number, ending: string) => `${String(base).padStart(20, '0')}${ending}`

/** Four segments of five records each, closed. */
async function twenty(t: TestContext) {
  const directory = join(temporaryDirectory(t), 't-0')
  const log = await open(t, directory, { segmentBytes: 1 << 20 })
  const sizes: number[] = []
  for (let i = 0; i < 20; i++) {
    if (i > 0 && i % 5 === 0) log.roll()
    const before = log.sizeBytes
    append(log, `value ${i}`.padEnd(20))
    sizes.push(log.sizeBytes - before)
  }
  await log.close()
  return { directory, batchBytes: sizes[0]! }
}

/** Turns a bit in the records of the `index`th batch of a segment. */
function spoil(directory: string, base: number, index: number, batchBytes: number): void {
  const path = join(directory, name(base, '.log'))
  const bytes = readFileSync(path)
  bytes[index * batchBytes + 70]! ^= 1
  writeFileSync(path, bytes)
}

test('a clean start reads the last batch, rebuilds nothing, knows all is on disk', async (t) => {
  const { directory, batchBytes } = await twenty(t)
  const before = native.recoveredBytes()
  const log = await open(t, directory, { clean: true, recoveryPoint: 20 })
  assert.ok(native.recoveredBytes() - before <= batchBytes)
  assert.deepEqual([log.report.rebuiltIndexes, log.recoveryPoint], [0, 20])
})

test('damage above the recovery point ends the log, and segments behind it go', async (t) => {
  const { directory, batchBytes } = await twenty(t)
  spoil(directory, 5, 3, batchBytes)
  const log = await open(t, directory, { recoveryPoint: 6 })
  assert.deepEqual([log.endOffset, log.recoveryPoint], [8, 6])
  assert.deepEqual(log.report.removedSegments, [10, 15])
  assert.deepEqual(filesOf(directory, '.log'), [name(0, '.log'), name(5, '.log')])
  assert.equal(append(log, 'next'), 8)
  await log.flush()
  assert.equal(values(log).length, 9)
})

test('damage below the recovery point is told with its place, and nothing is cut', async (t) => {
  const { directory, batchBytes } = await twenty(t)
  spoil(directory, 15, 1, batchBytes)
  const size = statSync(join(directory, name(15, '.log'))).size
  const log = await open(t, directory, { recoveryPoint: 18 })
  assert.equal(log.endOffset, 20)
  assert.equal(statSync(join(directory, name(15, '.log'))).size, size)
  assert.deepEqual(log.report.damages, [
    { segment: 15, position: batchBytes, offset: 16, reason: 'CORRUPT' },
  ])
  assert.throws(() => log.slice(16, 1), code('CORRUPT'))
  assert.equal(values(log, 17).length, 3)
  assert.equal(append(log, 'next'), 20)
})

test('segments below the recovery point are not looked at', async (t) => {
  const { directory, batchBytes } = await twenty(t)
  spoil(directory, 5, 3, batchBytes)
  const log = await open(t, directory, { recoveryPoint: 15 })
  assert.equal(log.endOffset, 20)
  assert.equal(log.report.damage, undefined)
})

test('files that were about to go, or were not finished, go', async (t) => {
  const { directory } = await twenty(t)
  for (const ending of ['.log.deleted', '.index.deleted', '.log.cleaned', '.index.cleaned']) {
    writeFileSync(join(directory, name(5, ending)), 'left')
  }
  writeFileSync(join(directory, name(7, '.log.swap')), 'void: not below the unfinished one')
  writeFileSync(join(directory, name(3, '.index')), 'orphan')
  writeFileSync(join(directory, name(3, '.timeindex')), 'orphan')
  const log = await open(t, directory)
  assert.equal(values(log).length, 20)
  for (const ending of ['.deleted', '.cleaned', '.swap']) {
    assert.deepEqual(filesOf(directory, ending), [])
  }
  assert.equal(filesOf(directory, '.index').length, 4)
})

test('a finished compaction takes the place of the segments in its range', async (t) => {
  const { directory, batchBytes } = await twenty(t)
  // Of ten records the first and the last are left.
  const [first, second] = [5, 10].map((base) => readFileSync(join(directory, name(base, '.log'))))
  const swapped = Buffer.concat([first!.subarray(0, batchBytes), second!.subarray(-batchBytes)])
  writeFileSync(join(directory, name(5, '.log.swap')), swapped)
  const log = await open(t, directory)
  assert.deepEqual(
    filesOf(directory, '.log'),
    [0, 5, 15].map((base) => name(base, '.log')),
  )
  assert.deepEqual(readFileSync(join(directory, name(5, '.log'))), swapped)
  assert.equal(log.slice(6, 1)?.bytes().length, batchBytes)
  assert.equal(log.endOffset, 20)
})

test('a swap that was cut short when the old segments were gone is done', async (t) => {
  const { directory } = await twenty(t)
  renameSync(join(directory, name(5, '.log')), join(directory, name(5, '.log.swap')))
  rmSync(join(directory, name(5, '.index')))
  copyFileSync(join(directory, name(10, '.log')), join(directory, 'notes.txt'))
  const log = await open(t, directory)
  assert.equal(values(log).length, 20)
})
