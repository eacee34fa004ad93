/**
 * How long does an append hold up the JavaScript thread while a writer keeps a steady rate?
 * `node latency.js [--dir DIR] [--seconds S] [--rate MB/S] [--flush MS] [--size BYTES]`
 *
 * Open loop: each append has a time at which it is due, whatever became of the ones before, so that
 * a stall is in the figures of all appends that it made late. Flushes go on meanwhile, one begun
 * `--flush` ms after the end of the one before, and segments of 64 MiB are rolled, sealed and
 * removed. Two figures for each append: how long the call took, and how late it was done. Prints
 * JSON, times in us. The first second warms up and is not counted.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { AppendFlag, checked, native, type SegmentOptions, Status } from '../src/native.js'
import { batchOf } from './batch.js'

const OPTIONS: SegmentOptions = {
  readOnly: false,
  recover: false,
  segmentBytes: 64 << 20,
  indexIntervalBytes: 4096,
  mapped: true,
}
const WARM_UP_MS = 1000
/** Appends between two turns of the event loop: a request's worth, not a loop of its own. */
const TURN_MS = 2

const { values } = parseArgs({
  options: {
    dir: { type: 'string', default: tmpdir() },
    seconds: { type: 'string', default: '5' },
    rate: { type: 'string', default: '200' },
    flush: { type: 'string', default: '0' },
    size: { type: 'string', default: '1024' },
  },
})
const directory = mkdtempSync(join(values.dir, 'seglog-latency-'))
process.once('exit', () => rmSync(directory, { recursive: true, force: true }))
const seconds = Number(values.seconds)
const batch = batchOf(Number(values.size) - 73, Date.now())
const view = new DataView(batch.buffer, batch.byteOffset, batch.length)
const intervalMs = batch.length / (Number(values.rate) * 1000)
const count = Math.floor((seconds * 1000) / intervalMs)
const calls = new Float64Array(count)
const delays = new Float64Array(count)
const rolls: number[] = []
const flushes: number[] = []

const pathOf = (base: number) => join(directory, String(base).padStart(20, '0'))
let nextOffset = 0
let handle = checked(native.segmentCreate(pathOf(0), 0, OPTIONS), 'the first segment')
let ending = false

function roll(): void {
  const start = performance.now()
  const sealed = handle
  handle = checked(native.segmentCreate(pathOf(nextOffset), nextOffset, OPTIONS), 'a segment')
  rolls.push(performance.now() - start)
  native
    .segmentSeal(sealed)
    .then(() => native.segmentDelete(sealed))
    .catch(fail)
}

function append(): void {
  // The append stamped the offset into the batch; a client's batch starts at 0.
  view.setUint32(0, 0)
  view.setUint32(4, 0)
  let status = native.segmentAppend(handle, batch, 0, batch.length, 0, AppendFlag.FROM_CLIENT)
  if (status === Status.SEGMENT_FULL) {
    roll()
    status = native.segmentAppend(handle, batch, 0, batch.length, 0, AppendFlag.FROM_CLIENT)
  }
  checked(status, 'an append')
  nextOffset++
}

async function flushOnAndOn(): Promise<void> {
  while (!ending) {
    const start = performance.now()
    await native.segmentFlush(handle)
    flushes.push(performance.now() - start)
    await new Promise((resolve) => setTimeout(resolve, Number(values.flush)).unref())
  }
}

function fail(error: unknown): void {
  console.error(error)
  process.exit(1)
}

/** Appends what is due, for at most one turn; returns the number done so far. */
function turn(startMs: number, done: number, total: number, record: boolean): number {
  const until = performance.now() + TURN_MS
  let before = performance.now()
  while (done < total && before < until) {
    const due = startMs + done * intervalMs
    while (before < due) before = performance.now()
    append()
    const after = performance.now()
    if (record) {
      calls[done] = after - before
      delays[done] = after - due
    }
    before = after
    done++
  }
  return done
}

async function run(total: number, record: boolean): Promise<void> {
  const start = performance.now()
  for (let done = 0; done < total; ) {
    done = turn(start, done, total, record)
    await new Promise((resolve) => setImmediate(resolve))
  }
}

/** In us, to two places. */
function percentiles(samplesMs: Float64Array): Record<string, number> {
  const sorted = samplesMs.sort()
  const at = (share: number) => {
    const index = Math.min(sorted.length - 1, Math.floor(sorted.length * share))
    return Math.round((sorted[index] ?? 0) * 1e5) / 100
  }
  return { p50: at(0.5), p99: at(0.99), p999: at(0.999), p9999: at(0.9999), max: at(1) }
}

flushOnAndOn().catch(fail)
await run(Math.floor(WARM_UP_MS / intervalMs), false)
rolls.length = flushes.length = 0
const start = performance.now()
await run(count, true)
const took = (performance.now() - start) / 1000
ending = true
const result = {
  batchBytes: batch.length,
  appends: count,
  megabytesPerSecond: Math.round((count * batch.length) / took / 1e4) / 100,
  callUs: percentiles(calls),
  lateUs: percentiles(delays),
  rolls: rolls.length,
  rollUs: percentiles(Float64Array.from(rolls)),
  flushes: flushes.length,
  flushUs: percentiles(Float64Array.from(flushes)),
}
process.stdout.write(`${JSON.stringify(result, null, 1)}\n`)
await native.segmentClose(handle, false)
