import assert from 'node:assert/strict'
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, readFileSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { type OpenLogOptions, openLog } from '../../src/index.js'
import { native } from '../../src/native.js'
import { SimEnv } from '../support/sim-env.js'
import { temporaryDirectory } from '../support/tmp.js'
import { until } from '../support/until.js'

const MARKER = '.kafka_cleanshutdown'
const POINT = 'recovery-point-offset-checkpoint'
const START = 'log-start-offset-checkpoint'

async function open(t: TestContext, directory: string, options: OpenLogOptions = {}) {
  const log = await openLog(directory, options)
  t.after(() => log.close().catch(() => {}))
  return log
}

type Log = Awaited<ReturnType<typeof open>>

const folder = (t: TestContext) => join(temporaryDirectory(t), 'orders-3')
const content = (directory: string, name: string) => readFileSync(join(directory, name), 'utf8')

function fill(log: Log, count: number): void {
  for (let i = 0; i < count; i++) log.append([{ value: `${log.endOffset}` }])
}

async function values(log: Log): Promise<string[]> {
  const found: string[] = []
  for await (const { value } of log.read()) found.push(String(value))
  return found
}

/** A log of ten batches in two segments, closed. */
async function closed(t: TestContext, directory: string): Promise<void> {
  const log = await open(t, directory)
  fill(log, 5)
  log.roll()
  fill(log, 5)
  await log.close()
}

/** Lets a child do the steps of folder-child.ts and kills it. */
async function killed(directory: string, ...steps: string[]): Promise<void> {
  const child = fork(new URL('./folder-child.js', import.meta.url), [directory, ...steps])
  const [message] = await once(child, 'message')
  child.kill('SIGKILL')
  await once(child, 'exit')
  assert.equal(message, 'done')
}

test('a closed log says so, and its next user reads no batch to open it', async (t) => {
  const directory = folder(t)
  const first = await open(t, directory)
  for (let i = 0; i < 10; i++) first.append([{ value: Buffer.alloc(100_000, i) }])
  await first.close()
  assert.equal(content(directory, POINT), '0\n1\norders 3 10\n')
  assert.ok(existsSync(join(directory, MARKER)))
  const before = native.recoveredBytes()
  const log = await open(t, directory)
  const readBytes = native.recoveredBytes() - before
  assert.ok(readBytes < 200_000, `${readBytes} bytes`)
  assert.ok(!existsSync(join(directory, MARKER)))
  assert.equal(log.report.rebuiltIndexes, 0)
  assert.equal(log.report.damage, undefined)
  assert.deepEqual([log.recoveryPoint, log.endOffset], [10n, 10n])
})

test('the folder of a topic that cannot be told is called log 0', async (t) => {
  const directory = join(temporaryDirectory(t), 'my log-0')
  await closed(t, directory)
  assert.equal(content(directory, POINT), '0\n1\nlog 0 10\n')
})

test('garbage in a checkpoint is one warning, and all is derived anew', async (t) => {
  for (const name of [POINT, START]) {
    const directory = folder(t)
    await closed(t, directory)
    writeFileSync(join(directory, name), '0\n1\norders 3 7x\n')
    const log = await open(t, directory)
    assert.match(log.report.damage ?? '', new RegExp(`${name} is damaged`))
    assert.deepEqual([log.startOffset, log.endOffset], [0n, 10n])
    assert.deepEqual(await values(log), ['0', '1', '2', '3', '4', '5', '6', '7', '8', '9'])
    await log.close()
    const again = await open(t, directory)
    assert.equal(again.report.damage, undefined)
    assert.equal(again.recoveryPoint, 10n)
  }
})

test('a log that was cut behind the back of its marker says so and goes on', async (t) => {
  const batches = 5
  for (const [part, end] of [
    [0.01, 10n],
    [0.5, 10n],
    // Between two batches nothing is left to see of what was lost.
    [1, 9n],
  ] as const) {
    const directory = folder(t)
    await closed(t, directory)
    const file = join(directory, '00000000000000000005.log')
    const sizeBytes = readFileSync(file).length
    truncateSync(file, sizeBytes - Math.ceil((part * sizeBytes) / batches))
    const log = await open(t, directory)
    assert.ok(log.report.damage)
    assert.equal(log.endOffset, end)
    log.append([{ value: 'goes on' }])
    await log.close()
    const again = await open(t, directory)
    assert.equal(again.endOffset, end + 1n)
    await again.close()
  }
})

test('a batch at the end that was damaged after a close is kept, an error', async (t) => {
  const directory = folder(t)
  await closed(t, directory)
  const file = join(directory, '00000000000000000005.log')
  const bytes = readFileSync(file)
  writeFileSync(file, bytes.fill(0, bytes.length - 3))
  const log = await open(t, directory)
  assert.equal(log.endOffset, 10n)
  assert.equal(log.report.damages.length, 1)
  const reading = (async () => {
    for await (const _ of log.read({ from: 9 }));
  })()
  await assert.rejects(reading, { code: 'CORRUPT' })
  log.append([{ value: 'goes on' }])
  for await (const { value } of log.read({ from: 10 })) assert.equal(String(value), 'goes on')
  assert.equal(log.endOffset, 11n)
})

test('the recovery point is written a second after a sync, once for many', async (t) => {
  const env = new SimEnv()
  const directory = folder(t)
  const log = await open(t, directory, { env })
  fill(log, 3)
  await log.flush()
  fill(log, 3)
  await log.flush()
  assert.equal(env.timers, 1)
  await env.advance(999)
  assert.equal(content(directory, POINT), '0\n1\norders 3 0\n')
  await env.advance(1)
  const written = () => content(directory, POINT) === '0\n1\norders 3 6\n'
  await until(written, 'the checkpoint')
  await log.flush()
  assert.equal(env.timers, 0)
})

test('a cut lowers the written recovery point before it returns', async (t) => {
  const directory = folder(t)
  await closed(t, directory)
  const log = await open(t, directory)
  log.append([{ value: 'a' }, { value: 'b' }])
  await log.flush()
  const cutting = log.truncate(4)
  assert.throws(() => log.append([{ value: 'c' }]), { code: 'READ_ONLY' })
  assert.throws(() => log.roll(), { code: 'READ_ONLY' })
  await cutting
  assert.equal(content(directory, POINT), '0\n1\norders 3 4\n')
  log.append([{ value: 'c' }])
  assert.deepEqual(await values(log), ['0', '1', '2', '3', 'c'])
})

test('a cut into a batch lowers it to where the batch begins', async (t) => {
  const directory = folder(t)
  const first = await open(t, directory)
  first.append([{ value: 'a' }])
  first.append([{ value: 'b' }, { value: 'c' }, { value: 'd' }])
  await first.close()
  const log = await open(t, directory)
  await log.truncate(3)
  assert.equal(log.endOffset, 1n)
  assert.equal(content(directory, POINT), '0\n1\norders 3 1\n')
})

test('a start in the middle of a segment survives a close', async (t) => {
  const directory = folder(t)
  await closed(t, directory)
  const log = await open(t, directory)
  await log.deleteBefore(7)
  assert.equal(content(directory, START), '0\n1\norders 3 7\n')
  await log.close()
  const again = await open(t, directory)
  assert.deepEqual([again.startOffset, again.endOffset], [7n, 10n])
  await assert.rejects(again.read({ from: 6 }).next(), { code: 'OFFSET_OUT_OF_RANGE' })
})

test('a start survives kill -9 once deleteBefore or a later flush has resolved', async (t) => {
  for (const how of ['deleteBefore', 'deleteBefore-flush']) {
    const directory = folder(t)
    await killed(directory, 'fill', how)
    const log = await open(t, directory)
    assert.deepEqual([log.startOffset, log.endOffset], [7n, 10n])
    assert.ok(!existsSync(join(directory, MARKER)))
  }
})

test('after kill -9 only what is above the written recovery point is read', async (t) => {
  const directory = folder(t)
  await killed(directory, 'large', 'checkpoint', 'fill')
  const before = native.recoveredBytes()
  const log = await open(t, directory)
  const readBytes = native.recoveredBytes() - before
  assert.ok(log.sizeBytes > 4_000_000)
  assert.ok(readBytes < 2_500_000, `${readBytes} bytes`)
  assert.equal(log.endOffset, 50n)
  assert.equal(log.recoveryPoint, 40n)
})

test('in the data directory of a broker nothing is remembered, and its marker goes', async (t) => {
  const data = temporaryDirectory(t)
  const directory = join(data, 'orders-3')
  mkdirSync(directory)
  writeFileSync(join(data, 'meta.properties'), 'version=0\nbroker.id=0\ncluster.id=x\n')
  writeFileSync(join(data, MARKER), '')
  writeFileSync(join(data, START), '0\n2\nother 3 1\norders 3 4\n')
  writeFileSync(join(directory, MARKER), '')
  const log = await open(t, directory)
  assert.ok(!existsSync(join(data, MARKER)))
  fill(log, 3)
  assert.deepEqual([log.startOffset, log.endOffset], [4n, 7n])
  await log.deleteBefore(6)
  await log.truncate(7)
  await log.close()
  for (const name of [MARKER, POINT, START]) assert.ok(!existsSync(join(directory, name)), name)
  assert.equal(content(data, START), '0\n2\nother 3 1\norders 3 4\n')
  assert.ok(!existsSync(join(data, MARKER)) && !existsSync(join(data, POINT)))
})
