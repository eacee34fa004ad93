/**
 * Calls of the system that fail under a log that is at work: which error the user gets, and that
 * the log is whole afterwards.
 */
import assert from 'node:assert/strict'
import { constants } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { temporaryDirectory } from '../support/tmp.js'
import { emptyTally, type RoundOptions, round } from './round.js'
import type { Scenario } from './scenario.js'
import { kinds } from './shim.js'

const { EIO, ENOSPC, EMFILE } = constants.errno

const quiet = { durable: 0, flush: 0, roll: 0, pause: 0.01, truncate: 0, deleteBefore: 0 }

/** Appends of up to 500 bytes to segments of 4,000, closed at the end. */
const changes: Partial<Scenario> = {
  options: { segmentBytes: 4000, indexIntervalBytes: 200 },
  steps: 60,
  chances: quiet,
  recordsMax: 3,
  valueBytesMax: 300,
  codecs: ['none'],
  closes: true,
}

/** What a writer met on a disk with this plan; what it left has been judged. */
async function met(
  t: TestContext,
  kind: string,
  plan: NonNullable<RoundOptions['plan']>,
  more: Partial<Scenario> = {},
  powerCuts = 0,
) {
  const tally = emptyTally()
  const history = await round(8, join(temporaryDirectory(t), 'disk'), tally, {
    plan: { kind: kinds.indexOf(kind), at: 1, snap: 0, rare: 0.02, snaps: 3, ...plan },
    changes: { ...changes, ...more },
    powerCuts,
  })
  assert.ok(tally.faults > 0, 'the fault did not come about')
  return history
}

test('a write that is short is taken up again, and nobody notices', async (t) => {
  const { failures, closed } = await met(t, 'write', { at: 3, times: 20, errno: 0, only: '.log' })
  assert.deepEqual(failures, [])
  assert.ok(closed)
})

test('a write that fails rejects its append and fences the log until it is opened', async (t) => {
  const { failures, closed } = await met(t, 'write', { at: 20, errno: EIO, only: '.log' })
  const [first, ...later] = failures
  assert.equal(first, 'IO')
  assert.ok(later.length >= 5)
  for (const code of later) assert.equal(code, 'FENCED')
  assert.ok(!closed, 'a stop that is not clean says so')
})

test('a full disk rejects an append, and takes one again when there is room', async (t) => {
  const { failures, acknowledged, closed } = await met(t, 'write', {
    at: 20,
    times: 3,
    errno: ENOSPC,
    only: '.log',
  })
  assert.deepEqual(failures, ['NO_SPACE', 'NO_SPACE', 'NO_SPACE'])
  assert.ok(acknowledged[0]!.to > 60)
  assert.ok(closed)
})

test('indexes that cannot be written fail no append', async (t) => {
  const full = { errno: ENOSPC, times: 1_000_000, only: 'index' }
  const { failures, closed } = await met(t, 'write', full)
  assert.deepEqual(failures, [])
  assert.ok(closed)
})

test('a roll that finds no descriptor once gets that of another file', async (t) => {
  const { failures, closed } = await met(t, 'open', { at: 3, errno: EMFILE, only: '.log' })
  assert.deepEqual(failures, [])
  assert.ok(closed)
})

test('a segment that cannot be made rejects appends until it can be, no longer', async (t) => {
  const few = { at: 3, times: 12, errno: EMFILE, only: '.log' }
  const { failures, closed, acknowledged } = await met(t, 'open', few)
  assert.ok(failures.length > 0)
  for (const code of failures) assert.equal(code, 'TOO_MANY_FILES')
  assert.ok(acknowledged[0]!.to > 30)
  assert.ok(closed)
})

test('a segment that could not be made does not come back with a loss of power', async (t) => {
  const few = { at: 3, times: 6, errno: ENOSPC, only: 'index', snap: 0.05, snaps: 12 }
  const chances = { ...quiet, durable: 0.4, roll: 0.3 }
  const { failures } = await met(t, 'truncate', few, { chances, steps: 40 }, 6)
  assert.ok(failures.includes('NO_SPACE'))
  for (const code of failures) assert.equal(code, 'NO_SPACE')
})

test('a segment whose files cannot be made for an unknown reason fences the log', async (t) => {
  const { failures } = await met(t, 'truncate', { at: 3, errno: EIO, only: 'index' })
  assert.ok(failures.length >= 5, 'one call alone was made to fail')
  for (const code of failures) assert.ok(code === 'IO' || code === 'FENCED', code)
})

test('a sync that fails is told to whom it was promised, and fences the log', async (t) => {
  const chances = { ...quiet, durable: 1 }
  const { failures, durable } = await met(
    t,
    'sync',
    { at: 5, errno: EIO, only: '.log' },
    { chances },
  )
  assert.ok(failures.length >= 5)
  for (const code of failures) assert.ok(code === 'IO' || code === 'FENCED', code)
  assert.ok((durable[0]?.to ?? 0) > 0)
})
