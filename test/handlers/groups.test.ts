/**
 * What each version of the group APIs makes of the coordinator's answers; the coordinator has its
 * own tests.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { deleteGroups } from '../../src/apis/delete-groups.js'
import { describeGroups } from '../../src/apis/describe-groups.js'
import { heartbeat } from '../../src/apis/heartbeat.js'
import { joinGroup } from '../../src/apis/join-group.js'
import { leaveGroup } from '../../src/apis/leave-group.js'
import { listGroups } from '../../src/apis/list-groups.js'
import { metadata } from '../../src/apis/metadata.js'
import { offsetCommit } from '../../src/apis/offset-commit.js'
import { offsetFetch } from '../../src/apis/offset-fetch.js'
import { syncGroup } from '../../src/apis/sync-group.js'
import { createTopic, startBroker } from '../support/broker.js'
import { Wire } from '../support/wire.js'

const groupId = 'g'
const bytes = (text: string) => new Uint8Array(Buffer.from(text))

async function join(wire: Wire, version: number, memberId = '', group = groupId) {
  return wire.call(joinGroup, version, {
    groupId: group,
    sessionTimeoutMs: 10_000,
    rebalanceTimeoutMs: 10_000,
    memberId,
    protocolType: 'consumer',
    protocols: [{ name: 'range', metadata: bytes('meta') }],
  })
}

/** A group of one member that has its assignment. */
async function stable(wire: Wire, group = groupId) {
  const { memberId, generationId } = await join(wire, 3, '', group)
  const assignments = [{ memberId, assignment: bytes('mine') }]
  const { assignment } = await wire.call(syncGroup, 3, {
    groupId: group,
    generationId,
    memberId,
    assignments,
  })
  assert.deepEqual(Buffer.from(assignment).toString(), 'mine')
  return { memberId, generationId }
}

const quick = { config: { 'group.initial.rebalance.delay.ms': 0 } }

test('the first assignment comes without the delay that a cluster has', async (t) => {
  const { broker } = await startBroker(t)
  let quickestMs = Infinity
  for (const groupId of ['first', 'second', 'third']) {
    const wire = await Wire.connect(t, broker.port)
    const startMs = performance.now()
    await stable(wire, groupId)
    quickestMs = Math.min(quickestMs, performance.now() - startMs)
  }
  // A cluster waits 3 s. The first group makes the topic of the offsets, which takes its time.
  assert.ok(quickestMs < 200, `${quickestMs} ms`)
})

test('the topic of the offsets has as many replicas as there are brokers: one', async (t) => {
  const { wire } = await startBroker(t)
  await stable(wire)
  const topics = [{ name: '__consumer_offsets' }]
  const answer = await wire.call(metadata, 12, { topics, allowAutoTopicCreation: false })
  const partitions = answer.topics[0]?.partitions ?? []
  assert.ok(partitions.length > 0)
  for (const { errorCode, replicaNodes, isrNodes } of partitions) {
    assert.deepEqual([errorCode, replicaNodes.length, isrNodes.length], [0, 1, 1])
  }
})

test('from version 4 on a member without an id is sent away with one', async (t) => {
  const { wire } = await startBroker(t, quick)
  assert.equal((await join(wire, 3)).errorCode, 0)
  for (const version of [4, 9]) {
    const { errorCode, memberId } = await join(wire, version)
    assert.equal(errorCode, 79)
    assert.ok(memberId.length > 0)
  }
})

test('a refused join names no protocol: empty up to version 6, null from 7 on', async (t) => {
  const { wire } = await startBroker(t, quick)
  for (const [version, name] of [
    [6, ''],
    [7, null],
  ] as const) {
    const { protocolName } = await join(wire, version, 'stranger')
    assert.equal(protocolName, name)
  }
})

test('errors of leaving are those of each member from version 3 on', async (t) => {
  const { wire } = await startBroker(t, quick)
  await stable(wire)
  const members = [{ memberId: 'stranger' }]
  assert.equal((await wire.call(leaveGroup, 2, { groupId, memberId: 'stranger' })).errorCode, 25)
  const answer = await wire.call(leaveGroup, 3, { groupId, members })
  assert.deepEqual([answer.errorCode, answer.members[0]?.errorCode], [0, 25])
})

test('a group is listed, described and, once it is empty, deleted', async (t) => {
  const { wire } = await startBroker(t, quick)
  const { memberId } = await stable(wire)
  const listed = await wire.call(listGroups, 5, { statesFilter: [], typesFilter: [] })
  assert.deepEqual(
    listed.groups.map((group) => [group.groupId, group.groupState]),
    [[groupId, 'Stable']],
  )
  const { groups } = await wire.call(describeGroups, 5, {
    groups: [groupId],
    includeAuthorizedOperations: true,
  })
  const [member] = groups[0]?.members ?? []
  assert.deepEqual(
    [member?.memberId, member?.clientId, member?.clientHost],
    [memberId, 'wire', '/127.0.0.1'],
  )
  assert.equal(groups[0]?.authorizedOperations, 3400)
  const remove = async () =>
    (await wire.call(deleteGroups, 2, { groupsNames: [groupId] })).results[0]?.errorCode
  assert.equal(await remove(), 68)
  await wire.call(leaveGroup, 2, { groupId, memberId })
  assert.equal(await remove(), 0)
  assert.equal(await remove(), 69)
})

test('a group that does not exist is dead, and an error from version 6 on', async (t) => {
  const { wire } = await startBroker(t, quick)
  for (const [version, code] of [
    [0, 0],
    [5, 0],
    [6, 69],
  ] as const) {
    const body = { groups: ['nix'], includeAuthorizedOperations: true }
    const { groups } = await wire.call(describeGroups, version, body)
    assert.deepEqual([groups[0]?.groupState, groups[0]?.errorCode], ['Dead', code])
    // Of an error nobody may do anything.
    if (code !== 0) assert.equal(groups[0]?.authorizedOperations, -0x8000_0000)
  }
})

function commitBody(generationId = -1, memberId = '', group = groupId) {
  const partition = (partitionIndex: number) => ({
    partitionIndex,
    committedOffset: 42,
    committedMetadata: 'note',
  })
  const topics = [
    { name: 't', partitions: [partition(0), partition(9)] },
    { name: 'nix', partitions: [partition(0)] },
  ]
  return { groupId: group, generationIdOrMemberEpoch: generationId, memberId, topics }
}

const codesOf = (topics: readonly { partitions: readonly { errorCode: number }[] }[]) =>
  topics.flatMap(({ partitions }) => partitions.map(({ errorCode }) => errorCode))

test('commits go to partitions that exist, and come back in every version', async (t) => {
  const { wire } = await startBroker(t, quick)
  await createTopic(wire, 't')
  for (let version = 0; version <= 9; version++) {
    const answer = await wire.call(offsetCommit, version, commitBody(-1, '', `g${version}`))
    assert.deepEqual(codesOf(answer.topics), [0, 3, 3])
  }
  const topics = [{ name: 't', partitionIndexes: [0] }]
  for (let version = 0; version <= 9; version++) {
    const body = { groupId: `g${version}`, topics, groups: [{ groupId: `g${version}`, topics }] }
    const answer = await wire.call(offsetFetch, version, body)
    const found = version < 8 ? answer.topics : answer.groups[0]?.topics
    const partition = found?.[0]?.partitions[0]
    // The tree of version 0 has no room for texts.
    const note = version === 0 ? '' : 'note'
    assert.deepEqual([partition?.committedOffset, partition?.metadata], [42, note])
  }
})

test('null topics fetch all offsets of a group', async (t) => {
  const { wire } = await startBroker(t, quick)
  await createTopic(wire, 't')
  await wire.call(offsetCommit, 2, commitBody())
  const old = await wire.call(offsetFetch, 2, { groupId, topics: null })
  assert.deepEqual(
    old.topics.map(({ name }) => name),
    ['t'],
  )
  const { groups } = await wire.call(offsetFetch, 8, {
    groups: [
      { groupId, topics: null },
      { groupId: 'nix', topics: null },
    ],
  })
  assert.deepEqual(
    groups.map((group) => group.topics.length),
    [1, 0],
  )
})

test('a commit to a group that is not there has the code of the version', async (t) => {
  const { wire } = await startBroker(t, quick)
  await createTopic(wire, 't')
  for (const [version, code] of [
    [8, 22],
    [9, 69],
  ] as const) {
    const answer = await wire.call(offsetCommit, version, commitBody(5, 'someone'))
    assert.equal(codesOf(answer.topics)[0], code)
  }
})

test('a heartbeat is answered by member and generation', async (t) => {
  const { wire } = await startBroker(t, quick)
  const { memberId, generationId } = await stable(wire)
  const beat = async (member: string, generation: number) =>
    (await wire.call(heartbeat, 3, { groupId, memberId: member, generationId: generation }))
      .errorCode
  assert.equal(await beat(memberId, generationId), 0)
  assert.equal(await beat(memberId, generationId + 1), 22)
  assert.equal(await beat('stranger', generationId), 25)
})

test('a member whose connection goes while it joins does not hold the others up', async (t) => {
  const { broker, wire } = await startBroker(t, quick)
  const { memberId } = await stable(wire)
  const second = await Wire.connect(t, broker.port)
  const joining = join(second, 3)
  joining.catch(() => {})
  second.socket.destroy()
  await second.closed
  const again = await join(wire, 3, memberId)
  assert.equal(again.errorCode, 0)
})
