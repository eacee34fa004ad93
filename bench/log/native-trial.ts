/**
 * One trial of the native append alone, in a process of its own:
 * `node native-trial.js VALUE_BYTES FILL_BYTES SECONDS DIRECTORY`. A finished batch with one record
 * goes to `native.segmentAppend` again and again, until a segment is full; the first segment is not
 * counted. Making, closing and removing segments is not counted. Prints JSON.
 */
import { unlinkSync } from 'node:fs'
import { join } from 'node:path'
import { AppendFlag, checked, native, Status } from '../../src/native.js'
import { batchOf } from '../batch.js'

/** Kafka's default of log.index.interval.bytes. */
const INDEX_INTERVAL_BYTES = 4096
const FILLS_MAX = 20

function fill(path: string, baseOffset: number, batch: Buffer, batches: number): number {
  const options = {
    readOnly: false,
    recover: false,
    segmentBytes: 2 ** 30,
    indexIntervalBytes: INDEX_INTERVAL_BYTES,
    mapped: true,
  }
  const handle = checked(native.segmentCreate(path, baseOffset, options), path)
  const view = new DataView(batch.buffer, batch.byteOffset, batch.length)
  const start = performance.now()
  for (let i = 0; i < batches; i++) {
    // The append stamped the offset into the batch; a client's batch starts at 0.
    view.setUint32(0, 0)
    view.setUint32(4, 0)
    const status = native.segmentAppend(handle, batch, 0, batch.length, 0, AppendFlag.FROM_CLIENT)
    if (status < Status.OK) checked(status, path)
  }
  const elapsedMs = performance.now() - start
  filled.push(handle)
  return elapsedMs
}

const filled: number[] = []
const [valueBytes, fillBytes, seconds, directory = ''] = process.argv.slice(2)
const batch = batchOf(Number(valueBytes), Date.now())
const batches = Math.max(1, Math.floor(Number(fillBytes) / batch.length))
let elapsedMs = 0
let fills = -1
while (fills < 1 || (elapsedMs < Number(seconds) * 1000 && fills < FILLS_MAX)) {
  const baseOffset = (fills + 1) * batches
  const path = join(directory, String(baseOffset).padStart(20, '0'))
  const took = fill(path, baseOffset, batch, batches)
  if (fills++ >= 0) elapsedMs += took
  for (const handle of filled.splice(0)) await native.segmentClose(handle, false)
  for (const ending of ['.log', '.index', '.timeindex']) unlinkSync(path + ending)
}
const perSecond = (batches * fills * 1000) / elapsedMs
process.stdout.write(`${JSON.stringify({ perSecond })}\n`)
