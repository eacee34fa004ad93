/**
 * What does an append cost, against a plain write of the same bytes? Everything stays in the page
 * cache: nothing is synced. One run fills one segment and replaces the one before it, so that the
 * cost of a roll is in the figure, and disk and memory in use stay bounded. One operation is the
 * append of one batch with one record.
 */
import { closeSync, openSync, unlinkSync, writeSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { openLog } from '../src/index.js'
import { AppendFlag, checked, native, Status } from '../src/native.js'
import { batchOf } from './batch.js'
import { fileSystemOf } from './machine.js'
import type { Contestant, Suite, Workload } from './suite.js'

const SEGMENT_BYTES = 32 << 20
/** Kafka's default of log.index.interval.bytes. */
const INDEX_INTERVAL_BYTES = 4096

const appendsOf = (bytes: number) => Math.floor(SEGMENT_BYTES / bytes)

const segmentOptions = {
  readOnly: false,
  recover: false,
  segmentBytes: SEGMENT_BYTES,
  indexIntervalBytes: INDEX_INTERVAL_BYTES,
  mapped: true,
}

function pathOf(directory: string, baseOffset: number): string {
  return join(directory, String(baseOffset).padStart(20, '0'))
}

/** Closes in the pool, as a log does at a roll, then removes the files. */
async function closeSegment(handle: number, path: string): Promise<void> {
  await native.segmentClose(handle, false)
  for (const ending of ['.log', '.index', '.timeindex']) unlinkSync(path + ending)
}

function prepareSegment(size: number, directory: string): Workload {
  const batch = batchOf(size, Date.now())
  const view = new DataView(batch.buffer, batch.byteOffset, batch.length)
  const operations = appendsOf(batch.length)
  let baseOffset = 0
  let closing: Promise<void> = Promise.resolve()
  return {
    operations,
    bytes: batch.length,
    deferred: true,
    async run() {
      const path = pathOf(directory, baseOffset)
      const handle = checked(native.segmentCreate(path, baseOffset, segmentOptions), path)
      for (let i = 0; i < operations; i++) {
        // The append stamped the offset into the batch; a client's batch starts at 0.
        view.setUint32(0, 0)
        view.setUint32(4, 0)
        const status = native.segmentAppend(
          handle,
          batch,
          0,
          batch.length,
          0,
          AppendFlag.FROM_CLIENT,
        )
        if (status < Status.OK) checked(status, path)
      }
      baseOffset += operations
      // The segment before is closed beside this one; waiting for it bounds what is open.
      await closing
      closing = closeSegment(handle, path)
    },
    close: () => closing,
  }
}

async function prepareLibrary(size: number, directory: string): Promise<Workload> {
  const bytes = batchOf(size, 0).length
  const operations = appendsOf(bytes)
  const records = [{ value: Buffer.alloc(size, 'seglog '), timestamp: Date.now() }]
  let closing = Promise.resolve()
  let runs = 0
  return {
    operations,
    bytes,
    deferred: true,
    async run() {
      const path = join(directory, `bench-${runs++}`)
      const log = await openLog(path, { segmentBytes: SEGMENT_BYTES })
      for (let i = 0; i < operations; i++) log.append(records)
      // The log before is closed beside this one; waiting for it bounds what is open.
      await closing
      closing = log.close().then(() => rm(path, { recursive: true }))
    },
    close: () => closing,
  }
}

function prepareWrite(size: number, directory: string): Workload {
  const batch = batchOf(size, Date.now())
  const operations = appendsOf(batch.length)
  const path = join(directory, 'plain')
  return {
    operations,
    bytes: batch.length,
    deferred: true,
    async run() {
      const file = openSync(path, 'w')
      for (let i = 0; i < operations; i++) writeSync(file, batch)
      closeSync(file)
    },
  }
}

const contestants: Contestant[] = [
  {
    name: 'native segment append',
    note:
      'a finished batch to native.segmentAppend: CRC-32C and structure checked, offset and epoch ' +
      'stamped, indexes kept; create, close and removal of each 32 MiB segment included',
    prepare: prepareSegment,
  },
  {
    name: 'openLog append',
    note:
      'log.append([record]) of the library: the batch is built from the record, summed and ' +
      'appended; open, close with its sync, and removal of each 32 MiB log included',
    prepare: prepareLibrary,
  },
  {
    name: 'fs.writeSync',
    note:
      'the same bytes by fs.writeSync to one file, opened with "w" anew after each 32 MiB; ' +
      'no check, no index',
    prepare: prepareWrite,
  },
]

export const log: Suite = {
  name: 'log',
  question: 'what does an append cost, against a plain write of the same bytes?',
  sizes: [100, 1 << 10, 16 << 10, 256 << 10],
  contestants,
  comparisons: [
    { candidate: 'native segment append', baseline: 'fs.writeSync' },
    { candidate: 'openLog append', baseline: 'fs.writeSync' },
  ],
  context(directory) {
    const { type, device, options } = fileSystemOf(directory)
    const lines = [
      `${type} on ${device} (${options})`,
      "size is that of the record's value; MB/s counts the bytes of the whole batch",
      'durability: page cache only, no sync; survives a crash of the process, not of the machine',
    ]
    if (type === 'tmpfs') lines.push('NOTE: tmpfs is memory, not a disk: choose another --dir')
    return lines
  },
}
