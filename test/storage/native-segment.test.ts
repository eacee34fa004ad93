/** Segments through the addon: what crosses the boundary, and how it fails. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { Worker } from 'node:worker_threads'
import { SeglogError } from '../../src/errors.js'
import {
  AppendFlag,
  native,
  Result,
  type SegmentOptions,
  type SegmentReport,
  Status,
} from '../../src/native.js'

const directory = mkdtempSync(join(tmpdir(), 'seglog-segment-'))
after(() => rmSync(directory, { recursive: true, force: true }))

let names = 0
const freshPath = () => join(directory, `${names++}`.padStart(20, '0'))

const OPTIONS: SegmentOptions = {
  readOnly: false,
  recover: false,
  segmentBytes: 64 << 20,
  indexIntervalBytes: 4096,
  mapped: false,
}

/** CRC-32C bit by bit: an oracle that shares nothing with the addon. */
function crc32c(bytes: Uint8Array): number {
  let sum = ~0
  for (const byte of bytes) {
    sum ^= byte
    for (let bit = 0; bit < 8; bit++) sum = (sum >>> 1) ^ (sum & 1 ? 0x82f63b78 : 0)
  }
  return ~sum >>> 0
}

/** A batch of one record with a null key and `valueBytes` bytes. */
function makeBatch({ valueBytes = 10, timestamp = 1000, baseOffset = 0 } = {}): Buffer {
  const varint = (value: number): number[] => {
    const bytes = []
    let rest = value < 0 ? -value * 2 - 1 : value * 2
    for (; rest >= 128; rest = Math.floor(rest / 128)) bytes.push((rest % 128) | 128)
    return [...bytes, rest]
  }
  const head = [0, 0, 0, ...varint(-1), ...varint(valueBytes)]
  const bodyBytes = head.length + valueBytes + 1
  const records = Buffer.concat([
    Buffer.from([...varint(bodyBytes), ...head]),
    Buffer.alloc(valueBytes, 'v'),
    Buffer.from([0]),
  ])
  const batch = Buffer.concat([Buffer.alloc(61), records])
  batch.writeBigInt64BE(BigInt(baseOffset), 0)
  batch.writeInt32BE(batch.length - 12, 8)
  batch.writeInt8(2, 16)
  batch.writeBigInt64BE(BigInt(timestamp), 27)
  batch.writeBigInt64BE(BigInt(timestamp), 35)
  batch.writeBigInt64BE(-1n, 43)
  batch.writeInt16BE(-1, 51)
  batch.writeInt32BE(-1, 53)
  batch.writeInt32BE(1, 57)
  batch.writeUInt32BE(crc32c(batch.subarray(21)), 17)
  return batch
}

const create = (path = freshPath(), options: Partial<SegmentOptions> = {}, baseOffset = 0) =>
  native.segmentCreate(path, baseOffset, { ...OPTIONS, ...options })

const append = (handle: number, batch = makeBatch()) =>
  native.segmentAppend(handle, batch, 0, batch.length, 7, AppendFlag.FROM_CLIENT)

const result = (slot: keyof typeof Result) => native.results[Result[slot]]

const rejectsWith = (promise: Promise<unknown>, code: string) =>
  assert.rejects(promise, (error) => error instanceof SeglogError && error.code === code)

test('an append stamps offset and epoch in place and fills the results', async () => {
  const path = freshPath()
  const handle = create(path, {}, 41)
  assert.equal(append(handle), Status.OK)
  const batch = Buffer.concat([Buffer.alloc(5), makeBatch({ timestamp: 2000 })])
  const length = batch.length - 5
  assert.equal(native.segmentAppend(handle, batch, 5, length, 9, AppendFlag.FROM_CLIENT), Status.OK)
  assert.equal(result('BASE_OFFSET'), 42)
  assert.equal(result('LAST_OFFSET'), 42)
  assert.equal(result('MAX_TIMESTAMP'), 2000)
  assert.equal(result('POSITION'), makeBatch().length)
  assert.equal(result('LENGTH'), length)
  assert.equal(result('BATCHES'), 1)
  assert.equal(batch.readBigInt64BE(5), 42n)
  assert.equal(batch.readInt32BE(5 + 12), 9)
  assert.deepEqual(readFileSync(`${path}.log`).subarray(length), batch.subarray(5))
  await native.segmentClose(handle, false)
})

test('a refused batch names the bad record and changes nothing', async () => {
  const path = freshPath()
  const handle = create(path)
  const batch = makeBatch()
  batch[62 + 2] = 0x02 // offset delta 1 of the first record
  batch.writeUInt32BE(crc32c(batch.subarray(21)), 17)
  const copy = Buffer.from(batch)
  assert.equal(append(handle, batch), Status.INVALID_RECORD)
  assert.equal(result('DETAIL'), 0)
  assert.deepEqual(batch, copy)
  assert.equal(statSync(`${path}.log`).size, 0)
  await native.segmentClose(handle, false)
})

test('locate, locateTimestamp, read and info agree on what was appended', async () => {
  const handle = create()
  for (const timestamp of [10, 30, 20]) append(handle, makeBatch({ timestamp }))
  const size = makeBatch().length
  assert.equal(native.segmentLocate(handle, 1, 2 ** 31, 3), Status.OK)
  assert.equal(result('BASE_OFFSET'), 1)
  assert.equal(result('POSITION'), size)
  assert.equal(result('LENGTH'), 2 * size)
  assert.equal(native.segmentLocateTimestamp(handle, 15), Status.OK)
  assert.equal(result('BASE_OFFSET'), 1)
  assert.equal(result('MAX_TIMESTAMP'), 30)
  assert.equal(result('LEADER_EPOCH'), 7)
  assert.equal(native.segmentLocateTimestamp(handle, 31), Status.NOT_FOUND)
  const target = new Uint8Array(3 * size)
  assert.equal(native.segmentRead(handle, 2 * size - 1, 3 * size - 4, target, 4), size + 1)
  assert.equal(native.segmentInfo(handle), Status.OK)
  assert.equal(result('LENGTH'), 3 * size)
  assert.equal(result('NEXT_OFFSET'), 3)
  assert.equal(result('MAX_TIMESTAMP'), 30)
  assert.equal(result('OFFSET_OF_MAX_TIMESTAMP'), 1)
  await native.segmentClose(handle, false)
})

test('arguments of a wrong type or out of range are refused and read nothing', async () => {
  const handle = create()
  const batch = makeBatch()
  const bad: [unknown, unknown, unknown, unknown, unknown][] = [
    ['text', 0, 1, 0, 1],
    [batch, -1, 1, 0, 1],
    [batch, 0, batch.length + 1, 0, 1],
    [batch, 1, batch.length, 0, 1],
    [batch, Number.NaN, 1, 0, 1],
    [batch, 0.5, 1, 0, 1],
    [batch, 0, batch.length, 2 ** 31, 1],
    [batch, 0, batch.length, 0, 4],
    [undefined, undefined, undefined, undefined, undefined],
  ]
  const call = native.segmentAppend as (...args: unknown[]) => number
  for (const args of bad) assert.equal(call(handle, ...args), Status.BAD_ARGUMENT)
  assert.equal(native.segmentLocate(handle, -1, 1, 1), Status.BAD_ARGUMENT)
  assert.equal(native.segmentLocate(handle, 0, 1, 2 ** 60), Status.BAD_ARGUMENT)
  assert.equal(native.segmentRead(handle, 0, 11, new Uint8Array(10), 0), Status.BAD_ARGUMENT)
  assert.equal(native.segmentRead(handle, 0, 5, new Uint8Array(10), 6), Status.BAD_ARGUMENT)
  assert.equal(create(freshPath(), { segmentBytes: 2 ** 31 }), Status.BAD_ARGUMENT)
  await rejectsWith(native.segmentOpen(freshPath(), -1, OPTIONS), 'BAD_ARGUMENT')
  await native.segmentClose(handle, false)
})

test('an append of 2^53 - 1 is the last one', async () => {
  const handle = create(freshPath(), {}, Number.MAX_SAFE_INTEGER)
  assert.equal(append(handle), Status.OK)
  assert.equal(result('LAST_OFFSET'), Number.MAX_SAFE_INTEGER)
  assert.equal(append(handle), Status.OFFSET_TOO_LARGE)
  await native.segmentClose(handle, false)
})

test('a closed handle stays closed when another segment is opened', async () => {
  const handle = create()
  const closing = native.segmentClose(handle, false)
  assert.equal(native.segmentInfo(handle), Status.CLOSED)
  await closing
  const second = create()
  assert.notEqual(second, handle)
  assert.equal(append(handle), Status.CLOSED)
  await rejectsWith(native.segmentFlush(handle), 'CLOSED')
  await rejectsWith(native.segmentClose(handle, false), 'CLOSED')
  assert.equal(native.segmentInfo(0), Status.BAD_ARGUMENT)
  assert.equal(native.segmentInfo(123456), Status.BAD_ARGUMENT)
  await native.segmentClose(second, false)
})

test('a close with jobs under way lets each of them settle', async () => {
  const handle = create()
  append(handle)
  const jobs = Array.from({ length: 20 }, () => native.segmentFlush(handle))
  jobs.push(native.segmentTruncate(handle, 0), native.segmentClose(handle, true))
  const settled = await Promise.allSettled(jobs)
  assert.ok(settled.every(({ status }) => status === 'fulfilled'))
})

test('an opened segment reports what was found, and goes on after it', async () => {
  const path = freshPath()
  const handle = create(path)
  append(handle, makeBatch({ timestamp: 5 }))
  append(handle, makeBatch({ timestamp: 3 }))
  await native.segmentClose(handle, true)
  const whole = readFileSync(`${path}.log`)
  writeFileSync(`${path}.log`, Buffer.concat([whole, whole.subarray(0, 30)]))
  const report: SegmentReport = await native.segmentOpen(path, 0, { ...OPTIONS, recover: true })
  const { handle: opened, ...found } = report
  assert.deepEqual(found, {
    validBytes: whole.length,
    fileBytes: whole.length + 30,
    nextOffset: 2,
    maxTimestamp: 5,
    damage: Status.SHORT,
    damagePosition: whole.length,
    damageOffset: 2,
    indexRebuilt: true,
  })
  assert.equal(statSync(`${path}.log`).size, whole.length)
  assert.equal(append(opened), Status.OK)
  assert.equal(result('BASE_OFFSET'), 2)
  await native.segmentClose(opened, false)
})

test('a segment that is not there is NOT_FOUND, and a name that is taken EXISTS', async () => {
  const path = freshPath()
  await rejectsWith(native.segmentOpen(path, 0, OPTIONS), 'NOT_FOUND')
  const handle = create(path)
  assert.equal(create(path), Status.EXISTS)
  await native.segmentClose(handle, false)
})

test('a sealed segment refuses appends at once and can still be read', async () => {
  const handle = create()
  append(handle)
  const sealing = native.segmentSeal(handle)
  assert.equal(append(handle), Status.READ_ONLY)
  await sealing
  assert.equal(native.segmentLocate(handle, 0, 1000, 1), Status.OK)
  assert.equal(result('LENGTH'), makeBatch().length)
  await native.segmentClose(handle, false)
})

test('workers that are terminated in mid-append leave logs that are prefixes', async () => {
  const source = `
    import { parentPort, workerData } from 'node:worker_threads'
    const { native } = await import(workerData.module)
    const handle = native.segmentCreate(workerData.path, 0, workerData.options)
    parentPort.postMessage(handle)
    for (;;) {
      const batch = Buffer.from(workerData.batch)
      native.segmentAppend(handle, batch, 0, batch.length, 0, 1)
      if (Math.random() < 0.001) native.segmentFlush(handle).catch(() => {})
    }`
  const module = new URL('../../src/native.js', import.meta.url).href
  const options = { ...OPTIONS, segmentBytes: 8 << 20, mapped: true }
  const batch = makeBatch({ valueBytes: 500 })
  const rounds = Array.from({ length: 4 }, async () => {
    const path = freshPath()
    const worker = new Worker(new URL(`data:text/javascript,${encodeURIComponent(source)}`), {
      workerData: { module, path, options, batch },
    })
    await new Promise((resolve, reject) => worker.once('message', resolve).once('error', reject))
    assert.equal(await worker.terminate(), 1)
    const report = await native.segmentOpen(path, 0, { ...OPTIONS, recover: true })
    assert.equal(report.validBytes, report.nextOffset * batch.length)
    assert.equal(report.damage, Status.OK)
    await native.segmentClose(report.handle, false)
  })
  await Promise.all(rounds)
})

test('a process that never closes exits by itself and its log holds every append', async () => {
  const path = freshPath()
  const module = fileURLToPath(new URL('../../src/native.js', import.meta.url))
  const options = { ...OPTIONS, mapped: true }
  const batch = makeBatch({ valueBytes: 1000 }).toString('base64')
  const script = `
    import(${JSON.stringify(module)}).then(({ native }) => {
      const handle = native.segmentCreate(${JSON.stringify(path)}, 0, ${JSON.stringify(options)})
      const batch = Buffer.from('${batch}', 'base64')
      for (let i = 0; i < 3000; i++) {
        const copy = Buffer.from(batch)
        if (native.segmentAppend(handle, copy, 0, copy.length, 0, 1) !== 0) process.exit(3)
      }
      native.segmentFlush(handle)
    })`
  const run = spawnSync(process.execPath, ['-e', script], { encoding: 'utf8', timeout: 20_000 })
  assert.equal(run.status, 0, run.stderr)
  const report = await native.segmentOpen(path, 0, { ...OPTIONS, recover: true })
  assert.equal(report.nextOffset, 3000)
  await native.segmentClose(report.handle, false)
  assert.ok(existsSync(`${path}.index`))
})

test('a batch of our own encoder gets the sum that it lacks', async () => {
  const handle = create()
  const whole = makeBatch()
  const unsummed = Uint8Array.from(whole)
  unsummed.fill(0, 17, 21)
  const flag = AppendFlag.FROM_ENCODER
  assert.equal(native.segmentAppend(handle, unsummed, 0, unsummed.length, -1, flag), Status.OK)
  const stored = new Uint8Array(whole.length)
  assert.equal(native.segmentRead(handle, 0, stored.length, stored, 0), stored.length)
  assert.ok(whole.subarray(17, 21).equals(stored.subarray(17, 21)))
  await native.segmentClose(handle, false)
})
