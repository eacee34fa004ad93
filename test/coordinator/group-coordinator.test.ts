import assert from 'node:assert/strict'
import { test } from 'node:test'
import { KafkaError } from '../../src/errors.js'
import { groupId, Scene, text } from './scene.js'

test('a member that joins alone leads and gets what it assigns itself', async () => {
  const scene = new Scene()
  const { answer } = await scene.join()
  assert.equal(answer.errorCode, KafkaError.NONE)
  assert.equal(answer.generationId, 1)
  assert.equal(answer.leader, answer.memberId)
  assert.match(answer.memberId, /^client-[0-9a-f-]{36}$/)
  assert.deepEqual(
    answer.members.map(({ metadata }) => text(metadata)),
    ['topics'],
  )
  assert.equal(scene.state, 'CompletingRebalance')
  const synced = await scene.sync(answer.memberId, 1, { parts: { [answer.memberId]: 'all' } })
  assert.equal(text(synced.answer.assignment), 'all')
  assert.equal(synced.answer.protocolName, 'range')
  assert.equal(scene.state, 'Stable')
})

test('the first assignment needs no waiting time', async () => {
  const scene = new Scene()
  const before = scene.env.now()
  await scene.stable()
  assert.equal(scene.env.now(), before)
})

test('a second member makes one rebalance and one further generation', async () => {
  const scene = new Scene()
  const { leader, generation } = await scene.stable()
  const second = await scene.join()
  assert.equal(second.parked, true)
  assert.equal(await scene.heartbeat(leader, generation), KafkaError.REBALANCE_IN_PROGRESS)
  const first = await scene.join({ memberId: leader })
  assert.equal(first.answer.generationId, generation + 1)
  assert.equal(second.answer.generationId, generation + 1)
  assert.equal(second.answer.leader, leader)
  assert.equal(first.answer.members.length, 2)
  assert.equal(second.answer.members.length, 0)
})

test('followers wait for the assignment of the leader', async () => {
  const scene = new Scene()
  const { leader } = await scene.stable()
  const second = await scene.join()
  await scene.join({ memberId: leader })
  const { memberId } = second.answer
  const follower = await scene.sync(memberId, 2)
  assert.equal(follower.parked, true)
  const parts = { [leader]: 'a', [memberId]: 'b' }
  assert.equal(text((await scene.sync(leader, 2, { parts })).answer.assignment), 'a')
  assert.equal(text(follower.answer.assignment), 'b')
})

test('a follower that syncs late gets its assignment at once', async () => {
  const scene = new Scene()
  const { leader } = await scene.stable()
  const second = await scene.join()
  await scene.join({ memberId: leader })
  const { memberId } = second.answer
  await scene.sync(leader, 2, { parts: { [memberId]: 'b' } })
  assert.equal(text((await scene.sync(memberId, 2)).answer.assignment), 'b')
})

test('a member that the leader left out gets zero bytes', async () => {
  const scene = new Scene()
  const { answer } = await scene.join()
  const synced = await scene.sync(answer.memberId, 1)
  assert.equal(synced.answer.errorCode, KafkaError.NONE)
  assert.equal(synced.answer.assignment.length, 0)
})

test('an assignment does not change with the buffer that it came in', async () => {
  const scene = new Scene()
  const { answer } = await scene.join()
  const buffer = new Uint8Array([1, 2, 3])
  const assignments = [{ memberId: answer.memberId, assignment: buffer }]
  await scene.sync(answer.memberId, 1, { assignments })
  buffer.fill(0)
  const again = await scene.sync(answer.memberId, 1)
  assert.deepEqual([...again.answer.assignment], [1, 2, 3])
})

test('a sync with another protocol than the chosen one is inconsistent', async () => {
  const scene = new Scene()
  const { leader } = await scene.stable()
  const refused = KafkaError.INCONSISTENT_GROUP_PROTOCOL
  const byName = await scene.sync(leader, 1, { protocolName: 'sticky' })
  const byType = await scene.sync(leader, 1, { protocolType: 'connect' })
  assert.deepEqual([byName.answer.errorCode, byType.answer.errorCode], [refused, refused])
  const right = await scene.sync(leader, 1, { protocolType: 'consumer', protocolName: 'range' })
  assert.equal(right.answer.errorCode, KafkaError.NONE)
})

test('a sync during a new rebalance is told so', async () => {
  const scene = new Scene()
  const { leader } = await scene.stable()
  await scene.join()
  const synced = await scene.sync(leader, 1)
  assert.equal(synced.answer.errorCode, KafkaError.REBALANCE_IN_PROGRESS)
})

test('heartbeat and sync of another generation are refused', async () => {
  const scene = new Scene()
  const { leader, generation } = await scene.stable()
  for (const other of [generation - 1, generation + 1, -1]) {
    assert.equal(await scene.heartbeat(leader, other), KafkaError.ILLEGAL_GENERATION)
    const synced = await scene.sync(leader, other)
    assert.equal(synced.answer.errorCode, KafkaError.ILLEGAL_GENERATION)
  }
})

test('heartbeat, sync and leave of an unknown member are refused', async () => {
  const scene = new Scene()
  await scene.stable()
  const synced = await scene.sync('x', 1)
  const errors = [await scene.heartbeat('x', 1), synced.answer.errorCode, await scene.leave('x')]
  assert.deepEqual(errors, Array(3).fill(KafkaError.UNKNOWN_MEMBER_ID))
})

test('every request of a member to an unknown group is of an unknown member', async () => {
  const scene = new Scene()
  const joined = await scene.join({ memberId: 'x' })
  const synced = await scene.sync('x', 1)
  const errors = [
    joined.answer.errorCode,
    synced.answer.errorCode,
    await scene.heartbeat('x', 1),
    await scene.leave('x'),
  ]
  assert.deepEqual(errors, Array(4).fill(KafkaError.UNKNOWN_MEMBER_ID))
  assert.equal(scene.state, 'Dead')
})

test('a heartbeat while the assignment is awaited is fine', async () => {
  const scene = new Scene()
  const { answer } = await scene.join()
  assert.equal(await scene.heartbeat(answer.memberId, 1), KafkaError.NONE)
})

test('a member that is silent for its session timeout is dropped', async () => {
  const scene = new Scene()
  const { ids, leader, generation } = await scene.stable(2)
  const [, follower = ''] = ids
  await scene.env.advance(9_999)
  assert.equal(await scene.heartbeat(leader, generation), KafkaError.NONE)
  await scene.env.advance(1)
  assert.equal(await scene.heartbeat(leader, generation), KafkaError.REBALANCE_IN_PROGRESS)
  assert.equal(await scene.heartbeat(follower, generation), KafkaError.UNKNOWN_MEMBER_ID)
})

test('a member that sends heartbeats stays', async () => {
  const scene = new Scene()
  const { ids, generation } = await scene.stable(2)
  await scene.keepAlive(120_000, ids, generation)
  assert.equal(scene.state, 'Stable')
  assert.deepEqual(scene.members, ids)
})

test('a group whose last member is silent is empty', async () => {
  const scene = new Scene()
  await scene.stable()
  await scene.env.advance(10_000)
  assert.equal(scene.state, 'Empty')
})

test('a leave empties the group at once and is not needed twice', async () => {
  const scene = new Scene()
  const { leader } = await scene.stable()
  assert.equal(await scene.leave(leader), KafkaError.NONE)
  assert.equal(scene.state, 'Empty')
  assert.equal(await scene.leave(leader), KafkaError.UNKNOWN_MEMBER_ID)
})

test('a leave of the leader lets another one lead', async () => {
  const scene = new Scene()
  const { leader, followers } = await scene.stable(2)
  await scene.leave(leader)
  const [other = ''] = followers
  const { answer } = await scene.join({ memberId: other })
  assert.equal(answer.leader, other)
  assert.equal(answer.members.length, 1)
})

test('a leave answers the sync that the member has parked', async () => {
  const scene = new Scene()
  const { leader } = await scene.stable()
  const second = await scene.join()
  await scene.join({ memberId: leader })
  const { memberId } = second.answer
  const parked = await scene.sync(memberId, 2)
  await scene.leave(memberId)
  assert.equal(parked.parked, false)
  assert.equal(parked.answer.errorCode, KafkaError.UNKNOWN_MEMBER_ID)
})

test('a batch of leaves answers each member in its order', async () => {
  const scene = new Scene()
  const { ids } = await scene.stable(2)
  const members = [...ids, 'x'].map((memberId) => ({ memberId, groupInstanceId: null }))
  const answer = await scene.coordinator.leaveGroup({ groupId, members })
  assert.equal(answer.errorCode, KafkaError.NONE)
  assert.deepEqual(
    answer.members.map(({ memberId, errorCode }) => [memberId, errorCode]),
    [
      [ids[0], KafkaError.NONE],
      [ids[1], KafkaError.NONE],
      ['x', KafkaError.UNKNOWN_MEMBER_ID],
    ],
  )
  assert.equal(scene.state, 'Empty')
})

test('the empty group id is invalid for members', async () => {
  const scene = new Scene()
  const given = { groupId: '' }
  const invalid = KafkaError.INVALID_GROUP_ID
  assert.equal((await scene.join(given)).answer.errorCode, invalid)
  assert.equal((await scene.sync('x', 1, given)).answer.errorCode, invalid)
  assert.equal(await scene.heartbeat('x', 1, given), invalid)
  const left = await scene.coordinator.leaveGroup({ groupId: '', members: [] })
  assert.equal(left.errorCode, invalid)
  const unknown = KafkaError.GROUP_ID_NOT_FOUND
  assert.equal(scene.coordinator.describeGroup('').errorCode, unknown)
  assert.equal(await scene.coordinator.deleteGroup(''), unknown)
})

test('a stable group is described with metadata and assignments', async () => {
  const scene = new Scene()
  const { ids } = await scene.stable(2)
  const group = scene.coordinator.describeGroup(groupId)
  assert.equal(group.errorCode, KafkaError.NONE)
  assert.equal(group.protocolType, 'consumer')
  assert.equal(group.protocolData, 'range')
  assert.deepEqual(
    group.members.map((member) => [
      member.memberId,
      member.clientId,
      member.clientHost,
      text(member.memberMetadata),
      text(member.memberAssignment),
    ]),
    ids.map((id, index) => [id, 'client', '/127.0.0.1', 'topics', `part ${index}`]),
  )
})

test('a group that rebalances is described without protocol and metadata', async () => {
  const scene = new Scene()
  await scene.stable()
  await scene.join()
  const group = scene.coordinator.describeGroup(groupId)
  assert.equal(group.groupState, 'PreparingRebalance')
  assert.equal(group.protocolData, '')
  const [member] = group.members
  assert.equal(member?.memberMetadata.length, 0)
  // What it still has.
  assert.equal(text(member.memberAssignment), 'part 0')
})

test('an unknown group is described as dead', () => {
  const group = new Scene().coordinator.describeGroup('x')
  assert.equal(group.errorCode, KafkaError.GROUP_ID_NOT_FOUND)
  assert.equal(group.groupState, 'Dead')
})

test('groups are listed by state in any case and by type', async () => {
  const scene = new Scene()
  await scene.stable()
  await scene.commit(1, { groupId: 'plain' })
  const list = (statesFilter: string[], typesFilter: string[]) =>
    scene.coordinator.listGroups({ statesFilter, typesFilter }).groups.map((group) => group.groupId)
  assert.deepEqual(list([], []), ['g', 'plain'])
  assert.deepEqual(list(['stable', 'dead'], []), ['g'])
  assert.deepEqual(list(['EMPTY'], ['Classic']), ['plain'])
  assert.deepEqual(list([], ['consumer']), [])
})

test('a group with members is not deleted', async () => {
  const scene = new Scene()
  await scene.stable()
  assert.equal(await scene.coordinator.deleteGroup(groupId), KafkaError.NON_EMPTY_GROUP)
  assert.equal(scene.state, 'Stable')
})

test('a group is deleted with its offsets', async () => {
  const scene = new Scene()
  const { leader, generation } = await scene.stable()
  await scene.commit(42, { memberId: leader, generationId: generation })
  await scene.leave(leader)
  assert.equal(await scene.coordinator.deleteGroup(groupId), KafkaError.NONE)
  assert.equal(await scene.committed(), -1)
  assert.equal(await scene.coordinator.deleteGroup(groupId), KafkaError.GROUP_ID_NOT_FOUND)
})

test('a deleted group begins anew with generation 1', async () => {
  const scene = new Scene()
  const { leader } = await scene.stable()
  await scene.leave(leader)
  await scene.coordinator.deleteGroup(groupId)
  assert.equal((await scene.join()).answer.generationId, 1)
})

test('close answers what is parked, leaves no timer, and refuses what comes later', async () => {
  const scene = new Scene()
  await scene.stable()
  const join = await scene.join()
  const other = await scene.join({ groupId: 'other' })
  const id = other.answer.memberId
  await scene.join({ groupId: 'pending', requireKnownMemberId: true })
  scene.coordinator.close()
  await scene.env.advance(0)
  assert.equal(join.answer.errorCode, KafkaError.NOT_COORDINATOR)
  assert.equal(scene.env.timers, 0)
  const gone = KafkaError.COORDINATOR_NOT_AVAILABLE
  assert.equal((await scene.join()).answer.errorCode, gone)
  assert.equal(await scene.heartbeat(id, 1, { groupId: 'other' }), gone)
  assert.equal(await scene.commit(1), gone)
  assert.equal((await scene.coordinator.fetchOffsets({ groupId, topics: null })).errorCode, gone)
  const list = scene.coordinator.listGroups({ statesFilter: [], typesFilter: [] })
  assert.equal(list.errorCode, gone)
})

test('close answers a parked sync', async () => {
  const scene = new Scene()
  const { leader } = await scene.stable()
  const second = await scene.join()
  await scene.join({ memberId: leader })
  const sync = await scene.sync(second.answer.memberId, 2)
  scene.coordinator.close()
  await scene.env.advance(0)
  assert.equal(sync.answer.errorCode, KafkaError.NOT_COORDINATOR)
})
