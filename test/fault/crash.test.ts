/**
 * What a log holds after a crash: a few lives of writers under fixed seeds, each state of them
 * judged as it lay there and after losses of power. `npm run torture` goes on with other seeds.
 */
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { before, test } from 'node:test'
import { temporaryDirectory } from '../support/tmp.js'
import { emptyTally, round } from './round.js'
import { shim } from './shim.js'

before(() => {
  shim()
})

test('a log is a prefix with all that was promised, wherever its writer ends', async (t) => {
  const tally = emptyTally()
  const folder = temporaryDirectory(t)
  const seeds = [101, 102, 103, 104, 105, 106]
  await Promise.all(seeds.map((seed) => round(seed, join(folder, `${seed}`), tally)))
  assert.ok(tally.crashes > 20 && tally.kills > 3)
  assert.ok(tally.durable > 0 && tally.acknowledged > tally.durable)
})

test('a log is a prefix after a crash before each single event of a short life', async (t) => {
  const tally = emptyTally()
  const disk = join(temporaryDirectory(t), 'disk')
  const changes = { steps: 25, closes: true }
  await round(20, disk, tally, { thorough: true, changes })
  assert.ok(tally.crashes > 60)
})
