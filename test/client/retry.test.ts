import assert from 'node:assert/strict'
import { test } from 'node:test'
import { BrokerError } from '../../src/client/errors.js'
import { retrying } from '../../src/client/retry.js'
import { SimEnv } from '../support/sim-env.js'

const moved = () => new BrokerError(6, 'x')

test('an attempt that fails for the moment is made again until it succeeds', async () => {
  const env = new SimEnv()
  let attempts = 0
  const failures: unknown[] = []
  const attempt = async () => {
    attempts++
    if (attempts < 4) throw moved()
    return attempts
  }
  const failed = (error: unknown) => failures.push(error)
  const done = retrying(attempt, { env, timeoutMs: 10_000, failed })
  await env.advance(1000)
  assert.equal(await done, 4)
  assert.equal(failures.length, 3)
})

test('a refusal is final', async () => {
  let attempts = 0
  const attempt = async () => {
    attempts++
    throw new BrokerError(17, 'x')
  }
  const options = { env: new SimEnv(), timeoutMs: 10_000 }
  await assert.rejects(retrying(attempt, options), { kafkaCode: 17 })
  assert.equal(attempts, 1)
})

test('when the time is up the last failure is told, and pauses are a second at most', async () => {
  const env = new SimEnv()
  let attempts = 0
  const attempt = async () => {
    attempts++
    throw moved()
  }
  const done = assert.rejects(retrying(attempt, { env, timeoutMs: 5000 }), { kafkaCode: 6 })
  await env.advance(10_000)
  await done
  assert.ok(attempts >= 8 && attempts <= 20, `${attempts} attempts`)
  assert.equal(env.timers, 0)
})
