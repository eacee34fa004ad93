import assert from 'node:assert/strict'
import { test } from 'node:test'
import { KafkaError } from '../../src/errors.js'
import { bytes, groupId, Scene, text } from './scene.js'

const protocol = (name: string, metadata = 'topics') => ({ name, metadata: bytes(metadata) })

test('a member without an id is given one and joins again with it', async () => {
  const scene = new Scene()
  const first = await scene.join({ requireKnownMemberId: true })
  assert.equal(first.answer.errorCode, KafkaError.MEMBER_ID_REQUIRED)
  const { memberId } = first.answer
  const second = await scene.join({ requireKnownMemberId: true, memberId })
  assert.equal(second.answer.errorCode, KafkaError.NONE)
  assert.equal(second.answer.memberId, memberId)
  assert.equal(second.answer.generationId, 1)
})

test('a hundred joins without an id make no member, and then one', async () => {
  const scene = new Scene()
  for (let count = 0; count < 100; count++) await scene.join({ requireKnownMemberId: true })
  assert.deepEqual(scene.members, [])
  assert.equal(scene.state, 'Empty')
  const { leader } = await scene.stable(1, { memberId: (await last(scene)).memberId })
  assert.deepEqual(scene.members, [leader])
  await scene.keepAlive(12_000, [leader], 1)
  assert.deepEqual(scene.members, [leader])
  assert.equal(scene.state, 'Stable')
})

async function last(scene: Scene) {
  return (await scene.join({ requireKnownMemberId: true })).answer
}

test('an id that was given out and not used expires with the session timeout', async () => {
  const scene = new Scene()
  const { answer } = await scene.join({ requireKnownMemberId: true })
  const timers = scene.env.timers
  await scene.env.advance(10_000)
  assert.equal(scene.env.timers, timers - 1)
  const late = await scene.join({ memberId: answer.memberId })
  assert.equal(late.answer.errorCode, KafkaError.UNKNOWN_MEMBER_ID)
})

test('a rebalance waits for an id that was given out until it is used', async () => {
  const scene = new Scene()
  const { leader } = await scene.stable()
  const { answer } = await scene.join({ requireKnownMemberId: true })
  const again = await scene.join({ memberId: leader })
  assert.equal(again.parked, true)
  const second = await scene.join({ memberId: answer.memberId })
  assert.equal(again.answer.generationId, 2)
  assert.equal(second.answer.generationId, 2)
})

test('a rebalance waits for an id that was given out until it expires', async () => {
  const scene = new Scene()
  const { leader } = await scene.stable()
  await scene.join({ requireKnownMemberId: true })
  const again = await scene.join({ memberId: leader })
  await scene.env.advance(10_000)
  assert.equal(again.answer.errorCode, KafkaError.NONE)
  assert.deepEqual(scene.members, [leader])
})

test('a pending member can leave', async () => {
  const scene = new Scene()
  const { leader } = await scene.stable()
  const { answer } = await scene.join({ requireKnownMemberId: true })
  const again = await scene.join({ memberId: leader })
  assert.equal(await scene.leave(answer.memberId), KafkaError.NONE)
  assert.equal(again.parked, false)
})

test('a session timeout outside the bounds is refused, and one at them is not', async () => {
  const scene = new Scene()
  for (const sessionTimeoutMs of [5_999, 1_800_001]) {
    const { answer } = await scene.join({ sessionTimeoutMs })
    assert.equal(answer.errorCode, KafkaError.INVALID_SESSION_TIMEOUT)
  }
  for (const sessionTimeoutMs of [6_000, 1_800_000]) {
    const { answer } = await scene.join({ sessionTimeoutMs, groupId: `g${sessionTimeoutMs}` })
    assert.equal(answer.errorCode, KafkaError.NONE)
  }
})

test('no protocols, or no protocol type, are inconsistent', async () => {
  const scene = new Scene()
  for (const given of [{ protocols: [] }, { protocolType: '' }]) {
    const { answer } = await scene.join(given)
    assert.equal(answer.errorCode, KafkaError.INCONSISTENT_GROUP_PROTOCOL)
  }
  assert.equal(scene.state, 'Dead')
})

test('another protocol type, or no protocol in common, is inconsistent', async () => {
  const scene = new Scene()
  await scene.stable()
  for (const given of [{ protocolType: 'connect' }, { protocols: [protocol('sticky')] }]) {
    const { answer } = await scene.join(given)
    assert.equal(answer.errorCode, KafkaError.INCONSISTENT_GROUP_PROTOCOL)
  }
  assert.equal(scene.state, 'Stable')
})

test('an empty group takes any protocol', async () => {
  const scene = new Scene()
  const { leader } = await scene.stable()
  await scene.leave(leader)
  const { answer } = await scene.join({ protocolType: 'connect', protocols: [protocol('x')] })
  assert.equal(answer.protocolType, 'connect')
  assert.equal(answer.protocolName, 'x')
})

test('the protocol with most votes among those that all speak is chosen', async () => {
  const scene = new Scene({ 'group.initial.rebalance.delay.ms': '1000' })
  const joins = [
    await scene.join({ protocols: [protocol('only mine'), protocol('a'), protocol('b')] }),
    await scene.join({ protocols: [protocol('b', 'from the second'), protocol('a')] }),
    await scene.join({ protocols: [protocol('b'), protocol('a')] }),
  ]
  await scene.env.advance(2_000)
  for (const { answer } of joins) assert.equal(answer.protocolName, 'b')
  assert.equal(text(joins[0]?.answer.members[1]?.metadata ?? bytes('')), 'from the second')
})

test('of protocols with equal votes the one of the first member is chosen', async () => {
  const scene = new Scene({ 'group.initial.rebalance.delay.ms': '1000' })
  const first = await scene.join({ protocols: [protocol('b'), protocol('a')] })
  await scene.join({ protocols: [protocol('a'), protocol('b')] })
  await scene.env.advance(2_000)
  assert.equal(first.answer.protocolName, 'b')
})

test('metadata does not change with the buffer that it came in', async () => {
  const scene = new Scene()
  const { leader } = await scene.stable()
  const metadata = bytes('topics')
  await scene.join({ protocols: [{ name: 'range', metadata }] })
  metadata.fill(0)
  const { answer } = await scene.join({ memberId: leader })
  assert.equal(text(answer.members[1]?.metadata ?? bytes('')), 'topics')
})

test('a follower that joins again unchanged is answered at once', async () => {
  const scene = new Scene()
  const { leader, followers, generation } = await scene.stable(2)
  const { answer } = await scene.join({ memberId: followers[0] ?? '' })
  assert.equal(answer.generationId, generation)
  assert.equal(answer.leader, leader)
  assert.equal(scene.state, 'Stable')
})

test('a follower with other metadata makes a rebalance', async () => {
  const scene = new Scene()
  const { followers } = await scene.stable(2)
  const protocols = [protocol('range', 'other topics')]
  const { parked } = await scene.join({ memberId: followers[0] ?? '', protocols })
  assert.equal(parked, true)
  assert.equal(scene.state, 'PreparingRebalance')
})

test('a leader that joins again makes a rebalance', async () => {
  const scene = new Scene()
  const { leader } = await scene.stable(2)
  assert.equal((await scene.join({ memberId: leader })).parked, true)
  assert.equal(scene.state, 'PreparingRebalance')
})

test('a join that is repeated while the assignment is awaited gets the same answer', async () => {
  const scene = new Scene()
  const { answer } = await scene.join()
  const again = await scene.join({ memberId: answer.memberId })
  assert.deepEqual(again.answer, answer)
})

test('other metadata while the assignment is awaited sends everybody back to join', async () => {
  const scene = new Scene()
  const { leader } = await scene.stable()
  const second = await scene.join()
  await scene.join({ memberId: leader })
  const waiting = await scene.sync(second.answer.memberId, 2)
  await scene.join({ memberId: leader, protocols: [protocol('range', 'other')] })
  assert.equal(waiting.answer.errorCode, KafkaError.REBALANCE_IN_PROGRESS)
})

test('a join that is repeated while it is parked leaves one parked', async () => {
  const scene = new Scene()
  const { leader } = await scene.stable(2)
  const first = await scene.join({ memberId: leader })
  const second = await scene.join({ memberId: leader })
  assert.equal(first.answer.errorCode, KafkaError.REBALANCE_IN_PROGRESS)
  assert.equal(second.parked, true)
})

test('a full group takes no further member', async () => {
  const scene = new Scene({ 'group.max.size': '2' })
  const { ids, generation } = await scene.stable(2)
  const { answer } = await scene.join()
  assert.equal(answer.errorCode, KafkaError.GROUP_MAX_SIZE_REACHED)
  assert.equal(await scene.heartbeat(ids[0] ?? '', generation), KafkaError.NONE)
})

test('an id that is never used keeps nobody out of a group that has room', async () => {
  const scene = new Scene({ 'group.max.size': '2' })
  for (let lost = 0; lost < 5; lost++) {
    const { answer } = await scene.join({ requireKnownMemberId: true })
    assert.equal(answer.errorCode, KafkaError.MEMBER_ID_REQUIRED)
  }
  const { answer } = await scene.join({ requireKnownMemberId: true })
  const joined = await scene.join({ requireKnownMemberId: true, memberId: answer.memberId })
  assert.equal(joined.answer.errorCode, KafkaError.NONE)
})

test('a new member whose client is lost while it waits is dropped at once', async () => {
  const scene = new Scene()
  const { leader } = await scene.stable()
  const connection = new AbortController()
  await scene.join({ signal: connection.signal })
  const again = await scene.join({ memberId: leader, rebalanceTimeoutMs: 300_000 })
  assert.equal(again.parked, false)
  const lost = new AbortController()
  const third = await scene.join({ signal: lost.signal })
  lost.abort()
  await scene.env.advance(0)
  assert.equal(third.answer.errorCode, KafkaError.UNKNOWN_MEMBER_ID)
  assert.equal(scene.members.length, 2)
})

test('a known member whose client is lost while it waits may come back', async () => {
  const scene = new Scene()
  const { leader, followers } = await scene.stable(2)
  const connection = new AbortController()
  await scene.join({ memberId: leader, signal: connection.signal })
  connection.abort()
  const follower = await scene.join({ memberId: followers[0] ?? '' })
  assert.equal(follower.parked, true)
  const back = await scene.join({ memberId: leader })
  assert.equal(back.answer.errorCode, KafkaError.NONE)
  assert.equal(follower.answer.leader, leader)
})

test('a known member whose client is lost for good is dropped after its session', async () => {
  const scene = new Scene()
  const { leader, followers } = await scene.stable(2)
  const connection = new AbortController()
  await scene.join({ memberId: leader, signal: connection.signal })
  const [other = ''] = followers
  connection.abort()
  const follower = await scene.join({ memberId: other })
  await scene.env.advance(10_000)
  assert.equal(follower.answer.leader, other)
  assert.deepEqual(scene.members, [other])
})

test('an answered join leaves no listener at the connection', async () => {
  const scene = new Scene()
  const connection = new AbortController()
  const { answer } = await scene.join({ signal: connection.signal })
  connection.abort()
  assert.deepEqual(scene.members, [answer.memberId])
})

test('a join over a connection that is lost already does nothing', async () => {
  const scene = new Scene()
  await scene.join({ signal: AbortSignal.abort() })
  assert.equal(scene.state, 'Dead')
})

const instance = { groupInstanceId: 'i' }

test('a static member needs no second join', async () => {
  const scene = new Scene()
  const { answer } = await scene.join(instance)
  assert.equal(answer.errorCode, KafkaError.NONE)
  assert.match(answer.memberId, /^i-/)
  assert.equal(answer.members[0]?.groupInstanceId, 'i')
})

test('a static member that returns keeps generation and assignment', async () => {
  const scene = new Scene()
  const { leader, generation } = await scene.stable(1, instance)
  const { answer } = await scene.join(instance)
  assert.equal(answer.errorCode, KafkaError.NONE)
  assert.equal(answer.generationId, generation)
  assert.notEqual(answer.memberId, leader)
  assert.equal(scene.state, 'Stable')
  const synced = await scene.sync(answer.memberId, generation)
  assert.equal(text(synced.answer.assignment), 'part 0')
})

test('a static leader that returns is not told to lead by old versions', async () => {
  const scene = new Scene()
  const { leader } = await scene.stable(1, instance)
  const { answer } = await scene.join(instance)
  assert.equal(answer.leader, leader)
  assert.deepEqual(answer.members, [])
  assert.equal(answer.skipAssignment, false)
})

test('a static leader that returns is told to skip the assignment by new versions', async () => {
  const scene = new Scene()
  await scene.stable(1, instance)
  const { answer } = await scene.join({ ...instance, supportSkippingAssignment: true })
  assert.equal(answer.leader, answer.memberId)
  assert.equal(answer.members.length, 1)
  assert.equal(answer.skipAssignment, true)
})

test('the old id of a static member is fenced', async () => {
  const scene = new Scene()
  const { leader, generation } = await scene.stable(1, instance)
  await scene.join(instance)
  const fenced = KafkaError.FENCED_INSTANCE_ID
  assert.equal(await scene.heartbeat(leader, generation, instance), fenced)
  assert.equal((await scene.sync(leader, generation, instance)).answer.errorCode, fenced)
  assert.equal((await scene.join({ ...instance, memberId: leader })).answer.errorCode, fenced)
  assert.equal(await scene.leave(leader, 'i'), fenced)
  const commit = { ...instance, memberId: leader, generationId: generation }
  assert.equal(await scene.commit(1, commit), fenced)
})

test('an instance id that nobody has is an unknown member', async () => {
  const scene = new Scene()
  const { leader, generation } = await scene.stable()
  assert.equal(await scene.heartbeat(leader, generation, instance), KafkaError.UNKNOWN_MEMBER_ID)
})

test('a static member that returns with other protocols makes a rebalance', async () => {
  const scene = new Scene()
  await scene.stable(1, { ...instance, protocols: [protocol('a'), protocol('b')] })
  const { answer } = await scene.join({ ...instance, protocols: [protocol('b')] })
  assert.equal(answer.generationId, 2)
  assert.equal(answer.protocolName, 'b')
})

test('a static member that returns while its old join is parked fences that', async () => {
  const scene = new Scene()
  await scene.stable()
  const old = await scene.join(instance)
  const fresh = await scene.join(instance)
  assert.equal(old.answer.errorCode, KafkaError.FENCED_INSTANCE_ID)
  assert.equal(fresh.parked, true)
})

test('a static member that returns while the assignment is awaited makes a rebalance', async () => {
  const scene = new Scene()
  const first = await scene.join(instance)
  const again = await scene.join(instance)
  assert.equal(again.answer.generationId, first.answer.generationId + 1)
  assert.equal(again.answer.leader, again.answer.memberId)
})

test('a static member that returns before its sync is not dropped for its old id', async () => {
  const scene = new Scene()
  const { leader } = await scene.stable()
  await scene.join(instance)
  await scene.join({ memberId: leader })
  await scene.sync(leader, 2)
  const { answer } = await scene.join(instance)
  await scene.sync(answer.memberId, 2)
  await scene.keepAlive(61_000, [leader, answer.memberId], 2)
  assert.equal(scene.state, 'Stable')
})

test('a static member is dropped by its session like any other', async () => {
  const scene = new Scene()
  await scene.stable(1, instance)
  await scene.env.advance(10_000)
  assert.equal(scene.state, 'Empty')
})

test('a static member that is late to join keeps its place', async () => {
  const scene = new Scene()
  const late = await scene.join({ ...instance, sessionTimeoutMs: 300_000 })
  await scene.sync(late.answer.memberId, 1)
  const fresh = await scene.join({ sessionTimeoutMs: 300_000 })
  await scene.env.advance(60_000)
  assert.equal(fresh.answer.leader, fresh.answer.memberId)
  assert.deepEqual(scene.members, [late.answer.memberId, fresh.answer.memberId])
})

test('a static member is removed by its instance id alone', async () => {
  const scene = new Scene()
  await scene.stable(1, instance)
  assert.equal(await scene.leave('', 'i'), KafkaError.NONE)
  assert.equal(scene.state, 'Empty')
  assert.equal(await scene.leave('', 'i'), KafkaError.UNKNOWN_MEMBER_ID)
})

test('a leave without any id removes nobody', async () => {
  const scene = new Scene()
  await scene.stable()
  assert.equal(await scene.leave(''), KafkaError.UNKNOWN_MEMBER_ID)
  assert.equal(scene.coordinator.describeGroup(groupId).members.length, 1)
})
