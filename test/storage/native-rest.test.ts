/** Sealed segments through the addon: many of them, few descriptors, and how they go. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readlinkSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { Worker } from 'node:worker_threads'
import { SeglogError } from '../../src/errors.js'
import { AppendFlag, native, Result, type SegmentOptions, Status } from '../../src/native.js'
import { buildBatch } from '../../src/records/encoder.js'

const root = mkdtempSync(join(tmpdir(), 'seglog-rest-'))
after(() => rmSync(root, { recursive: true, force: true }))

const OPTIONS: SegmentOptions = {
  readOnly: false,
  recover: false,
  segmentBytes: 64 << 20,
  indexIntervalBytes: 4096,
  mapped: false,
}
const RECORDS = 10

let folders = 0
function freshFolder(): string {
  const folder = join(root, `t-${folders++}`)
  mkdirSync(folder)
  return folder
}

const pathOf = (folder: string, base: number) => join(folder, `${base}`.padStart(20, '0'))

/** A batch of ten records at `base`. */
function batchAt(base: number): Buffer {
  const records = Array.from({ length: RECORDS }, (_, i) => ({
    value: Buffer.from(`value ${i}`),
    timestamp: 1000 + base,
  }))
  const batch = Buffer.from(buildBatch(records))
  batch.writeBigInt64BE(BigInt(base), 0)
  return batch
}

/** `count` sealed segments of ten records each, as an earlier process left them. */
function writeSegments(folder: string, count: number): number[] {
  const bases = Array.from({ length: count }, (_, i) => i * RECORDS)
  for (const base of bases) writeFileSync(`${pathOf(folder, base)}.log`, batchAt(base))
  return bases
}

const openAll = (folder: string, bases: number[]) =>
  native.segmentsOpen(folder, bases, {
    ...OPTIONS,
    trustedNextOffset: bases.length * RECORDS,
  })

const result = (slot: keyof typeof Result) => native.results[Result[slot]]

const rejectsWith = (promise: Promise<unknown>, code: string) =>
  assert.rejects(promise, (error) => error instanceof SeglogError && error.code === code)

const openIn = (folder: string) =>
  readdirSync('/proc/self/fd').filter((fd) => {
    try {
      return readlinkSync(join('/proc/self/fd', fd)).startsWith(folder)
    } catch {
      return false
    }
  })

test('a folder of segments opens in one call, without a descriptor, and is read', async () => {
  const folder = freshFolder()
  const bases = writeSegments(folder, 1000)
  const reports = await openAll(folder, bases)
  assert.equal(reports.length, 1000)
  assert.deepEqual(openIn(folder), [])
  const size = batchAt(0).length
  const { handle, ...found } = reports[7]!
  assert.deepEqual(found, {
    validBytes: size,
    fileBytes: size,
    nextOffset: 80,
    maxTimestamp: -2,
    damage: Status.OK,
    damagePosition: -1,
    damageOffset: -1,
    indexRebuilt: false,
  })
  for (const index of [0, 500, 999]) {
    assert.equal(native.segmentLocate(reports[index]!.handle, index * 10 + 3, 1, 1e9), Status.OK)
    assert.equal(result('BASE_OFFSET'), index * 10)
  }
  assert.equal(native.segmentInfo(handle), Status.OK)
  assert.equal(result('MAX_TIMESTAMP'), 1070)
  await Promise.all(reports.map((report) => native.segmentClose(report.handle, true)))
  assert.deepEqual(openIn(folder), [])
})

test('a folder whose list of segments is wrong opens none of them', async () => {
  const folder = freshFolder()
  const bases = writeSegments(folder, 3)
  await rejectsWith(openAll(folder, [...bases, 30]), 'NOT_FOUND')
  await rejectsWith(openAll(folder, [10, 0]), 'BAD_ARGUMENT')
  await rejectsWith(native.segmentsOpen(folder, bases, OPTIONS), 'BAD_ARGUMENT')
  assert.deepEqual(openIn(folder), [])
})

test('2,000 segments are read at random by a process with 256 descriptors', () => {
  const folder = freshFolder()
  const bases = writeSegments(folder, 2000)
  const module = new URL('../../src/native.js', import.meta.url).href
  const script = `
    import(${JSON.stringify(module)}).then(async ({ native }) => {
      const bases = ${JSON.stringify(bases)}
      const options = { ...${JSON.stringify(OPTIONS)}, trustedNextOffset: 20000 }
      const reports = await native.segmentsOpen(${JSON.stringify(folder)}, bases, options)
      let next = 1
      let most = 0
      for (let i = 0; i < 6000; i++) {
        next = (next * 16807) % 2147483647
        const offset = next % 20000
        const status = native.segmentLocate(reports[Math.floor(offset / 10)].handle, offset, 1, 1e9)
        if (status !== 0 || native.results[0] !== offset - (offset % 10)) process.exit(3)
        most = Math.max(most, native.openFiles())
      }
      console.log(most)
    })`
  const run = spawnSync(
    '/bin/sh',
    ['-c', 'ulimit -n 256; exec "$0" -e "$1"', process.execPath, script],
    {
      encoding: 'utf8',
      timeout: 30_000,
    },
  )
  assert.equal(run.status, 0, run.stderr)
  assert.equal(Number(run.stdout), 64)
})

test('rolls leave nothing open but the active segment and what is bounded', async () => {
  const folder = freshFolder()
  assert.equal(native.setOpenFilesMax(4), Status.OK)
  let handle = native.segmentCreate(pathOf(folder, 0), 0, OPTIONS)
  const handles = [handle]
  for (let base = 0; base < 2000; base += RECORDS) {
    const batch = batchAt(0)
    assert.equal(
      native.segmentAppend(handle, batch, 0, batch.length, 0, AppendFlag.FROM_CLIENT),
      Status.OK,
    )
    assert.equal(native.segmentPrepare(handle), Status.OK)
    const next = native.segmentCreate(pathOf(folder, base + RECORDS), base + RECORDS, OPTIONS)
    assert.ok(next > 0)
    await native.segmentSeal(handle)
    handle = next
    handles.push(handle)
    assert.ok(openIn(folder).length <= 7)
  }
  assert.equal(native.segmentLocate(handles[50]!, 505, 1, 1e9), Status.OK)
  assert.equal(result('BASE_OFFSET'), 500)
  await Promise.all(handles.map((each) => native.segmentClose(each, false)))
  native.setOpenFilesMax(1000)
  assert.deepEqual(openIn(folder), [])
  assert.deepEqual(
    readdirSync(folder).filter((name) => name.includes('spare')),
    [],
  )
})

test('a deleted segment is gone at once, and a renamed one reads on', async () => {
  const folder = freshFolder()
  const [report] = await openAll(folder, writeSegments(folder, 1))
  const { handle } = report!
  await native.segmentRename(handle, '.deleted')
  assert.ok(existsSync(`${pathOf(folder, 0)}.log.deleted`))
  await native.segmentLoad(handle)
  assert.equal(native.segmentLocate(handle, 3, 1, 10), Status.OK)
  await rejectsWith(native.segmentRename(handle, '/../x'), 'BAD_ARGUMENT')
  const removing = native.segmentDelete(handle)
  assert.equal(native.segmentLocate(handle, 3, 1, 10), Status.CLOSED)
  await removing
  assert.deepEqual(readdirSync(folder), [])
})

test('a sealed segment that is truncated takes appends again', async () => {
  const folder = freshFolder()
  const [report] = await openAll(folder, writeSegments(folder, 1))
  const { handle } = report!
  const batch = batchAt(0)
  const append = () =>
    native.segmentAppend(handle, batch, 0, batch.length, 0, AppendFlag.FROM_CLIENT)
  assert.equal(append(), Status.READ_ONLY)
  await native.segmentTruncate(handle, 10)
  assert.equal(append(), Status.OK)
  assert.equal(result('BASE_OFFSET'), 10)
  await native.segmentClose(handle, false)
})

test('a recovery keeps damage below its point, names it, and counts what it reads', async () => {
  const folder = freshFolder()
  const batches = Array.from({ length: 10 }, (_, i) => batchAt(i * 10))
  const size = batches[0]!.length
  batches[5]![70]! ^= 1
  const bytes = Buffer.concat(batches)
  writeFileSync(`${pathOf(folder, 0)}.log`, bytes)
  const before = native.recoveredBytes()
  const options = { ...OPTIONS, recover: true, recoverFrom: 80 }
  const report = await native.segmentOpen(pathOf(folder, 0), 0, options)
  assert.equal(native.recoveredBytes() - before, bytes.length)
  assert.equal(report.damage, Status.CORRUPT)
  assert.equal(report.damagePosition, 5 * size)
  assert.equal(report.damageOffset, 50)
  assert.equal(report.nextOffset, 100)
  assert.equal(report.validBytes, bytes.length)
  assert.equal(native.segmentLocate(report.handle, 55, 1, 1e9), Status.CORRUPT)
  assert.equal(native.segmentLocate(report.handle, 65, 1, 1e9), Status.OK)
  assert.equal(result('POSITION'), 6 * size)
  await native.segmentClose(report.handle, false)
})

test('workers that are terminated during flushes leave no descriptor behind', async () => {
  const folder = freshFolder()
  const source = `
    import { parentPort, workerData } from 'node:worker_threads'
    const { native } = await import(workerData.module)
    const handle = native.segmentCreate(workerData.path, 0, workerData.options)
    parentPort.postMessage(handle)
    for (;;) {
      const batch = Buffer.from(workerData.batch)
      native.segmentAppend(handle, batch, 0, batch.length, 0, 1)
      for (let i = 0; i < 20; i++) native.segmentFlush(handle).catch(() => {})
      await new Promise(setImmediate)
    }`
  const module = new URL('../../src/native.js', import.meta.url).href
  const url = new URL(`data:text/javascript,${encodeURIComponent(source)}`)
  const rounds = Array.from({ length: 12 }, async (_, i) => {
    const workerData = { module, path: pathOf(folder, i), options: OPTIONS, batch: batchAt(0) }
    const worker = new Worker(url, { workerData })
    await new Promise((resolve, reject) => worker.once('message', resolve).once('error', reject))
    await worker.terminate()
  })
  await Promise.all(rounds)
  assert.deepEqual(openIn(folder), [])
})
