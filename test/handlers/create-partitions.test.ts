import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createPartitions } from '../../src/apis/create-partitions.js'
import { batchOf, createTopic, describeTopic, produceTo, startBroker } from '../support/broker.js'
import { temporaryDirectory } from '../support/tmp.js'
import type { Wire } from '../support/wire.js'

interface Wish {
  name?: string
  count: number
  assignments?: { brokerIds: number[] }[] | null
}

async function grow(wire: Wire, wishes: Wish[], options = {}, version = 3) {
  const topics = wishes.map((wish) => ({ name: 't', assignments: null, ...wish }))
  const body = { topics, timeoutMs: 1000, validateOnly: false, ...options }
  const { results } = await wire.call(createPartitions, version, body)
  return results.map(({ name, errorCode }) => [name, errorCode])
}

async function partitionsOf(wire: Wire): Promise<number> {
  return (await describeTopic(wire, 't')).partitions.length
}

test('a topic grows, serves its new partitions at once, and after a restart', async (t) => {
  const dataDir = temporaryDirectory(t)
  const { broker, wire } = await startBroker(t, { dataDir })
  await createTopic(wire, 't')
  for (const version of [0, 1, 2, 3]) {
    const count = version + 2
    assert.deepEqual(await grow(wire, [{ count }], {}, version), [['t', 0]])
    const answer = await produceTo(wire, 't', batchOf('a'), { partition: count - 1 })
    assert.deepEqual([answer.errorCode, answer.baseOffset], [0, 0])
  }
  await broker.close()
  const again = await startBroker(t, { dataDir })
  assert.equal(await partitionsOf(again.wire), 5)
  const answer = await produceTo(again.wire, 't', batchOf('a'), { partition: 4 })
  assert.deepEqual([answer.errorCode, answer.baseOffset], [0, 1])
})

test('validateOnly says what would be, and makes nothing', async (t) => {
  const { wire } = await startBroker(t)
  await createTopic(wire, 't')
  const only = { validateOnly: true }
  assert.deepEqual(await grow(wire, [{ count: 3 }], only), [['t', 0]])
  assert.deepEqual(await grow(wire, [{ count: 1 }], only), [['t', 37]])
  assert.equal(await partitionsOf(wire), 1)
})

test('a count that is no increase, or too many, is refused', async (t) => {
  const { wire } = await startBroker(t)
  await createTopic(wire, 't', { partitions: 2 })
  for (const count of [2, 1, 0, -1, 10_001]) {
    assert.deepEqual(await grow(wire, [{ count }]), [['t', 37]])
  }
  assert.equal(await partitionsOf(wire), 2)
})

test('an assignment names this broker once for each new partition', async (t) => {
  const { wire } = await startBroker(t)
  await createTopic(wire, 't')
  const wrong = [[], [[0], [0]], [[]], [[9]], [[0, 0]]]
  for (const ids of wrong) {
    const assignments = ids.map((brokerIds) => ({ brokerIds }))
    assert.deepEqual(await grow(wire, [{ count: 2, assignments }]), [['t', 39]])
  }
  const assignments = [{ brokerIds: [0] }]
  assert.deepEqual(await grow(wire, [{ count: 2, assignments }]), [['t', 0]])
})

test('each topic is answered for itself: unknown, named twice, or made', async (t) => {
  const { wire } = await startBroker(t)
  await createTopic(wire, 't')
  await createTopic(wire, 'u')
  const wishes = [{ count: 2 }, { name: 'nix', count: 2 }, { name: 'u', count: 2 }, { count: 3 }]
  assert.deepEqual(await grow(wire, wishes), [
    ['t', 42],
    ['nix', 3],
    ['u', 0],
  ])
})

test('without time there is no growth', async (t) => {
  const { wire } = await startBroker(t)
  await createTopic(wire, 't')
  assert.deepEqual(await grow(wire, [{ count: 2 }], { timeoutMs: 0 }), [['t', 7]])
  assert.equal(await partitionsOf(wire), 1)
})
