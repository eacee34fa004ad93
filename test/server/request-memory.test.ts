import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Holder, LITTLE_BYTES, RequestMemory } from '../../src/server/request-memory.js'
import { SimEnv } from '../support/sim-env.js'

const MIB = 1 << 20

class Fake implements Holder {
  heldBytes = 0
  activeAtMs = 0
  held = false
  evicted = false

  constructor(
    readonly memory: RequestMemory,
    readonly env: SimEnv,
    readonly wantedBytes: number,
  ) {}

  receive(bytes: number): void {
    assert.equal(this.held, false, 'a connection that is held is not read')
    this.heldBytes += bytes
    this.activeAtMs = this.env.monotonic()
    this.memory.changed(this)
  }

  answered(): void {
    this.heldBytes = 0
    this.memory.changed(this)
  }

  hold(held: boolean): void {
    this.held = held
  }

  evict(): void {
    this.evicted = true
    this.memory.gone(this)
  }
}

function scene(maxBytes = 10 * MIB) {
  const env = new SimEnv()
  const memory = new RequestMemory(maxBytes, env)
  return { env, memory, client: (wanted: number) => new Fake(memory, env, wanted) }
}

test('below the bound nobody is held', () => {
  const { client } = scene()
  const clients = [client(5 * MIB), client(5 * MIB)]
  for (const each of clients) each.receive(5 * MIB)
  assert.deepEqual(
    clients.map(({ held }) => held),
    [false, false],
  )
})

test('above it all are held but the one with the smallest request, and those with little', () => {
  const { client, memory } = scene()
  const [large, larger, small, little] = [
    client(90 * MIB),
    client(95 * MIB),
    client(2 * MIB),
    client(100),
  ]
  large.receive(6 * MIB)
  little.receive(LITTLE_BYTES)
  small.receive(MIB)
  larger.receive(6 * MIB)
  assert.deepEqual(
    [large, larger, small, little].map(({ held }) => held),
    [true, true, false, false],
  )
  assert.equal(memory.totalBytes, 13 * MIB + LITTLE_BYTES)
})

test('those that were held are read again when enough was answered', () => {
  const { client } = scene()
  const [first, second] = [client(20 * MIB), client(8 * MIB)]
  first.receive(6 * MIB)
  second.receive(5 * MIB)
  assert.deepEqual([first.held, second.held], [true, false])
  second.answered()
  assert.deepEqual([first.held, second.held], [false, false])
})

test('one that may get on and is silent is closed, and the next one gets on', async () => {
  const { env, client } = scene()
  const [silent, waiting] = [client(7 * MIB), client(8 * MIB)]
  silent.receive(6 * MIB)
  waiting.receive(6 * MIB)
  await env.advance(4000)
  assert.equal(silent.evicted, false)
  await env.advance(3000)
  assert.deepEqual([silent.evicted, waiting.evicted, waiting.held], [true, false, false])
  waiting.receive(2 * MIB)
  await env.advance(60_000)
  assert.equal(waiting.evicted, false)
})

test('one that gets on and goes on sending stays', async () => {
  const { env, client } = scene()
  const [slow, waiting] = [client(12 * MIB), client(20 * MIB)]
  slow.receive(6 * MIB)
  waiting.receive(6 * MIB)
  for (let second = 0; second < 60; second++) {
    slow.receive(1000)
    await env.advance(1000)
  }
  assert.deepEqual([slow.evicted, waiting.held], [false, true])
})

test('without a bound nothing is counted, and closing leaves no timer', () => {
  const unbound = scene(-1)
  unbound.client(MIB).receive(MIB)
  assert.equal(unbound.memory.totalBytes, 0)
  const { env, memory, client } = scene(MIB)
  client(9 * MIB).receive(2 * MIB)
  assert.equal(env.timers, 1)
  memory.close()
  assert.equal(env.timers, 0)
})
