/** That a broker which syncs before it acknowledges loses nothing when power is lost. */
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { temporaryDirectory } from '../support/tmp.js'
import { brokerRound } from './broker-round.js'

test('with log.flush.interval.messages=1 a loss of power takes nothing acknowledged', async (t) => {
  for (const seed of [1, 2]) {
    const acknowledged = await brokerRound(seed, join(temporaryDirectory(t), 'disk'))
    assert.ok(acknowledged > 0)
  }
})
