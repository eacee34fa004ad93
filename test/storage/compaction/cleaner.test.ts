/** Which log is compacted when, and that one that fails holds up no other. */
import assert from 'node:assert/strict'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { systemEnv } from '../../../src/env.js'
import type { CleanerOptions } from '../../../src/storage/compaction/cleaner.js'
import type { Log } from '../../../src/storage/log.js'
import { LogManager } from '../../../src/storage/log-manager.js'
import { defaultLogOptions, type LogTuning } from '../../../src/storage/log-options.js'
import { temporaryDirectory } from '../../support/tmp.js'
import { until } from '../../support/until.js'
import { NOW } from '../log-fixture.js'
import { lastValues, put, recordsOf } from './compaction-fixture.js'

const ID = 'bwAAAAAAAAAAAAAAAAAAAA'

async function open(t: TestContext, directory: string, cleaner: Partial<CleanerOptions> = {}) {
  const warnings: string[] = []
  const { clean: _, ...log } = { ...defaultLogOptions, segmentBytes: 2000 }
  const warn = (line: string) => void warnings.push(line)
  const options = { directories: [directory], brokerId: 0, log, warn, cleaner: () => cleaner }
  const manager = await LogManager.open(options, systemEnv)
  t.after(() => manager.abandon())
  return { manager, warnings }
}

/** A compacted log of `dirty` sealed segments of one record, all of one key. */
async function logOf(
  manager: LogManager,
  topic: string,
  dirty: number,
  tuning: Partial<LogTuning> = {},
): Promise<Log> {
  const log = await manager.openOrCreate({ topic, partition: 0 }, ID)
  log.configure({ compacts: true, ...tuning })
  for (let i = 0; i < dirty; i++) {
    put(log, [['a', String(i)]])
    log.roll()
  }
  await log.flush()
  return log
}

const offsets = (log: Log) => recordsOf(log).map(({ offset }) => offset)

test('a log that is dirty enough is compacted, one of another policy is not', async (t) => {
  const { manager } = await open(t, temporaryDirectory(t))
  const compacted = await logOf(manager, 'c', 3)
  const deleted = await logOf(manager, 'd', 3, { compacts: false })
  await manager.compact()
  assert.deepEqual(offsets(compacted), [2])
  assert.deepEqual(offsets(deleted), [0, 1, 2])
})

test('a log is compacted when more than its ratio is dirty', async (t) => {
  const { manager } = await open(t, temporaryDirectory(t))
  const log = await logOf(manager, 'c', 3)
  await manager.compact()
  put(log, [['b', '1']])
  log.roll()
  await log.flush()
  const { ratio } = await log.compactionNeed(log.endOffset)
  log.configure({ minCleanableDirtyRatio: ratio })
  await manager.compact()
  assert.equal(log.cleanedOffset, 3)
  log.configure({ minCleanableDirtyRatio: ratio - 0.001 })
  await manager.compact()
  assert.equal(log.cleanedOffset, 4)
})

test('what waits longer than its lag is compacted whatever the ratio', async (t) => {
  const { manager } = await open(t, temporaryDirectory(t))
  const tuning = { minCleanableDirtyRatio: 1, maxCompactionLagMs: systemEnv.now() - NOW + 600_000 }
  const log = await logOf(manager, 'c', 3, tuning)
  await manager.compact()
  assert.equal(log.cleanedOffset, undefined)
  log.configure({ maxCompactionLagMs: 1000 })
  await manager.compact()
  assert.equal(log.cleanedOffset, 3)
})

test('nothing is compacted where that is switched off', async (t) => {
  const { manager } = await open(t, temporaryDirectory(t), { enable: false })
  const log = await logOf(manager, 'c', 3)
  await manager.compact()
  assert.equal(log.cleanedOffset, undefined)
})

test('it comes round by itself', async (t) => {
  const { manager } = await open(t, temporaryDirectory(t), { backoffMs: 5 })
  const log = await logOf(manager, 'c', 3)
  await until(() => log.cleanedOffset === 3, 'compacted')
})

test('a log that is damaged is listed and tried again, and the others are compacted', async (t) => {
  const directory = temporaryDirectory(t)
  const first = await open(t, directory)
  await logOf(first.manager, 'bad', 5)
  await logOf(first.manager, 'good', 3)
  await first.manager.close()
  const path = join(directory, 'bad-0', `${'1'.padStart(20, '0')}.log`)
  const sound = readFileSync(path)
  const damaged = Buffer.from(sound)
  damaged[sound.length - 1]! ^= 1
  writeFileSync(path, damaged)

  const { manager, warnings } = await open(t, directory)
  const bad = await logOf(manager, 'bad', 0)
  const good = await logOf(manager, 'good', 0)
  await manager.compact()
  assert.equal(good.cleanedOffset, 3)
  assert.deepEqual(lastValues(good), { a: '2' })
  assert.deepEqual(
    manager.uncleanable.map(({ topic, partition }) => [topic, partition]),
    [['bad', 0]],
  )
  assert.match(manager.uncleanable[0]!.reason, /CRC/)
  await manager.compact()
  assert.equal(warnings.filter((line) => line.startsWith('bad-0')).length, 1)
  writeFileSync(path, sound)
  await manager.compact()
  assert.equal(bad.cleanedOffset, 5)
  assert.deepEqual(manager.uncleanable, [])
})

test('up to where a log is compacted is known to the next start', async (t) => {
  const directory = temporaryDirectory(t)
  const { manager } = await open(t, directory)
  await logOf(manager, 'c', 3)
  await logOf(manager, 'd', 1, { compacts: false })
  await manager.compact()
  const path = join(directory, 'cleaner-offset-checkpoint')
  assert.equal(readFileSync(path, 'utf8'), '0\n1\nc 0 3\n')
  await manager.close()
  const again = await open(t, directory)
  const log = await logOf(again.manager, 'c', 0)
  assert.equal(log.cleanedOffset, 3)
  assert.equal((await log.compactionNeed(3)).ratio, 0)
})

test('a topic that is removed leaves no checkpoint for the next one of its name', async (t) => {
  const directory = temporaryDirectory(t)
  const { manager } = await open(t, directory)
  const log = await logOf(manager, 'c', 3)
  await manager.compact()
  await log.close()
  await manager.remove({ topic: 'c', partition: 0 })
  assert.equal(readFileSync(join(directory, 'cleaner-offset-checkpoint'), 'utf8'), '0\n0\n')
})

test('a directory in which nothing was compacted has no checkpoint of it', async (t) => {
  const directory = temporaryDirectory(t)
  const { manager } = await open(t, directory)
  await logOf(manager, 'd', 2, { compacts: false })
  await manager.close()
  assert.equal(existsSync(join(directory, 'cleaner-offset-checkpoint')), false)
})

test('a close interrupts a long compaction, and loses nothing', async (t) => {
  const directory = temporaryDirectory(t)
  const { manager } = await open(t, directory)
  const log = await logOf(manager, 'c', 0, { segmentBytes: 1 << 20 })
  for (let i = 0; i < 300; i++) {
    put(
      log,
      Array.from({ length: 200 }, (_, n) => [`k${i % 7}-${n}`, `${i}`] as const),
    )
  }
  log.roll()
  await log.flush()
  const run = manager.compact()
  await new Promise((resolve) => setTimeout(resolve, 20))
  const before = performance.now()
  await manager.close()
  await run
  assert.ok(performance.now() - before < 2000)
  const again = await open(t, directory)
  const opened = await again.manager.openOrCreate({ topic: 'c', partition: 0 }, ID)
  const values = lastValues(opened)
  assert.equal(Object.keys(values).length, 1400)
  for (let i = 293; i < 300; i++) assert.equal(values[`k${i % 7}-0`], `${i}`)
})

test('the event loop has its turns meanwhile', async (t) => {
  const { manager } = await open(t, temporaryDirectory(t))
  const log = await logOf(manager, 'c', 0, { segmentBytes: 1 << 20 })
  for (let i = 0; i < 200; i++) {
    put(
      log,
      Array.from({ length: 200 }, (_, n) => [`${i % 9}-${n}`, `${i}`] as const),
    )
  }
  log.roll()
  await log.flush()
  let turns = 0
  let isOver = false
  const run = manager.compact().finally(() => {
    isOver = true
  })
  while (!isOver) {
    turns++
    await new Promise((resolve) => setImmediate(resolve))
  }
  await run
  assert.equal(log.cleanedOffset, log.endOffset)
  assert.ok(turns > 10, `${turns} turns`)
})
