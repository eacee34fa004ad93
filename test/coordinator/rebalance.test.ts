import assert from 'node:assert/strict'
import { test } from 'node:test'
import { KafkaError } from '../../src/errors.js'
import { bytes, Scene } from './scene.js'

test('an empty group waits for more members where a delay is set', async () => {
  const scene = new Scene({ 'group.initial.rebalance.delay.ms': '3000' })
  const first = await scene.join()
  await scene.env.advance(2_999)
  assert.equal(first.parked, true)
  const second = await scene.join()
  await scene.env.advance(1)
  assert.equal(first.parked, true)
  await scene.env.advance(3_000)
  assert.equal(first.answer.members.length, 2)
  assert.equal(second.answer.generationId, 1)
})

test('new members prolong the delay up to the rebalance timeout and no further', async () => {
  const scene = new Scene({ 'group.initial.rebalance.delay.ms': '3000' })
  const first = await scene.join({ rebalanceTimeoutMs: 10_000 })
  for (let passed = 0; passed < 10_000; passed += 1_000) {
    assert.equal(first.parked, true)
    await scene.join({ rebalanceTimeoutMs: 10_000 })
    await scene.env.advance(1_000)
  }
  assert.equal(first.answer.errorCode, KafkaError.NONE)
})

test('a member that does not join again is dropped after the rebalance timeout', async () => {
  const scene = new Scene()
  const { leader, followers, generation } = await scene.stable(2)
  const again = await scene.join({ memberId: leader })
  await scene.keepAlive(59_999, followers, generation)
  assert.equal(again.parked, true)
  await scene.env.advance(1)
  assert.equal(again.answer.generationId, generation + 1)
  assert.deepEqual(scene.members, [leader])
})

test('the longest rebalance timeout of the members counts', async () => {
  const scene = new Scene()
  const { leader } = await scene.stable(1, { sessionTimeoutMs: 300_000 })
  const second = await scene.join({ rebalanceTimeoutMs: 90_000 })
  await scene.env.advance(89_999)
  assert.equal(second.parked, true)
  await scene.env.advance(1)
  assert.equal(second.answer.leader, second.answer.memberId)
  assert.equal(scene.members.includes(leader), false)
})

test('another one leads where the leader did not join again', async () => {
  const scene = new Scene()
  const { leader, followers } = await scene.stable(2)
  const [other = ''] = followers
  const protocols = [{ name: 'range', metadata: bytes('other') }]
  const again = await scene.join({ memberId: other, protocols })
  await scene.env.advance(60_000)
  assert.equal(again.answer.leader, other)
  assert.equal(scene.members.includes(leader), false)
})

test('a leader that never syncs is dropped and the others join again', async () => {
  const scene = new Scene()
  const { leader } = await scene.stable()
  const second = await scene.join()
  await scene.join({ memberId: leader })
  const { memberId } = second.answer
  const waiting = await scene.sync(memberId, 2)
  await scene.keepAlive(59_999, [leader], 2)
  assert.equal(waiting.parked, true)
  await scene.env.advance(1)
  assert.equal(waiting.answer.errorCode, KafkaError.REBALANCE_IN_PROGRESS)
  const again = await scene.join({ memberId })
  assert.equal(again.answer.leader, memberId)
  assert.deepEqual(scene.members, [memberId])
})

test('a follower that never syncs is dropped though it sends heartbeats', async () => {
  const scene = new Scene()
  const { leader } = await scene.stable()
  const second = await scene.join()
  await scene.join({ memberId: leader })
  await scene.sync(leader, 2)
  const { memberId } = second.answer
  await scene.keepAlive(60_000, [leader, memberId], 2)
  assert.equal(await scene.heartbeat(memberId, 2), KafkaError.UNKNOWN_MEMBER_ID)
  assert.equal(await scene.heartbeat(leader, 2), KafkaError.REBALANCE_IN_PROGRESS)
})

test('a group where everybody has synced stays stable beyond the rebalance timeout', async () => {
  const scene = new Scene()
  const { ids, generation } = await scene.stable(3)
  await scene.keepAlive(130_000, ids, generation)
  assert.equal(scene.state, 'Stable')
})

test('a member that waits for a rebalance is not dropped by its session', async () => {
  const scene = new Scene()
  const { leader, followers, generation } = await scene.stable(2)
  const again = await scene.join({ memberId: leader })
  await scene.keepAlive(30_000, followers, generation)
  assert.equal(again.parked, true)
  await scene.join({ memberId: followers[0] ?? '' })
  assert.equal(again.answer.errorCode, KafkaError.NONE)
})

test('a member that waited for a rebalance has a whole session after it', async () => {
  const scene = new Scene()
  const { leader, followers, generation } = await scene.stable(2)
  await scene.join({ memberId: leader })
  await scene.keepAlive(30_000, followers, generation)
  await scene.join({ memberId: followers[0] ?? '' })
  await scene.env.advance(9_999)
  assert.equal(scene.members.length, 2)
  await scene.env.advance(1)
  assert.equal(scene.members.length, 0)
})

test('a member that waited long for its assignment has a whole session after it', async () => {
  const scene = new Scene()
  const { leader } = await scene.stable()
  const second = await scene.join()
  await scene.join({ memberId: leader })
  const { memberId } = second.answer
  const waiting = await scene.sync(memberId, 2)
  await scene.keepAlive(30_000, [leader], 2)
  await scene.sync(leader, 2)
  assert.equal(waiting.answer.errorCode, KafkaError.NONE)
  await scene.keepAlive(9_999, [leader], 2)
  assert.equal(scene.members.includes(memberId), true)
  await scene.env.advance(1)
  assert.equal(scene.members.includes(memberId), false)
})

test('a new member that waits is dropped after five minutes', async () => {
  const scene = new Scene()
  const { leader, generation } = await scene.stable(1, { rebalanceTimeoutMs: 600_000 })
  const fresh = await scene.join()
  await scene.keepAlive(299_999, [leader], generation)
  assert.equal(fresh.parked, true)
  await scene.env.advance(1)
  assert.equal(fresh.answer.errorCode, KafkaError.UNKNOWN_MEMBER_ID)
  assert.deepEqual(scene.members, [leader])
})

test('a rebalance timeout of 0 counts as the session timeout', async () => {
  const scene = new Scene()
  const { leader } = await scene.stable(1, { rebalanceTimeoutMs: 0 })
  await scene.env.advance(5_000)
  assert.equal(await scene.heartbeat(leader, 1), KafkaError.NONE)
  const second = await scene.join({ rebalanceTimeoutMs: 0 })
  await scene.env.advance(9_999)
  assert.equal(second.parked, true)
  await scene.env.advance(1)
  assert.equal(second.answer.errorCode, KafkaError.NONE)
})

test('a client that is lost while it waits for its part is dropped in time', async () => {
  const scene = new Scene()
  const { leader } = await scene.stable()
  const second = await scene.join()
  await scene.join({ memberId: leader })
  const connection = new AbortController()
  const { memberId } = second.answer
  const waiting = await scene.sync(memberId, 2, { signal: connection.signal })
  connection.abort()
  await scene.env.advance(0)
  assert.equal(waiting.parked, false)
  await scene.keepAlive(10_000, [leader], 2)
  assert.deepEqual(scene.members, [leader])
})

test('a rebalance of static members that are all away waits until one returns', async () => {
  const scene = new Scene()
  const instance = { groupInstanceId: 'i', sessionTimeoutMs: 300_000 }
  const first = await scene.join(instance)
  await scene.sync(first.answer.memberId, 1)
  const connection = new AbortController()
  await scene.join({ signal: connection.signal })
  connection.abort()
  await scene.env.advance(120_000)
  assert.equal(scene.state, 'PreparingRebalance')
  const back = await scene.join(instance)
  assert.equal(back.answer.generationId, 2)
})

test('a rebalance of static members that are all away ends with their sessions', async () => {
  const scene = new Scene()
  const first = await scene.join({ groupInstanceId: 'i', sessionTimeoutMs: 300_000 })
  await scene.sync(first.answer.memberId, 1)
  const connection = new AbortController()
  await scene.join({ signal: connection.signal })
  connection.abort()
  await scene.env.advance(300_000)
  assert.equal(scene.state, 'Empty')
})

test('random comings and goings end in a stable group of those who are there', async () => {
  for (let seed = 1; seed <= 40; seed++) await runRandomly(seed)
})

/** A consumer as clients are: it joins, syncs, sends heartbeats, and joins again when told. */
class Consumer {
  alive = true
  memberId = ''
  generation = -1
  owned = ''
  #busy = false
  readonly #scene: Scene

  constructor(scene: Scene) {
    this.#scene = scene
  }

  tick() {
    if (this.#busy || !this.alive) return
    this.#busy = true
    const step = this.generation < 0 ? this.#join() : this.#beat()
    void step.then(() => {
      this.#busy = false
    }, assert.fail)
  }

  async #beat() {
    const error = await this.#scene.heartbeat(this.memberId, this.generation)
    if (error !== KafkaError.NONE) this.#reset(error)
  }

  async #join() {
    const joined = await this.#scene.join({
      memberId: this.memberId,
      requireKnownMemberId: true,
      rebalanceTimeoutMs: 20_000,
    })
    while (joined.parked) await new Promise((resolve) => setImmediate(resolve))
    const { errorCode, memberId, generationId, members } = joined.answer
    if (errorCode !== KafkaError.NONE) return this.#reset(errorCode, memberId)
    const parts = Object.fromEntries(members.map((member) => [member.memberId, member.memberId]))
    const synced = await this.#scene.sync(memberId, generationId, { parts })
    while (synced.parked) await new Promise((resolve) => setImmediate(resolve))
    if (synced.answer.errorCode !== KafkaError.NONE) return this.#reset(synced.answer.errorCode)
    this.owned = Buffer.from(synced.answer.assignment).toString()
    this.generation = generationId
  }

  #reset(error: number, memberId = this.memberId) {
    this.memberId = error === KafkaError.UNKNOWN_MEMBER_ID ? '' : memberId
    this.generation = -1
  }
}

async function runRandomly(seed: number) {
  const scene = new Scene()
  const consumers: Consumer[] = []
  let state = seed
  const below = (limit: number) => {
    state = (Math.imul(state, 1103515245) + 12345) >>> 0
    return (state >>> 8) % limit
  }
  for (let round = 0; round < 30; round++) {
    if (below(3) === 0) consumers.push(new Consumer(scene))
    const some = consumers[below(consumers.length + 3)]
    if (some !== undefined && below(2) === 0) some.alive = false
    for (const consumer of consumers) consumer.tick()
    await scene.env.advance(below(4_000))
  }
  const living = consumers.filter(({ alive }) => alive)
  for (let round = 0; round < 30; round++) {
    for (const consumer of living) consumer.tick()
    await scene.env.advance(2_000)
  }
  const ids = living.map(({ memberId }) => memberId).sort()
  assert.deepEqual([...scene.members].sort(), ids, `members with seed ${seed}`)
  if (living.length > 0) assert.equal(scene.state, 'Stable', `state with seed ${seed}`)
  for (const { owned, memberId } of living) assert.equal(owned, memberId, `seed ${seed}`)
  for (const consumer of consumers) consumer.alive = false
  scene.coordinator.close()
  assert.equal(scene.env.timers, 0, `timers with seed ${seed}`)
}
