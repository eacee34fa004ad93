/**
 * What opening makes of the files that a process left which did not close its log, or that
 * something else spoilt.
 */
import assert from 'node:assert/strict'
import {
  appendFileSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { native } from '../../src/native.js'
import { buildBatch } from '../../src/records/encoder.js'
import { BatchField } from '../../src/records/format.js'
import type { LogOptions } from '../../src/storage/log-options.js'
import { seeded } from '../protocol/random.js'
import { temporaryDirectory } from '../support/tmp.js'
import { append, crashCopy, filesOf, NOW, open, values } from './log-fixture.js'

const FIRST = '00000000000000000000'
const code = (expected: string) => (error: unknown) =>
  error instanceof Error && 'code' in error && error.code === expected

/** A log of ten batches in one segment, closed; `sizes` are the ends of the batches. */
async function tenBatches(t: TestContext, segmentBytes = 1 << 20) {
  const directory = join(temporaryDirectory(t), 't-0')
  const log = await open(t, directory, { segmentBytes })
  const ends: number[] = []
  for (let i = 0; i < 10; i++) {
    append(log, `value ${i}`)
    ends.push(log.sizeBytes)
  }
  await log.close()
  return { directory, ends, file: join(directory, `${FIRST}.log`) }
}

/**
 * A copy of `batch` in which the four bytes at `at` make the sum 0. A sum changes with each bit of
 * a message by a pattern of its own, so that they are the solution of linear equations.
 */
function withSumOfZero(batch: Uint8Array, at: number): Uint8Array {
  const copy = Uint8Array.from(batch)
  const from = BatchField.ATTRIBUTES
  const sum = () => native.crc32c(copy, from, copy.length - from, 0)
  const view = new DataView(copy.buffer)
  view.setUint32(at, 0)
  const base = sum()
  const rows = Array.from({ length: 32 }, (_, bit) => {
    view.setUint32(at, (1 << bit) >>> 0)
    return { sum: (sum() ^ base) >>> 0, bits: (1 << bit) >>> 0 }
  })
  let [left, bits] = [base, 0]
  for (let bit = 31; bit >= 0; bit--) {
    const mask = (1 << bit) >>> 0
    const pivot = rows.findIndex((row) => (row.sum & mask) !== 0)
    const [row] = rows.splice(pivot, 1)
    assert.ok(pivot >= 0 && row)
    for (const other of rows) {
      if ((other.sum & mask) === 0) continue
      other.sum = (other.sum ^ row.sum) >>> 0
      other.bits = (other.bits ^ row.bits) >>> 0
    }
    if ((left & mask) === 0) continue
    left = (left ^ row.sum) >>> 0
    bits = (bits ^ row.bits) >>> 0
  }
  view.setUint32(at, bits)
  view.setUint32(BatchField.CRC, 0)
  assert.equal(sum(), 0)
  return copy
}

const tenValues = Array.from({ length: 10 }, (_, i) => `value ${i}`)

test('the reserved tail that a killed process leaves is cut', async (t) => {
  const directory = join(temporaryDirectory(t), 't-0')
  const log = await open(t, directory, { segmentBytes: 1 << 20 })
  for (const value of tenValues) append(log, value)
  const copy = crashCopy(directory, join(temporaryDirectory(t), 't-0'))
  const valid = log.sizeBytes
  const reserved = statSync(join(copy, `${FIRST}.log`)).size
  const again = await open(t, copy)
  assert.equal(again.report.cutBytes, reserved - valid)
  assert.equal(again.report.damage, undefined)
  assert.deepEqual(values(again), tenValues)
  append(again, 'next')
  await again.close()
  assert.deepEqual(values(await open(t, copy)), [...tenValues, 'next'])
})

test('the last batch is cut at whatever byte it ends early, and stays cut', async (t) => {
  const { file, directory, ends } = await tenBatches(t)
  const whole = readFileSync(file)
  for (let size = ends[8]!; size < ends[9]!; size++) {
    writeFileSync(file, whole.subarray(0, size))
    const log = await open(t, directory)
    assert.equal(log.endOffset, 9, `cut at ${size}`)
    assert.equal(log.report.cutBytes, size - ends[8]!)
    assert.equal(append(log, 'again'), 9)
    await log.close()
    const reopened = await open(t, directory)
    assert.deepEqual(values(reopened), [...tenValues.slice(0, 9), 'again'])
    assert.equal(statSync(file).size, reopened.sizeBytes)
    await reopened.close()
  }
})

test('a last batch that ends in zeros is cut, wherever they begin', async (t) => {
  const { file, directory, ends } = await tenBatches(t)
  const whole = readFileSync(file)
  for (let size = ends[8]!; size < ends[9]! - 1; size++) {
    writeFileSync(file, Buffer.from(whole).fill(0, size))
    const log = await open(t, directory)
    assert.equal(log.endOffset, 9, `zeros from ${size}`)
    assert.equal(append(log, 'again'), 9)
    await log.close()
    const reopened = await open(t, directory)
    assert.deepEqual(values(reopened), [...tenValues.slice(0, 9), 'again'])
    assert.equal(statSync(file).size, reopened.sizeBytes)
    await reopened.close()
  }
})

test('garbage behind the last batch is cut and reported', async (t) => {
  const { file, directory, ends } = await tenBatches(t)
  appendFileSync(file, seeded(5).bytes(5000))
  const log = await open(t, directory)
  assert.equal(log.report.cutBytes, 5000)
  assert.match(
    log.report.damage ?? '',
    new RegExp(`${FIRST}.log at byte ${ends[9]}.*cut 5000 bytes`),
  )
  assert.deepEqual(values(log), tenValues)
})

test('a log that consists of zeros is empty', async (t) => {
  const { file, directory } = await tenBatches(t)
  writeFileSync(file, Buffer.alloc(100_000))
  const log = await open(t, directory)
  assert.equal(log.endOffset, 0)
  assert.equal(append(log, 'first'), 0)
})

test('a batch whose sum is 0 is no end of a log', async (t) => {
  const directory = join(temporaryDirectory(t), 't-0')
  const log = await open(t, directory)
  const records = [{ value: Buffer.alloc(8), timestamp: NOW }]
  const batch = withSumOfZero(buildBatch(records), BatchField.RECORDS + 6)
  assert.equal(log.appendFromClient(batch, 0, batch.length, 0), 0)
  append(log, 'behind it')
  const copy = crashCopy(directory, join(temporaryDirectory(t), 't-0'))
  await log.close()
  for (const [path, clean] of [
    [copy, false],
    [directory, true],
    [directory, false],
  ] as const) {
    const again = await open(t, path, { clean })
    assert.equal(again.endOffset, 2)
    assert.deepEqual(again.slice(0, 1)?.bytes().subarray(16), Buffer.from(batch.subarray(16)))
    assert.equal(values(again, 1)[0], 'behind it')
    await again.close()
  }
})

test('the empty segment of a process killed after a roll is appended to', async (t) => {
  const directory = join(temporaryDirectory(t), 't-0')
  const log = await open(t, directory)
  append(log, 'a')
  log.roll()
  const copy = crashCopy(directory, join(temporaryDirectory(t), 't-0'))
  const again = await open(t, copy)
  assert.equal(append(again, 'b'), 1)
  assert.deepEqual(values(again), ['a', 'b'])
  assert.equal(again.segmentCount, 2)
})

test('a reserved tail on an older segment is trimmed', async (t) => {
  const { file, directory } = await tenBatches(t)
  const log = await open(t, directory)
  log.roll()
  append(log, 'newest')
  await log.close()
  const { size } = statSync(file)
  truncateSync(file, size + 100_000)
  const again = await open(t, directory)
  assert.equal(statSync(file).size, size)
  assert.equal(again.report.damage, undefined)
  assert.deepEqual(values(again), [...tenValues, 'newest'])
})

test('damage in an older segment stays on disk and hits those who read it only', async (t) => {
  const { file, directory, ends } = await tenBatches(t)
  const log = await open(t, directory)
  log.roll()
  append(log, 'newest')
  await log.close()
  const spoilt = readFileSync(file)
  spoilt.writeInt32BE(-5, ends[4]! + 8)
  writeFileSync(file, spoilt)
  rmSync(file.replace(/log$/, 'index'))
  const again = await open(t, directory)
  assert.match(again.report.damage ?? '', new RegExp(`byte ${ends[4]}.*left as it is`))
  assert.deepEqual(readFileSync(file), spoilt)
  assert.equal(again.slice(0, 1 << 20)?.sizeBytes, ends[4])
  for (const offset of [5, 7, 9]) assert.throws(() => again.slice(offset, 1024), code('CORRUPT'))
  assert.ok(again.slice(10, 1024))
  assert.equal(append(again, 'more'), 11)
})

test('a turned bit in an older segment is neither cut nor repaired', async (t) => {
  const { file, directory, ends } = await tenBatches(t)
  const log = await open(t, directory)
  log.roll()
  await log.close()
  const spoilt = readFileSync(file)
  spoilt[ends[4]! + 65] = spoilt[ends[4]! + 65]! ^ 4
  writeFileSync(file, spoilt)
  const again = await open(t, directory)
  assert.equal(again.endOffset, 10)
  assert.deepEqual(readFileSync(file), spoilt)
  assert.throws(() => again.slice(5, 1), code('CORRUPT'))
  assert.ok(spoilt.subarray(ends[3], ends[4]).equals(again.slice(4, 1)!.bytes()))
  assert.ok(spoilt.subarray(ends[5], ends[6]).equals(again.slice(6, 1)!.bytes()))
})

test('files that are no segments are left alone', async (t) => {
  const { directory } = await tenBatches(t)
  const foreign = ['notes.txt', '0.log']
  for (const name of foreign) writeFileSync(join(directory, name), 'foreign')
  mkdirSync(join(directory, 'folder.log'))
  const log = await open(t, directory)
  assert.deepEqual(values(log), tenValues)
  await log.close()
  for (const name of foreign) assert.equal(readFileSync(join(directory, name), 'utf8'), 'foreign')
})

test('a segment that begins above 2^53 - 1 is refused, not overlooked', async (t) => {
  const { directory } = await tenBatches(t)
  writeFileSync(join(directory, '00009007199254740993.log'), '')
  await assert.rejects(open(t, directory), code('OFFSET_TOO_LARGE'))
})

test('an open that fails leaves no descriptor', async (t) => {
  const { directory } = await tenBatches(t)
  mkdirSync(join(directory, '00000000000000000050.log'))
  const before = readdirSync('/proc/self/fd').length
  await assert.rejects(open(t, directory))
  assert.equal(readdirSync('/proc/self/fd').length, before)
})

test('a log is known to be on disk only after a clean stop', async (t) => {
  const { directory } = await tenBatches(t)
  const clean = await open(t, directory, { clean: true })
  assert.equal(clean.recoveryPoint, 10)
  await clean.close()
  const killed = await open(t, directory)
  assert.equal(killed.recoveryPoint, 0)
  await killed.flush()
  assert.equal(killed.recoveryPoint, 10)
})

test('the epoch and offset stamped on a batch survive recovery', async (t) => {
  const directory = join(temporaryDirectory(t), 't-0')
  const log = await open(t, directory)
  append(log, 'a')
  const batch = buildBatch([{ value: 'b' }])
  log.appendFromClient(batch, 0, batch.length, 7)
  await log.close()
  const bytes = (await open(t, directory)).slice(1, 1)?.bytes()
  assert.ok(bytes)
  const view = new DataView(bytes.buffer)
  assert.deepEqual([view.getBigInt64(0), view.getInt32(12)], [1n, 7])
})

test('a segment that is gone from the middle is told, with its offsets', async (t) => {
  const directory = temporaryDirectory(t)
  const log = await open(t, directory)
  while (log.segmentCount < 4) append(log, 'x'.repeat(100))
  await log.close()
  const names = readdirSync(directory).filter((name) => name.endsWith('.log'))
  const [, gone, next] = names.sort()
  rmSync(join(directory, gone!))
  const again = await open(t, directory)
  const range = `offsets ${Number.parseInt(gone!, 10)} to ${Number.parseInt(next!, 10) - 1}`
  assert.match(again.report.damage ?? '', new RegExp(`^${range} are missing before ${next}`))
})

test('a segment that is gone from below the start of the log is not missed', async (t) => {
  const directory = temporaryDirectory(t)
  const log = await open(t, directory)
  while (log.segmentCount < 4) append(log, 'x'.repeat(100))
  await log.close()
  const [, gone = '', next = ''] = filesOf(directory, '.log')
  rmSync(join(directory, gone))
  const start = Number.parseInt(next, 10)
  for (const [logStartOffset, text] of [
    [start, undefined],
    [start + 1, undefined],
    [start - 1, `offsets ${start - 1} to ${start - 1} are missing before ${next}`],
  ] as const) {
    const copy = crashCopy(directory, join(temporaryDirectory(t), 'copy'))
    const again = await open(t, copy, { clean: false, logStartOffset })
    const told = again.report.damage
    assert.ok(text === undefined ? told === undefined : told?.startsWith(text), told)
    await again.close()
  }
})

test('an older segment whose end became zeros is not cut, and the hole is CORRUPT', async (t) => {
  const directory = temporaryDirectory(t)
  const log = await open(t, directory)
  while (log.segmentCount < 3) append(log, 'x'.repeat(100))
  await log.close()
  const path = join(directory, `${FIRST}.log`)
  const bytes = readFileSync(path)
  writeFileSync(path, bytes.fill(0, bytes.length - 300))
  const again = await open(t, directory)
  assert.deepEqual(readFileSync(path), bytes)
  assert.match(again.report.damage ?? '', /are missing before/)
  assert.throws(() => values(again), code('CORRUPT'))
})

test('a segment that lost its end above the recovery point ends the log there', async (t) => {
  const directory = temporaryDirectory(t)
  const log = await open(t, directory, { segmentBytes: 600 })
  for (let i = 0; i < 8; i++) append(log, `record ${i} ${'.'.repeat(60)}`)
  await log.close()
  const [first = '', second = ''] = filesOf(directory, '.log')
  const nextBase = Number(second.slice(0, 20))
  assert.ok(nextBase > 2)
  // The first batch alone is left of it.
  const bytes = readFileSync(join(directory, first))
  truncateSync(join(directory, first), 12 + bytes.readInt32BE(8))
  const cases: [Partial<LogOptions>, number, number][] = [
    [{ recoveryPoint: 0 }, 0, 1],
    // Deleted up to the middle of what was lost: nothing is left, and the offsets go on.
    [{ recoveryPoint: 2, logStartOffset: 2 }, 2, 2],
    // Compaction leaves such gaps, and so does damage to what was on disk.
    [{ recoveryPoint: 0, isCompacted: true }, 0, 8],
    [{ recoveryPoint: 8 }, 0, 8],
  ]
  for (const [options, start, end] of cases) {
    const copy = crashCopy(directory, join(temporaryDirectory(t), 'copy'))
    const opened = await open(t, copy, { segmentBytes: 600, clean: false, ...options })
    assert.deepEqual([opened.startOffset, opened.endOffset], [start, end], JSON.stringify(options))
    await opened.close()
  }
})

test('a lost end that a clean start overlooks is told when a read comes there', async (t) => {
  const directory = temporaryDirectory(t)
  const log = await open(t, directory, { segmentBytes: 600 })
  for (let i = 0; i < 12; i++) append(log, `record ${i} ${'.'.repeat(60)}`)
  await log.close()
  const [first = '', second = ''] = filesOf(directory, '.log')
  const next = Number(second.slice(0, 20))
  const bytes = readFileSync(join(directory, first))
  truncateSync(join(directory, first), 12 + bytes.readInt32BE(8))
  const text = `offsets 1 to ${next - 1} are missing before ${second}, unless it was compacted`
  for (const isCompacted of [false, true]) {
    const told: string[] = []
    const onDamage = (line: string) => void told.push(line)
    const again = await open(t, directory, { clean: true, isCompacted, onDamage })
    assert.equal(again.report.damage, undefined)
    for (let round = 0; round < 2; round++) {
      const found = again.slice(1, 1)?.bytes()
      assert.equal(found && Number(new DataView(found.buffer).getBigInt64(0)), next)
    }
    assert.deepEqual(told, isCompacted ? [] : [text])
    assert.equal(again.report.damage, isCompacted ? undefined : text)
    await again.close()
  }
})
