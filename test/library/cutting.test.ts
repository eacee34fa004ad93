import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { openLog, SeglogError } from '../../src/index.js'
import { temporaryDirectory } from '../support/tmp.js'

async function open(t: TestContext, directory: string) {
  const log = await openLog(directory, { segmentBytes: 300_000 })
  t.after(() => log.close().catch(() => {}))
  return log
}

const value = (i: number) => Buffer.alloc(100_000, i)

async function filled(t: TestContext) {
  const log = await open(t, temporaryDirectory(t))
  for (let i = 0; i < 20; i++) log.append([{ value: value(i) }])
  return log
}

const code = (expected: string) => (error: unknown) =>
  error instanceof SeglogError && error.code === expected

test('what is cut is gone, and its offsets are given anew, also to a reader', async (t) => {
  const log = await filled(t)
  const reading = log.read()
  for (let i = 0; i < 3; i++) assert.ok((await reading.next()).value?.value?.equals(value(i)))
  await log.truncate('7')
  assert.equal(log.endOffset, 7n)
  for (let i = 7; i < 12; i++) log.append([{ value: value(100 + i) }])
  const found: [bigint, number | undefined][] = []
  for await (const record of reading) found.push([record.offset, record.value?.[0]])
  const wanted = [3, 4, 5, 6, 107, 108, 109, 110, 111]
  assert.deepEqual(
    found,
    wanted.map((first, i) => [BigInt(i + 3), first]),
  )
})

test('a cut below a reader is OFFSET_OUT_OF_RANGE for it', async (t) => {
  const log = await filled(t)
  const reading = log.read({ from: 15 })
  await reading.next()
  await log.truncate(5n)
  await assert.rejects(async () => {
    for await (const { offset } of reading) assert.ok(offset < 20n)
  }, code('OFFSET_OUT_OF_RANGE'))
})

test('a deletion above a reader is OFFSET_OUT_OF_RANGE for it, and others read on', async (t) => {
  const log = await filled(t)
  const reading = log.read()
  await reading.next()
  await log.deleteBefore(12n)
  assert.deepEqual([log.startOffset, log.endOffset], [12n, 20n])
  await assert.rejects(async () => {
    for await (const { offset, value: bytes } of reading) {
      assert.ok(bytes?.equals(value(Number(offset))))
    }
  }, code('OFFSET_OUT_OF_RANGE'))
  const offsets: bigint[] = []
  for await (const { offset } of log.read()) offsets.push(offset)
  assert.deepEqual(offsets, [12n, 13n, 14n, 15n, 16n, 17n, 18n, 19n])
})

test('cuts and deletions take exact offsets alone', async (t) => {
  const log = await filled(t)
  for (const offset of [1.5, -1, Number.NaN, 'x', '']) {
    assert.throws(() => log.deleteBefore(offset), code('BAD_ARGUMENT'))
    await assert.rejects(log.truncate(offset), code('BAD_ARGUMENT'))
  }
  for (const offset of [9007199254740993n, '9007199254740993']) {
    assert.throws(() => log.deleteBefore(offset), code('OFFSET_TOO_LARGE'))
    await assert.rejects(log.truncate(offset), code('OFFSET_TOO_LARGE'))
  }
  assert.throws(() => log.deleteBefore(21), code('OFFSET_OUT_OF_RANGE'))
  assert.deepEqual([log.startOffset, log.endOffset], [0n, 20n])
})

test('a log is closed at the end of its scope', async (t) => {
  const log = await open(t, temporaryDirectory(t))
  const dispose = Symbol.asyncDispose ?? Symbol.for('Symbol.asyncDispose')
  await (log as unknown as Record<symbol, () => Promise<void>>)[dispose]!()
  assert.throws(() => log.append([{ value: 'a' }]), code('CLOSED'))
})

test('a cut of a log that is closed touches nothing', async (t) => {
  const directory = temporaryDirectory(t)
  const log = await openLog(directory)
  for (let i = 0; i < 20; i++) log.append([{ value: 'v' }])
  await log.close()
  const file = join(directory, 'recovery-point-offset-checkpoint')
  const before = readFileSync(file, 'utf8')
  await assert.rejects(log.truncate(5), { code: 'CLOSED' })
  assert.equal(readFileSync(file, 'utf8'), before)
  const again = await openLog(directory)
  assert.deepEqual([again.endOffset, again.report.damage], [20n, undefined])
  await again.close()
})
