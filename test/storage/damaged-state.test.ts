/**
 * What a start makes of small files that are damaged: what can be derived from the logs is, with
 * one line for the operator; what says whose the data is refuses the start.
 */
import assert from 'node:assert/strict'
import { cpSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { buildBatch } from '../../src/records/encoder.js'
import { writeOffsets } from '../../src/storage/checkpoints.js'
import type { Log } from '../../src/storage/log.js'
import { LogManager } from '../../src/storage/log-manager.js'
import { seeded } from '../protocol/random.js'
import { SimEnv } from '../support/sim-env.js'
import { temporaryDirectory } from '../support/tmp.js'
import { filesOf, NOW, values } from './log-fixture.js'

const ID = 'bwAAAAAAAAAAAAAAAAAAAA'
const MARKER = '.kafka_cleanshutdown'
const t0 = { topic: 't', partition: 0 }

async function open(t: TestContext, directory: string) {
  const warnings: string[] = []
  const log = { segmentBytes: 1 << 20, indexIntervalBytes: 128, flushMessages: 0, mapped: true }
  const warn = (line: string) => void warnings.push(line)
  const options = { directories: [directory], brokerId: 0, log, warn }
  const manager = await LogManager.open(options, new SimEnv({ now: NOW }))
  t.after(() => manager.abandon())
  return { manager, warnings }
}

function put(log: Log, epoch: number, baseSequence: number): void {
  const producer = { id: 7, epoch: 0, baseSequence }
  const batch = buildBatch([{ value: `${baseSequence}`, timestamp: NOW }], { producer })
  assert.equal(log.appendFromClient(batch, 0, batch.length, epoch), baseSequence)
}

/** A closed directory with one log: two segments, two epochs, a producer, a start within. */
async function closed(t: TestContext): Promise<string> {
  const directory = temporaryDirectory(t)
  const { manager } = await open(t, directory)
  const log = await manager.openOrCreate(t0, ID)
  for (let i = 0; i < 6; i++) {
    if (i === 4) log.roll()
    put(log, i < 3 ? 0 : 2, i)
  }
  log.incrementStartOffset(1)
  await manager.close()
  await writeOffsets(join(directory, 'cleaner-offset-checkpoint'), [{ ...t0, offset: 2 }])
  return directory
}

const damages: Record<string, (path: string) => void> = {
  empty: (path) => writeFileSync(path, ''),
  random: (path) => writeFileSync(path, seeded(3).bytes(40)),
  cut: (path) => writeFileSync(path, readFileSync(path).subarray(0, -2)),
  'with a blank line more': (path) => {
    writeFileSync(path, Buffer.concat([readFileSync(path), Buffer.from('\n')]))
  },
}

/** Files with what is derived, and the first offset where they are lost. */
const derived: [string, number][] = [
  ['recovery-point-offset-checkpoint', 1],
  ['replication-offset-checkpoint', 1],
  ['log-start-offset-checkpoint', 0],
  ['cleaner-offset-checkpoint', 1],
  ['t-0/leader-epoch-checkpoint', 1],
  ['t-0/00000000000000000006.snapshot', 1],
]

for (const [name, start] of derived) {
  for (const [how, damage] of Object.entries(damages)) {
    test(`a start with ${name} ${how} has one warning and what the log says`, async (t) => {
      const directory = await closed(t)
      for (const clean of [true, false]) {
        const copy = join(temporaryDirectory(t), 'data')
        cpSync(directory, copy, { recursive: true })
        if (!clean) rmSync(join(copy, MARKER))
        damage(join(copy, name))
        const { manager, warnings } = await open(t, copy)
        // The watermark of the only replica is the end of its log: nobody reads that file.
        const expected = name === 'replication-offset-checkpoint' ? 0 : 1
        assert.equal(warnings.length, expected, warnings.join())
        if (expected) assert.ok(warnings[0]?.includes(join(copy, name)), warnings[0])
        const log = await manager.openOrCreate(t0, ID)
        assert.deepEqual([log.startOffset, log.endOffset], [start, 6])
        assert.deepEqual(values(log), ['0', '1', '2', '3', '4', '5'].slice(start))
        assert.deepEqual(log.epochs.endOffsetFor(0, 6), { epoch: 0, endOffset: 3 })
        assert.equal(typeof log.producers.check(7, 0, 5, 1), 'object')
        assert.equal(log.producers.check(7, 0, 6, 1), 'append')
        await manager.close()
        const again = await open(t, copy)
        const left = again.warnings.filter((line) => !line.includes('cleaner-offset-checkpoint'))
        assert.deepEqual(left, [], 'what was written anew is sound')
        await again.manager.close()
      }
    })
  }
}

for (const name of ['meta.properties', 't-0/partition.metadata']) {
  for (const how of ['empty', 'random', 'cut']) {
    test(`a start with ${name} ${how} is refused, and the file stays as it is`, async (t) => {
      const directory = await closed(t)
      const path = join(directory, name)
      damages[how]!(path)
      const bytes = readFileSync(path)
      const names = filesOf(directory, '')
      await assert.rejects(open(t, directory), (error: Error & { code: string }) => {
        return error.code === 'CORRUPT' && error.message.includes(path)
      })
      assert.deepEqual(readFileSync(path), bytes)
      const left = filesOf(directory, '').filter((each) => each !== MARKER)
      assert.deepEqual(
        left,
        names.filter((each) => each !== MARKER),
      )
    })
  }
}
