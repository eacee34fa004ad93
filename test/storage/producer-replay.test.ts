import assert from 'node:assert/strict'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { buildBatch } from '../../src/records/encoder.js'
import type { Log } from '../../src/storage/log.js'
import { temporaryDirectory } from '../support/tmp.js'
import { append, crashCopy, filesOf, open } from './log-fixture.js'

function produce(log: Log, id: number, baseSequence: number, count = 1, epoch = 0): number {
  const records = Array.from({ length: count }, () => ({ value: 'v'.repeat(50) }))
  const batch = buildBatch(records, { producer: { id, epoch, baseSequence } })
  return log.appendFromClient(batch, 0, batch.length, 0)
}

test('each of the last five batches of a producer is known again after a kill', async (t) => {
  const directory = join(temporaryDirectory(t), 't-0')
  const log = await open(t, directory)
  for (let sequence = 0; sequence < 14; sequence += 2) produce(log, 7, sequence, 2)
  assert.ok(log.segmentCount > 1)
  const again = await open(t, crashCopy(directory, join(temporaryDirectory(t), 't-0')))
  for (const sequence of [4, 6, 8, 10, 12]) {
    const known = again.producers.check(7, 0, sequence, 2)
    assert.ok(typeof known === 'object')
    assert.deepEqual([known.baseOffset, known.lastOffset], [sequence, sequence + 1])
  }
  assert.equal(typeof again.producers.check(7, 0, 2, 2), 'number')
  assert.equal(again.producers.check(7, 0, 14, 1), 'append')
})

test('a producer is known again where a roll came right after its batch', async (t) => {
  const directory = join(temporaryDirectory(t), 't-0')
  const log = await open(t, directory)
  produce(log, 7, 0)
  log.roll()
  await log.close()
  const again = await open(t, directory)
  assert.equal(typeof again.producers.check(7, 0, 0, 1), 'object')
})

test('the latest epoch of a producer is known again', async (t) => {
  const directory = join(temporaryDirectory(t), 't-0')
  const log = await open(t, directory)
  produce(log, 7, 0, 1, 0)
  produce(log, 7, 0, 1, 3)
  await log.close()
  const again = await open(t, directory)
  const entry = [...again.producers.entries()][0]
  assert.equal(entry?.producerEpoch, 3)
})

test('batches without a producer leave nothing to know', async (t) => {
  const directory = join(temporaryDirectory(t), 't-0')
  const log = await open(t, directory)
  append(log, 'a')
  await log.close()
  assert.equal((await open(t, directory)).producers.size, 0)
})

test('a batch larger than what is read at once does not hide the next', async (t) => {
  const directory = join(temporaryDirectory(t), 't-0')
  const log = await open(t, directory, { segmentBytes: 1 << 24 })
  append(log, 'x'.repeat(3 * 1024 * 1024))
  produce(log, 7, 0)
  await log.close()
  const again = await open(t, directory, { segmentBytes: 1 << 24 })
  assert.equal(typeof again.producers.check(7, 0, 0, 1), 'object')
})

test('of a long log without a snapshot only the end is read', async (t) => {
  const directory = join(temporaryDirectory(t), 't-0')
  const options = { segmentBytes: 1 << 30 }
  const log = await open(t, directory, options)
  produce(log, 1, 0)
  for (let i = 0; i < 17; i++) append(log, 'x'.repeat(4 * 1024 * 1024))
  produce(log, 2, 0)
  await log.close()
  for (const name of filesOf(directory, '.snapshot')) rmSync(join(directory, name))
  const again = await open(t, directory, { ...options, clean: true })
  assert.equal(again.producers.check(1, 0, 5, 1), 'append')
  assert.equal(typeof again.producers.check(2, 0, 0, 1), 'object')
})
