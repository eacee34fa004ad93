import assert from 'node:assert/strict'
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { Status } from '../../src/native.js'
import { buildBatch } from '../../src/records/encoder.js'
import { seeded } from '../protocol/random.js'
import { changed, damaged } from '../support/batches.js'
import { temporaryDirectory } from '../support/tmp.js'
import { append, filesOf, NOW, open, small, values } from './log-fixture.js'

const code = (expected: string) => (error: unknown) =>
  error instanceof Error && 'code' in error && error.code === expected

test('a log in a new directory is empty and makes its first segment', async (t) => {
  const directory = join(temporaryDirectory(t), 'made', 'here-0')
  const log = await open(t, directory)
  assert.deepEqual([log.startOffset, log.recoveryPoint, log.endOffset], [0, 0, 0])
  assert.deepEqual(filesOf(directory, '.log'), ['00000000000000000000.log'])
  assert.equal(log.slice(0, 1024), undefined)
  assert.equal(log.maxTimestamp, -1)
})

for (const seed of [1, 2, 3]) {
  test(`a log holds what an array holds, through rolls and reopening, seed ${seed}`, async (t) => {
    const directory = temporaryDirectory(t)
    const random = seeded(seed)
    const model: string[] = []
    for (let round = 0; round < 4; round++) {
      const log = await open(t, directory)
      assert.equal(log.endOffset, model.length)
      for (let step = 0; step < 30; step++) {
        const count = 1 + random.below(5)
        const made = Array.from(
          { length: count },
          () => 'v'.repeat(random.below(300)) + random.below(1e6),
        )
        assert.equal(append(log, ...made), model.length)
        model.push(...made)
        if (random.chance(0.1)) log.roll()
      }
      assert.deepEqual(values(log), model)
      assert.ok(log.segmentCount > 3)
      await log.close()
    }
    const log = await open(t, directory)
    for (let from = 0; from <= model.length; from++) {
      assert.deepEqual(values(log, from, 1 + random.below(2000)), model.slice(from))
    }
  })
}

test('a slice is bounded by the limit offset, whole batches at a time', async (t) => {
  const log = await open(t, temporaryDirectory(t), { segmentBytes: 1 << 20 })
  for (let i = 0; i < 9; i += 3) append(log, `${i}`, `${i + 1}`, `${i + 2}`)
  const batchBytes = log.sizeBytes / 3
  for (const [limit, batches] of [
    [9, 3],
    [8, 2],
    [7, 2],
    [6, 2],
    [5, 1],
    [3, 1],
  ] as const) {
    assert.equal(log.slice(0, 1 << 20, limit)?.sizeBytes, batches * batchBytes, `limit ${limit}`)
  }
  for (const limit of [2, 1, 0]) assert.equal(log.slice(0, 1 << 20, limit), undefined)
  assert.equal(log.slice(3, 1 << 20, 3), undefined)
})

test('a slice holds its first batch whole whatever the limit of bytes', async (t) => {
  const log = await open(t, temporaryDirectory(t), { segmentBytes: 1 << 20 })
  append(log, 'x'.repeat(5000))
  append(log, 'y')
  for (const maxBytes of [0, 1, 60, 61, 4999]) {
    const bytes = log.slice(0, maxBytes)?.bytes()
    assert.equal(bytes?.length, new DataView(bytes!.buffer).getInt32(8) + 12)
  }
})

test('a slice ends inside a batch where the limit of bytes says so', async (t) => {
  const log = await open(t, temporaryDirectory(t), { segmentBytes: 1 << 20 })
  append(log, 'a')
  append(log, 'b')
  assert.equal(log.slice(0, log.sizeBytes - 1)?.sizeBytes, log.sizeBytes - 1)
})

test('an offset beyond either end is out of range', async (t) => {
  const log = await open(t, temporaryDirectory(t))
  append(log, 'a')
  assert.throws(() => log.slice(2, 1024), code('OFFSET_OUT_OF_RANGE'))
  assert.throws(() => log.slice(-1, 1024), code('OFFSET_OUT_OF_RANGE'))
})

test('rolling an empty segment changes nothing', async (t) => {
  const directory = temporaryDirectory(t)
  const log = await open(t, directory)
  log.roll()
  append(log, 'a')
  log.roll()
  log.roll()
  assert.equal(log.segmentCount, 2)
  assert.deepEqual(filesOf(directory, '.log'), [
    '00000000000000000000.log',
    '00000000000000000001.log',
  ])
})

test('a batch that is larger than a segment gets one of its own', async (t) => {
  const directory = temporaryDirectory(t)
  const log = await open(t, directory)
  append(log, 'a')
  append(log, 'x'.repeat(10_000))
  append(log, 'b')
  assert.deepEqual(values(log), ['a', 'x'.repeat(10_000), 'b'])
  assert.equal(log.segmentCount, 3)
})

test('a refused batch leaves the log as it was', async (t) => {
  const log = await open(t, temporaryDirectory(t))
  append(log, 'a')
  const batch = buildBatch([{ value: 'b' }, { value: 'c' }])
  const wrongCount = changed(batch, (view) => view.setInt32(57, 3))
  for (const [bytes, status] of [
    [damaged(batch), Status.CORRUPT],
    [wrongCount, Status.INVALID_RECORD],
    [batch.subarray(0, batch.length - 1), Status.CORRUPT],
    [Buffer.alloc(0), Status.CORRUPT],
  ] as const) {
    assert.equal(log.appendFromClient(bytes, 0, bytes.length, 0), status)
    assert.equal(log.endOffset, 1)
  }
  assert.equal(append(log, 'd'), 1)
  assert.deepEqual(values(log), ['a', 'd'])
})

test('batches of a leader may leave gaps, and may not go back', async (t) => {
  const directory = temporaryDirectory(t)
  const log = await open(t, directory)
  const from = (baseOffset: number) => buildBatch([{ value: 'f' }], { baseOffset, leaderEpoch: 3 })
  const follow = (bytes: Uint8Array) => log.appendFromLeader(bytes, 0, bytes.length)
  assert.equal(follow(from(5)), 5)
  assert.equal(follow(from(5)), Status.OFFSET_OUT_OF_RANGE)
  assert.equal(follow(from(9)), 9)
  assert.equal(log.endOffset, 10)
})

test('a gap of more than 2^31 begins a segment that is named by its first offset', async (t) => {
  const directory = temporaryDirectory(t)
  const log = await open(t, directory, { segmentBytes: 1 << 20 })
  const far = 2 ** 31 + 10
  for (const baseOffset of [0, far]) {
    const bytes = buildBatch([{ value: 'f' }], { baseOffset, leaderEpoch: 0 })
    assert.equal(log.appendFromLeader(bytes, 0, bytes.length), baseOffset)
  }
  assert.deepEqual(filesOf(directory, '.log'), [
    '00000000000000000000.log',
    '00000000002147483658.log',
  ])
  assert.equal(new DataView(log.slice(1, 100)!.bytes().buffer).getBigInt64(0), BigInt(far))
})

test('a gap up to 2^31 - 1 stays in its segment, and the next offset does not', async (t) => {
  const directory = temporaryDirectory(t)
  const log = await open(t, directory, { segmentBytes: 1 << 20, indexIntervalBytes: 0 })
  const bases = [10, 10 + 2 ** 31 - 1, 10 + 2 ** 31]
  await log.truncateFullyAndStartAt(10)
  for (const [i, baseOffset] of bases.entries()) {
    const bytes = buildBatch([{ value: 'f', timestamp: NOW + i }], { baseOffset, leaderEpoch: 0 })
    assert.equal(log.appendFromLeader(bytes, 0, bytes.length), baseOffset)
  }
  await log.close()
  const names = ['00000000000000000010.log', '00000000002147483658.log']
  assert.deepEqual(filesOf(directory, '.log'), names)
  const index = readFileSync(join(directory, '00000000000000000010.index'))
  assert.equal(index.readInt32BE(index.length - 8), 2 ** 31 - 1)
  const again = await open(t, directory, { clean: true })
  const baseOf = (bytes: Uint8Array | undefined) =>
    bytes && Number(new DataView(bytes.buffer).getBigInt64(0))
  for (const [i, base] of bases.entries()) {
    assert.equal(baseOf(again.slice(base, 1)?.bytes()), base)
    assert.equal(baseOf(again.slice(Math.max(10, base - 1), 1)?.bytes()), i === 2 ? bases[1] : base)
    assert.equal(baseOf(again.batchForTimestamp(NOW + i)?.bytes()), base)
  }
})

test('the last offset that can be counted is 2^53 - 1, and none follows it', async (t) => {
  const directory = temporaryDirectory(t)
  const log = await open(t, directory)
  const last = Number.MAX_SAFE_INTEGER - 1
  const bytes = buildBatch([{ value: 'last' }], { baseOffset: last - 1, leaderEpoch: 0 })
  assert.equal(log.appendFromLeader(bytes, 0, bytes.length), last - 1)
  const batch = buildBatch([{ value: 'a' }, { value: 'b' }, { value: 'c' }, { value: 'd' }])
  assert.equal(log.appendFromClient(batch, 0, batch.length, 0), Status.OFFSET_TOO_LARGE)
  assert.equal(log.endOffset, last)
})

test('flush moves the recovery point to the end that was', async (t) => {
  const log = await open(t, temporaryDirectory(t))
  append(log, 'a')
  assert.equal(log.recoveryPoint, 0)
  const flushes = [log.flush(), log.flush()]
  append(log, 'b')
  await Promise.all(flushes)
  assert.ok(log.recoveryPoint >= 1)
  await log.flush()
  assert.equal(log.recoveryPoint, 2)
})

test('the log is flushed by itself after so many records', async (t) => {
  const log = await open(t, temporaryDirectory(t), { flushMessages: 3 })
  append(log, 'a', 'b')
  append(log, 'c')
  await log.flush()
  assert.equal(log.recoveryPoint, 3)
})

test('close trims every segment to what it holds and syncs it', async (t) => {
  const directory = temporaryDirectory(t)
  const log = await open(t, directory)
  for (let i = 0; i < 20; i++) append(log, 'v'.repeat(200))
  const { sizeBytes } = log
  await log.close()
  const onDisk = filesOf(directory, '.log').map((name) => statSync(join(directory, name)).size)
  assert.equal(
    onDisk.reduce((sum, size) => sum + size),
    sizeBytes,
  )
  assert.equal(log.recoveryPoint, 20)
})

test('a closed log takes and gives nothing, and makes no file', async (t) => {
  const directory = temporaryDirectory(t)
  const log = await open(t, directory)
  append(log, 'a')
  await log.close()
  const files = readdirSync(directory)
  const batch = buildBatch([{ value: 'b' }])
  assert.equal(log.appendFromClient(batch, 0, batch.length, 0), Status.CLOSED)
  assert.throws(() => log.slice(0, 1024), code('CLOSED'))
  assert.throws(() => log.roll(), code('CLOSED'))
  assert.throws(() => log.batchForTimestamp(0), code('CLOSED'))
  assert.throws(() => log.maxTimestamp, code('CLOSED'))
  await assert.rejects(log.flush(), code('CLOSED'))
  assert.deepEqual(readdirSync(directory), files)
})

test('a second close waits for the first', async (t) => {
  const directory = temporaryDirectory(t)
  const log = await open(t, directory)
  append(log, 'a')
  let first = false
  const closing = log.close().then(() => {
    first = true
  })
  await log.close()
  assert.ok(first)
  await closing
})

test('flushes under way when the log is closed are done, not refused', async (t) => {
  const log = await open(t, temporaryDirectory(t))
  const flushes: Promise<void>[] = []
  for (let i = 0; i < 50; i++) {
    append(log, 'v'.repeat(100))
    flushes.push(log.flush())
  }
  await log.close()
  await Promise.all(flushes)
  assert.equal(log.recoveryPoint, 50)
})

test('the largest timestamp and the batch for a time are those of any segment', async (t) => {
  const log = await open(t, temporaryDirectory(t))
  for (const timestamp of [NOW + 30, NOW + 10, NOW + 50, NOW + 40]) {
    const batch = buildBatch([{ value: 'x', timestamp }])
    log.appendFromClient(batch, 0, batch.length, 0)
    log.roll()
  }
  assert.equal(log.maxTimestamp, NOW + 50)
  const baseOf = (ms: number) => {
    const bytes = log.batchForTimestamp(ms)?.bytes()
    return bytes && Number(new DataView(bytes.buffer).getBigInt64(0))
  }
  assert.deepEqual([NOW, NOW + 31, NOW + 50, NOW + 51].map(baseOf), [0, 2, 2, undefined])
})

test('descriptors and mappings stay bounded through 300 rolls, and go with the log', async (t) => {
  const count = () => ({
    descriptors: readdirSync('/proc/self/fd').length,
    maps: readFileSync('/proc/self/maps', 'utf8').split('\n').length,
  })
  const before = count()
  const log = await open(t, temporaryDirectory(t), { segmentBytes: 200 })
  for (let i = 0; i < 300; i++) append(log, 'v'.repeat(100))
  assert.equal(log.segmentCount, 300)
  await log.flush()
  const held = count()
  assert.ok(held.descriptors - before.descriptors < 300 * 3 + 20)
  assert.ok(held.maps - before.maps < 50, `${held.maps - before.maps} mappings`)
  await log.close()
  const after = count()
  assert.ok(after.descriptors <= before.descriptors + 2)
  assert.ok(after.maps <= before.maps + 20, `${after.maps - before.maps} mappings`)
})

test('a log whose files cannot be made rejects and leaves no descriptor', async (t) => {
  const directory = temporaryDirectory(t)
  const path = join(directory, 'file')
  writeFileSync(path, '')
  const before = readdirSync('/proc/self/fd').length
  await assert.rejects(open(t, join(path, 'log-0'), small))
  assert.equal(readdirSync('/proc/self/fd').length, before)
})
