import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Status } from '../../src/native.js'
import { batchAt, crcMatches } from '../../src/records/batch.js'
import { buildBatch } from '../../src/records/encoder.js'
import { INVALID_TIMESTAMP } from '../../src/storage/append-rules.js'
import type { LogTuning } from '../../src/storage/log-options.js'
import { damaged } from '../support/batches.js'
import { SimEnv } from '../support/sim-env.js'
import { temporaryDirectory } from '../support/tmp.js'
import { NOW, open } from './log-fixture.js'

const ruled: [string, Partial<LogTuning>, number, number][] = [
  ['too far ahead', { timestampAfterMaxMs: 1000 }, NOW + 1001, INVALID_TIMESTAMP],
  ['just ahead', { timestampAfterMaxMs: 1000 }, NOW + 1000, 0],
  ['too far behind', { timestampBeforeMaxMs: 1000 }, NOW - 1001, INVALID_TIMESTAMP],
  ['just behind', { timestampBeforeMaxMs: 1000 }, NOW - 1000, 0],
  ['absent', { timestampBeforeMaxMs: 0, timestampAfterMaxMs: 0 }, -1, 0],
  ['in a batch that is too large', { maxMessageBytes: 60 }, NOW, Status.TOO_LARGE],
]
for (const [which, options, timestamp, status] of ruled) {
  test(`a time ${which} is answered with ${status}, from the next append on`, async (t) => {
    const log = await open(t, temporaryDirectory(t), {}, new SimEnv({ now: NOW }))
    const put = () => {
      const batch = buildBatch([{ value: 'v', timestamp }])
      return log.appendFromClient(batch, 0, batch.length, 0)
    }
    assert.equal(put(), 0)
    log.configure(options)
    assert.equal(put(), status < 0 ? status : 1)
    assert.equal(log.endOffset, status < 0 ? 1 : 2)
  })
}

test("a log of the broker's time stamps it, with a right sum", async (t) => {
  const env = new SimEnv({ now: NOW + 5 })
  const log = await open(t, temporaryDirectory(t), { timestampType: 'LogAppendTime' }, env)
  const batch = buildBatch([{ value: 'v', timestamp: 7 }])
  assert.equal(log.appendFromClient(batch, 0, batch.length, 0), 0)
  const stored = batchAt(log.slice(0, 1)!.bytes(), 0)
  assert.ok(crcMatches(stored))
  const { isLogAppendTime, maxTimestamp, baseTimestamp } = stored.header
  assert.deepEqual([isLogAppendTime, maxTimestamp, baseTimestamp], [true, NOW + 5, 7])
})

test("a damaged batch does not become a right one by the broker's time", async (t) => {
  const log = await open(t, temporaryDirectory(t), { timestampType: 'LogAppendTime' })
  const batch = damaged(buildBatch([{ value: 'v' }]))
  const before = Buffer.from(batch)
  assert.equal(log.appendFromClient(batch, 0, batch.length, 0), Status.CORRUPT)
  assert.deepEqual(Buffer.from(batch), before)
})

test("a producer may not claim the broker's time", async (t) => {
  const env = new SimEnv({ now: NOW })
  const stamped = await open(t, temporaryDirectory(t), { timestampType: 'LogAppendTime' }, env)
  const batch = buildBatch([{ value: 'v' }])
  stamped.appendFromClient(batch, 0, batch.length, 0)
  const log = await open(t, temporaryDirectory(t), {}, env)
  assert.equal(log.appendFromClient(batch, 0, batch.length, 0), INVALID_TIMESTAMP)
})
