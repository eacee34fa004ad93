import assert from 'node:assert/strict'
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { buildBatch } from '../../src/records/encoder.js'
import { LeaderEpochs } from '../../src/storage/leader-epochs.js'
import type { Log } from '../../src/storage/log.js'
import { temporaryDirectory } from '../support/tmp.js'
import { crashCopy, open } from './log-fixture.js'

const FILE = 'leader-epoch-checkpoint'
const three = () =>
  new LeaderEpochs([
    { epoch: 1, startOffset: 0 },
    { epoch: 3, startOffset: 10 },
    { epoch: 4, startOffset: 20 },
  ])

test('an epoch ends where the next one begins, the latest at the end of the log', () => {
  const asked: [number, number, number][] = [
    [-1, -1, -1],
    [0, 0, 0],
    [1, 1, 10],
    [2, 1, 10],
    [3, 3, 20],
    [4, 4, 30],
    [5, -1, -1],
  ]
  for (const [epoch, found, endOffset] of asked) {
    assert.deepEqual(three().endOffsetFor(epoch, 30), { epoch: found, endOffset }, `epoch ${epoch}`)
  }
})

test('the same epoch again changes nothing, a new one is added', () => {
  const epochs = three()
  assert.equal(epochs.assign(4, 25), false)
  assert.equal(epochs.assign(-1, 25), false)
  assert.equal(epochs.assign(6, 25), true)
  assert.equal(epochs.latest, 6)
})

test('an epoch that contradicts later ones takes their place', () => {
  const epochs = three()
  assert.equal(epochs.assign(3, 15), true)
  assert.deepEqual(epochs.entries, [
    { epoch: 1, startOffset: 0 },
    { epoch: 3, startOffset: 15 },
  ])
})

test('a cut at the end forgets epochs that begin there or above', () => {
  const epochs = three()
  assert.equal(epochs.truncateFromEnd(21), false)
  assert.equal(epochs.truncateFromEnd(20), true)
  assert.equal(epochs.latest, 3)
})

test('a cut at the start moves the beginning of the epoch that goes on', () => {
  const epochs = three()
  assert.equal(epochs.truncateFromStart(0), false)
  assert.equal(epochs.truncateFromStart(15), true)
  assert.deepEqual(epochs.entries, [
    { epoch: 3, startOffset: 15 },
    { epoch: 4, startOffset: 20 },
  ])
})

function put(log: Log, epoch: number): void {
  const batch = buildBatch([{ value: 'v' }])
  assert.ok(log.appendFromClient(batch, 0, batch.length, epoch) >= 0)
}

test('epochs are written as they begin, and follow a cut', async (t) => {
  const directory = temporaryDirectory(t)
  const log = await open(t, directory)
  for (const epoch of [0, 0, 2, 5]) put(log, epoch)
  await log.truncateTo(3)
  assert.equal(readFileSync(join(directory, FILE), 'utf8'), '0\n2\n0 0\n2 2\n')
  await log.close()
  const again = await open(t, directory, { clean: true })
  assert.deepEqual(again.epochs.endOffsetFor(0, 3), { epoch: 0, endOffset: 2 })
})

for (const [how, spoil] of Object.entries({
  missing: (path: string) => rmSync(path, { force: true }),
  damaged: (path: string) => writeFileSync(path, 'damaged'),
  'of an earlier epoch': (path: string) => writeFileSync(path, '0\n1\n0 0\n'),
})) {
  test(`epochs are those of the batches where the file is ${how} after a kill`, async (t) => {
    const directory = join(temporaryDirectory(t), 't-0')
    const log = await open(t, directory)
    for (const epoch of [0, 2, 2, 7]) put(log, epoch)
    const copy = crashCopy(directory, join(temporaryDirectory(t), 't-0'))
    spoil(join(copy, FILE))
    const again = await open(t, copy)
    assert.deepEqual(again.epochs.entries, [
      { epoch: 0, startOffset: 0 },
      { epoch: 2, startOffset: 1 },
      { epoch: 7, startOffset: 3 },
    ])
  })
}
