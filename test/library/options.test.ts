import assert from 'node:assert/strict'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { type OpenLogOptions, openLog } from '../../src/index.js'
import { SimEnv } from '../support/sim-env.js'
import { temporaryDirectory } from '../support/tmp.js'
import { until } from '../support/until.js'

async function open(t: TestContext, options: OpenLogOptions, directory = temporaryDirectory(t)) {
  const log = await openLog(directory, options)
  t.after(() => log.close().catch(() => {}))
  return log
}

const segments = (directory: string) =>
  readdirSync(directory).filter((name) => name.endsWith('.log')).length

test('records that are too old go once a minute, and the end stays', async (t) => {
  const env = new SimEnv()
  const directory = temporaryDirectory(t)
  const log = await open(t, { env, retention: { ms: 3_600_000 } }, directory)
  log.append([{ value: 'a' }])
  log.roll()
  await env.advance(3_000_000)
  log.append([{ value: 'b' }])
  assert.equal(log.startOffset, 0n)
  await env.advance(660_000)
  await until(() => log.startOffset === 1n, 'the first segment to go')
  await log.close()
  assert.equal(env.timers, 0)
  const again = await open(t, { env }, directory)
  assert.deepEqual([again.startOffset, again.endOffset], [1n, 2n])
})

test('an active segment that is too old goes too when it is asked for', async (t) => {
  const env = new SimEnv()
  const log = await open(t, { env, retention: { ms: 1000 } })
  log.append([{ value: 'a' }])
  assert.equal(await log.deleteOldSegments(), 0)
  await env.advance(1001)
  assert.equal(await log.deleteOldSegments(), 1)
  assert.deepEqual([log.startOffset, log.endOffset], [1n, 1n])
})

test('the oldest segments go while retention.bytes are left', async (t) => {
  const log = await open(t, { segmentBytes: 3000, retention: { bytes: 6500 } })
  for (let i = 0; i < 10; i++) log.append([{ value: Buffer.alloc(2000) }])
  assert.equal(await log.deleteOldSegments(), 6)
  assert.ok(log.sizeBytes >= 6500)
  assert.equal(log.startOffset, 6n)
})

test('without retention nothing goes, and no timer is set', async (t) => {
  const env = new SimEnv()
  const log = await open(t, { env, segmentBytes: 3000 })
  for (let i = 0; i < 4; i++) log.append([{ value: Buffer.alloc(2000), timestamp: 0 }])
  assert.equal(env.timers, 0)
  assert.equal(await log.deleteOldSegments(), 0)
})

test('a segment is closed when it is older than segmentMs', async (t) => {
  const env = new SimEnv()
  const directory = temporaryDirectory(t)
  const log = await open(t, { env, segmentMs: 5000 }, directory)
  log.append([{ value: 'a' }])
  await env.advance(5000)
  log.append([{ value: 'b' }])
  assert.equal(segments(directory), 1)
  await env.advance(1)
  log.append([{ value: 'c' }])
  assert.equal(segments(directory), 2)
})

test('with LogAppendTime records have the time of their append', async (t) => {
  const env = new SimEnv()
  const log = await open(t, { env, timestampType: 'LogAppendTime' })
  const { appendTime } = log.append([{ value: 'a', timestamp: 5 }, { value: 'b' }])
  assert.equal(appendTime, env.now())
  for await (const { timestamp } of log.read()) assert.equal(timestamp, appendTime)
  assert.equal(log.offsetForTimestamp(6), 0n)
})

test('a batch above maxBatchBytes is TOO_LARGE, and one at it is not', async (t) => {
  const log = await open(t, {})
  log.append([{ value: Buffer.alloc(500) }])
  const sizeBytes = log.sizeBytes
  const bounded = await open(t, { maxBatchBytes: sizeBytes })
  bounded.append([{ value: Buffer.alloc(500) }])
  assert.throws(() => bounded.append([{ value: Buffer.alloc(501) }]), { code: 'TOO_LARGE' })
  assert.equal(bounded.endOffset, 1n)
})

test('files of deleted segments go at once with a delay of 0', async (t) => {
  const directory = temporaryDirectory(t)
  const log = await open(t, { fileDeleteDelayMs: 0 }, directory)
  log.append([{ value: 'a' }])
  log.roll()
  log.append([{ value: 'b' }])
  await log.deleteBefore(1)
  const files = () => readdirSync(directory).filter((name) => /^0{20}\.\w*log/.test(name))
  await until(() => files().length === 0, 'the files to go')
})

test('options out of range or of another type are named', async (t) => {
  const directory = join(temporaryDirectory(t), 'log-0')
  const wrong: [object, RegExp][] = [
    [{ segmentMs: 0 }, /^segmentMs .*, not 0$/],
    [{ maxBatchBytes: 0 }, /^maxBatchBytes .*, not 0$/],
    [{ retention: { ms: -1 } }, /^retention\.ms .*, not -1$/],
    [{ retention: { bytes: 0.5 } }, /^retention\.bytes .*, not 0\.5$/],
    [{ retention: { age: 1 } }, /^retention has no option "age"; it takes ms, bytes$/],
    [{ timestampType: 'Now' }, /^timestampType .*, not the text "Now"$/],
    [{ fileDeleteDelayMs: -1 }, /^fileDeleteDelayMs .*, not -1$/],
    [{ readOnly: 1 }, /^readOnly is true or false, not 1$/],
  ]
  for (const [options, message] of wrong) {
    await assert.rejects(openLog(directory, options as OpenLogOptions), {
      code: 'BAD_ARGUMENT',
      message,
    })
  }
})
