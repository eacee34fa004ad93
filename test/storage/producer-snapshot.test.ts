import assert from 'node:assert/strict'
import { truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { buildBatch } from '../../src/records/encoder.js'
import type { Log } from '../../src/storage/log.js'
import { decodeSnapshot, encodeSnapshot } from '../../src/storage/producer-snapshot.js'
import { ProducerState } from '../../src/storage/producer-state.js'
import { temporaryDirectory } from '../support/tmp.js'
import { append, crashCopy, filesOf, NOW, open, values } from './log-fixture.js'

function known(count: number): ProducerState {
  const producers = new ProducerState()
  for (let i = 0; i < count; i++) {
    const [firstSequence, baseOffset, lastOffset] = [i * 2, 10 + i * 2, 11 + i * 2]
    const batch = { firstSequence, baseOffset, lastOffset, timestamp: NOW + i }
    producers.update({ producerId: 258, producerEpoch: 3, ...batch })
  }
  return producers
}

test('one batch of one producer is 46 bytes behind the header, as Kafka writes them', () => {
  const bytes = encodeSnapshot(known(1).entries())
  const entry = [
    '0000000000000102',
    '0003',
    '00000001',
    '000000000000000b',
    '00000001',
    NOW.toString(16).padStart(16, '0'),
    'ffffffff',
    'ffffffffffffffff',
  ]
  assert.equal(bytes.toString('hex', 0, 2), '0001')
  assert.equal(bytes.toString('hex', 6), `00000001${entry.join('')}`)
})

test('what is written is read back, the last batch of a producer last', () => {
  const producers = known(6)
  const read = decodeSnapshot(encodeSnapshot(producers.entries()))
  assert.deepEqual(
    read?.map(({ firstSequence, baseOffset }) => [firstSequence, baseOffset]),
    [2, 4, 6, 8, 10].map((sequence) => [sequence, sequence + 10]),
  )
})

test('a sequence that wraps is read back', () => {
  const producers = new ProducerState()
  const batch = { firstSequence: 2147483647, baseOffset: 5, lastOffset: 7, timestamp: NOW }
  producers.update({ producerId: 1, producerEpoch: 0, ...batch })
  const [read] = decodeSnapshot(encodeSnapshot(producers.entries())) ?? []
  assert.deepEqual([read?.firstSequence, read?.lastOffset], [2147483647, 7])
})

test('a snapshot with any byte changed or cut off is none', () => {
  const bytes = encodeSnapshot(known(2).entries())
  for (let at = 0; at < bytes.length; at++) {
    const changed = Buffer.from(bytes)
    changed[at]! ^= 0x41
    assert.equal(decodeSnapshot(changed), undefined, `byte ${at}`)
    assert.equal(decodeSnapshot(bytes.subarray(0, at)), undefined, `cut at ${at}`)
  }
})

function produce(log: Log, id: number, baseSequence: number): void {
  const batch = buildBatch([{ value: 'v' }], { producer: { id, epoch: 0, baseSequence } })
  assert.ok(log.appendFromClient(batch, 0, batch.length, 0) >= 0)
}

test('a clean close leaves a snapshot at the end, which the next start knows', async (t) => {
  const directory = temporaryDirectory(t)
  const log = await open(t, directory)
  for (let sequence = 0; sequence < 6; sequence++) produce(log, 7, sequence)
  await log.close()
  assert.deepEqual(filesOf(directory, '.snapshot'), ['00000000000000000006.snapshot'])
  const again = await open(t, directory, { clean: true })
  for (let sequence = 1; sequence < 6; sequence++) {
    const repeated = again.producers.check(7, 0, sequence, 1)
    assert.equal(typeof repeated === 'object' && repeated.baseOffset, sequence)
  }
})

const spoilers: Record<string, (path: string) => void> = {
  cut: (path) => truncateSync(path, 20),
  empty: (path) => truncateSync(path, 0),
  random: (path) => writeFileSync(path, Buffer.alloc(100, 7)),
}
for (const [how, spoil] of Object.entries(spoilers)) {
  test(`producers are known after a kill where snapshots are ${how}`, async (t) => {
    const directory = join(temporaryDirectory(t), 't-0')
    const log = await open(t, directory)
    produce(log, 7, 0)
    log.roll()
    produce(log, 7, 1)
    await log.close()
    const copy = crashCopy(directory, join(temporaryDirectory(t), 't-0'))
    for (const name of filesOf(copy, '.snapshot')) spoil(join(copy, name))
    const again = await open(t, copy)
    assert.equal(typeof again.producers.check(7, 0, 0, 1), 'object')
    assert.equal(again.producers.check(7, 0, 2, 1), 'append')
  })
}

test('a cut takes snapshots and producers above it along', async (t) => {
  const directory = temporaryDirectory(t)
  const log = await open(t, directory)
  produce(log, 7, 0)
  log.roll()
  produce(log, 7, 1)
  log.roll()
  produce(log, 8, 0)
  await log.truncateTo(1)
  assert.deepEqual(filesOf(directory, '.snapshot'), ['00000000000000000001.snapshot'])
  assert.equal(typeof log.producers.check(7, 0, 0, 1), 'object')
  assert.equal(log.producers.check(7, 0, 1, 1), 'append')
  assert.equal(log.producers.check(8, 0, 5, 1), 'append')
})

test('a snapshot too large to be one is left aside', async (t) => {
  const directory = temporaryDirectory(t)
  const first = await open(t, directory)
  append(first, 'a')
  await first.close()
  const path = join(directory, '00000000000000000001.snapshot')
  truncateSync(path, 300 * 1024 * 1024)
  const log = await open(t, directory, { clean: true })
  assert.deepEqual(values(log), ['a'])
})
