/** How a data directory of many logs is opened: what is read, how much at a time, what is told. */
import assert from 'node:assert/strict'
import { existsSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { type Env, systemEnv } from '../../src/env.js'
import { native } from '../../src/native.js'
import { buildBatch } from '../../src/records/encoder.js'
import { LogManager } from '../../src/storage/log-manager.js'
import { memoryDirectory } from '../support/tmp.js'
import { NOW, values } from './log-fixture.js'

const ID = 'bwAAAAAAAAAAAAAAAAAAAA'
const MARKER = '.kafka_cleanshutdown'
const BATCH_BYTES = 20_000

async function open(t: TestContext, directory: string, env: Env = systemEnv) {
  const warnings: string[] = []
  const log = { segmentBytes: 1 << 20, indexIntervalBytes: 4096, flushMessages: 0, mapped: false }
  const warn = (line: string) => void warnings.push(line)
  const manager = await LogManager.open({ directories: [directory], brokerId: 0, log, warn }, env)
  t.after(() => manager.abandon())
  return { manager, warnings }
}

const partition = (index: number) => ({ topic: 't', partition: index })

/** A closed directory of `count` logs of five segments each, one batch in a segment. */
async function filled(t: TestContext, count: number): Promise<string> {
  const directory = memoryDirectory(t)
  const { manager } = await open(t, directory)
  const batch = buildBatch([{ value: Buffer.alloc(BATCH_BYTES, 1), timestamp: NOW }])
  for (let index = 0; index < count; index++) {
    const log = await manager.openOrCreate(partition(index), ID)
    for (let i = 0; i < 5; i++) {
      const bytes = Uint8Array.from(batch)
      assert.equal(log.appendFromClient(bytes, 0, bytes.length, 0), i)
      if (i < 4) log.roll()
    }
  }
  await manager.close()
  return directory
}

test('after a kill only what no checkpoint covers is read, of one log among many', async (t) => {
  const directory = await filled(t, 60)
  const { manager } = await open(t, directory)
  const dirty = await manager.openOrCreate(partition(7), ID)
  await manager.checkpoint()
  const batch = buildBatch([{ value: 'not in a checkpoint', timestamp: NOW }])
  assert.equal(dirty.appendFromClient(batch, 0, batch.length, 0), 5)
  await manager.close()
  rmSync(join(directory, MARKER))
  const before = native.recoveredBytes()
  const again = (await open(t, directory)).manager
  const readBytes = native.recoveredBytes() - before
  // The newest segment of each, and not the four before it.
  assert.ok(readBytes <= 61 * (BATCH_BYTES + 1000), `${readBytes} bytes`)
  assert.equal(values(await again.openOrCreate(partition(7), ID))[5], 'not in a checkpoint')
  await again.close()
  const clean = native.recoveredBytes()
  await (await open(t, directory)).manager.close()
  assert.ok(native.recoveredBytes() - clean <= 61 * (BATCH_BYTES + 1000))
})

test('eight logs are opened at a time, after the marker of the last stop is gone', async (t) => {
  const directory = await filled(t, 40)
  const original = native.segmentOpen
  t.after(() => {
    native.segmentOpen = original
  })
  let [now, most, calls, marked] = [0, 0, 0, 0]
  native.segmentOpen = async (...args) => {
    calls++
    now++
    most = Math.max(most, now)
    if (existsSync(join(directory, MARKER))) marked++
    try {
      return await original(...args)
    } finally {
      now--
    }
  }
  await (await open(t, directory)).manager.close()
  assert.equal(calls, 40)
  assert.ok(most <= 8 && most > 1, `${most} at a time`)
  assert.equal(marked, 0, 'logs that were opened while the marker stood')
})

test('a start that takes long says how far it is, every five seconds', async (t) => {
  const directory = await filled(t, 12)
  let nowMs = 0
  const slow: Env = {
    now: () => systemEnv.now(),
    // Each log seems to take two seconds.
    monotonic: () => {
      nowMs += 2000
      return nowMs
    },
    after: (ms, callback) => systemEnv.after(ms, callback),
    soon: (callback) => systemEnv.soon(callback),
    random: systemEnv.random,
    listen: (...args) => systemEnv.listen(...args),
    connect: (...args) => systemEnv.connect(...args),
  }
  const { manager, warnings } = await open(t, directory, slow)
  await manager.close()
  const told = warnings.map((line) => /: (\d+) of 12 logs are open$/.exec(line)?.[1])
  assert.deepEqual(told, ['3', '6', '9'])
})
