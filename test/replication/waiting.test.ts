import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Deadlines } from '../../src/replication/waiting.js'
import { SimEnv } from '../support/sim-env.js'

function fixture() {
  const env = new SimEnv()
  const deadlines = new Deadlines(env)
  const fired: string[] = []
  const after = (ms: number, name: string) => deadlines.after(ms, () => fired.push(name))
  return { env, deadlines, fired, after }
}

test('deadlines fire in the order of their time, not of their making', async () => {
  const { env, fired, after } = fixture()
  after(30, 'c')
  after(10, 'a')
  after(20, 'b')
  await env.advance(15)
  assert.deepEqual(fired, ['a'])
  await env.advance(15)
  assert.deepEqual(fired, ['a', 'b', 'c'])
})

test('a cancelled deadline never fires, and cancelling twice is fine', async () => {
  const { env, fired, after, deadlines } = fixture()
  const first = after(10, 'a')
  after(20, 'b')
  first.cancel()
  first.cancel()
  await env.advance(100)
  assert.deepEqual(fired, ['b'])
  assert.equal(deadlines.size, 0)
})

test('ten thousand deadlines take one timer', async () => {
  const { env, deadlines, after } = fixture()
  for (let i = 0; i < 10_000; i++) after(1000 + (i % 100), 'x')
  assert.equal(deadlines.size, 10_000)
  assert.equal(env.timers, 1)
})

test('the heap equals a sorted list under random making and cancelling', async () => {
  const { env, fired, after } = fixture()
  const model: { atMs: number; name: string }[] = []
  for (let i = 0; i < 2000; i++) {
    const ms = env.random.below(100_000)
    const deadline = after(ms, `${ms}`)
    if (env.random.below(3) === 0) deadline.cancel()
    else model.push({ atMs: ms, name: `${ms}` })
  }
  await env.advance(200_000)
  const expected = model.sort((a, b) => a.atMs - b.atMs).map(({ name }) => name)
  assert.deepEqual(fired, expected)
})

test('a deadline that is made while others fire is kept', async () => {
  const { env, deadlines, fired, after } = fixture()
  deadlines.after(10, () => after(10, 'second'))
  await env.advance(10)
  assert.deepEqual(fired, [])
  await env.advance(10)
  assert.deepEqual(fired, ['second'])
})

test('expireAll calls everyone at once, close calls nobody', async () => {
  const { env, deadlines, fired, after } = fixture()
  after(1000, 'a')
  deadlines.expireAll()
  assert.deepEqual(fired, ['a'])
  after(1000, 'b')
  deadlines.close()
  await env.advance(5000)
  assert.deepEqual(fired, ['a'])
  assert.equal(env.timers, 0)
})
