/** What a group finds again after the broker was stopped, or killed. */
import assert from 'node:assert/strict'
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { deleteGroups } from '../../src/apis/delete-groups.js'
import { deleteTopics } from '../../src/apis/delete-topics.js'
import { describeGroups } from '../../src/apis/describe-groups.js'
import { heartbeat } from '../../src/apis/heartbeat.js'
import { joinGroup } from '../../src/apis/join-group.js'
import { leaveGroup } from '../../src/apis/leave-group.js'
import { listGroups } from '../../src/apis/list-groups.js'
import { offsetCommit } from '../../src/apis/offset-commit.js'
import { offsetFetch } from '../../src/apis/offset-fetch.js'
import { syncGroup } from '../../src/apis/sync-group.js'
import { Broker } from '../../src/broker.js'
import { partitionOf } from '../../src/coordinator/group-records.js'
import { createTopic } from '../support/broker.js'
import { copyLive } from '../support/copy.js'
import { temporaryDirectory } from '../support/tmp.js'
import { until } from '../support/until.js'
import { Wire } from '../support/wire.js'

const config = { 'offsets.topic.num.partitions': 3 }
const groupId = 'g'
const FIRST_SEGMENT = '00000000000000000000.log'

/** Starts a broker that is closed by the test, or else with it. */
async function start(t: TestContext, dataDir: string) {
  const broker = await Broker.start({ port: 0, dataDir, config })
  t.after(() => broker.close().catch(() => {}))
  const wire = await Wire.connect(t, broker.port)
  await until(async () => (await wire.call(listGroups, 4, {})).errorCode === 0, 'groups loaded')
  return { broker, wire }
}

async function commit(wire: Wire, offset: number, topic = 't', given = {}) {
  const partitions = [{ partitionIndex: 0, committedOffset: offset, committedMetadata: 'note' }]
  const { topics } = await wire.call(offsetCommit, 7, {
    groupId,
    topics: [{ name: topic, partitions }],
    ...given,
  })
  assert.equal(topics[0]?.partitions[0]?.errorCode, 0)
}

async function committed(wire: Wire, topic = 't') {
  const topics = [{ name: topic, partitionIndexes: [0] }]
  const answer = await wire.call(offsetFetch, 7, { groupId, topics })
  const { committedOffset, metadata, errorCode } = answer.topics[0]!.partitions[0]!
  assert.equal(errorCode, 0)
  return { committedOffset, metadata }
}

/** A group of one member that has its assignment. */
async function stable(wire: Wire) {
  const { memberId, generationId } = await wire.call(joinGroup, 3, {
    groupId,
    sessionTimeoutMs: 10_000,
    rebalanceTimeoutMs: 10_000,
    memberId: '',
    protocolType: 'consumer',
    protocols: [{ name: 'range', metadata: Buffer.from('sub') }],
  })
  const assignments = [{ memberId, assignment: Buffer.from('mine') }]
  await wire.call(syncGroup, 3, { groupId, generationId, memberId, assignments })
  return { memberId, generationId }
}

async function described(wire: Wire) {
  const { groups } = await wire.call(describeGroups, 4, { groups: [groupId] })
  return groups[0]!
}

test('a commit is there after a stop, and after a kill', async (t) => {
  const dataDir = temporaryDirectory(t)
  const first = await start(t, dataDir)
  await createTopic(first.wire, 't')
  await commit(first.wire, 41)
  await commit(first.wire, 42)
  const killed = join(temporaryDirectory(t), 'data')
  copyLive(dataDir, killed)
  await first.broker.close()
  for (const directory of [dataDir, killed]) {
    const { broker, wire } = await start(t, directory)
    assert.deepEqual(await committed(wire), { committedOffset: 42, metadata: 'note' })
    await broker.close()
  }
})

test('a member goes on after a restart without a rebalance', async (t) => {
  const dataDir = temporaryDirectory(t)
  const first = await start(t, dataDir)
  const member = await stable(first.wire)
  const before = await described(first.wire)
  await first.broker.close()
  const { wire } = await start(t, dataDir)
  const { errorCode } = await wire.call(heartbeat, 3, { groupId, ...member })
  assert.equal(errorCode, 0)
  assert.deepEqual(await described(wire), before)
})

test('a group that its members left is empty after a restart, with its offsets', async (t) => {
  const dataDir = temporaryDirectory(t)
  const first = await start(t, dataDir)
  await createTopic(first.wire, 't')
  const { memberId, generationId } = await stable(first.wire)
  const generation = { generationIdOrMemberEpoch: generationId, memberId }
  await commit(first.wire, 7, 't', generation)
  await first.wire.call(leaveGroup, 3, { groupId, members: [{ memberId }] })
  await first.broker.close()
  const { wire } = await start(t, dataDir)
  const { groupState, protocolType, members } = await described(wire)
  assert.deepEqual([groupState, protocolType, members], ['Empty', 'consumer', []])
  assert.equal((await committed(wire)).committedOffset, 7)
})

test('what was deleted stays deleted: a group, and the offsets of a topic', async (t) => {
  const dataDir = temporaryDirectory(t)
  const first = await start(t, dataDir)
  for (const topic of ['t', 'other']) await createTopic(first.wire, topic)
  await commit(first.wire, 1)
  await commit(first.wire, 2, 'other')
  await first.wire.call(deleteTopics, 3, { topicNames: ['other'], timeoutMs: 1000 })
  const gone = async () => (await committed(first.wire, 'other')).committedOffset === -1
  await until(gone, 'offsets of the deleted topic gone')
  await first.broker.close()
  const second = await start(t, dataDir)
  assert.equal((await committed(second.wire, 'other')).committedOffset, -1)
  assert.equal((await committed(second.wire)).committedOffset, 1)
  const { results } = await second.wire.call(deleteGroups, 1, { groupsNames: [groupId] })
  assert.equal(results[0]?.errorCode, 0)
  await second.broker.close()
  const { wire } = await start(t, dataDir)
  assert.deepEqual((await wire.call(listGroups, 4, {})).groups, [])
  assert.equal((await committed(wire)).committedOffset, -1)
})

test('while the topic is read a group is told to wait, and never -1', async (t) => {
  const dataDir = temporaryDirectory(t)
  const first = await start(t, dataDir)
  await createTopic(first.wire, 't')
  await commit(first.wire, 42)
  await first.broker.close()
  const broker = await Broker.start({ port: 0, dataDir, config })
  t.after(() => broker.close())
  const wire = await Wire.connect(t, broker.port)
  const seen: number[] = []
  await until(async () => {
    const topics = [{ name: 't', partitionIndexes: [0] }]
    const { errorCode, topics: answered } = await wire.call(offsetFetch, 7, { groupId, topics })
    if (errorCode === 14) return false
    seen.push(answered[0]?.partitions[0]?.committedOffset ?? -2)
    return true
  }, 'the answer')
  assert.deepEqual(seen, [42])
})

test('where commits cannot be read a group is refused, and never told -1', async (t) => {
  const dataDir = temporaryDirectory(t)
  const first = await start(t, dataDir)
  await createTopic(first.wire, 't')
  const sound = ['a', 'b', 'c'].find((id) => partitionOf(id, 3) !== partitionOf(groupId, 3))!
  await commit(first.wire, 41)
  await commit(first.wire, 42)
  await commit(first.wire, 7, 't', { groupId: sound })
  await first.broker.close()
  const path = join(dataDir, `__consumer_offsets-${partitionOf(groupId, 3)}`, FIRST_SEGMENT)
  const bytes = readFileSync(path)
  // Within the second of the commits.
  bytes[bytes.length - 1]! ^= 1
  writeFileSync(path, bytes)
  const { wire } = await start(t, dataDir)
  const topics = [{ name: 't', partitionIndexes: [0] }]
  const refused = await wire.call(offsetFetch, 7, { groupId, topics })
  assert.deepEqual([refused.errorCode, refused.topics], [15, []])
  const { groups } = await wire.call(offsetFetch, 8, {
    groups: [groupId, sound].map((id) => ({ groupId: id, topics })),
  })
  assert.deepEqual(
    groups.map(({ errorCode, topics: [topic] }) => [
      errorCode,
      topic?.partitions[0]?.committedOffset,
    ]),
    [
      [15, undefined],
      [0, 7],
    ],
  )
})

test('where the log of a group is on a disk that is gone the group is refused', async (t) => {
  const [one, two] = [temporaryDirectory(t), temporaryDirectory(t)]
  const both = { ...config, 'log.dirs': `${one},${two}`, 'offsets.topic.num.partitions': 2 }
  const begin = async () => {
    const broker = await Broker.start({ port: 0, config: both })
    t.after(() => broker.close().catch(() => {}))
    const wire = await Wire.connect(t, broker.port)
    await until(async () => (await wire.call(listGroups, 4, {})).errorCode === 0, 'groups loaded')
    return { broker, wire }
  }
  const first = await begin()
  await createTopic(first.wire, 't')
  const ids = ['a', 'b']
  for (const id of ids) await commit(first.wire, 42, 't', { groupId: id })
  await first.broker.close()
  const gone = readdirSync(two).find((name) => name.startsWith('__consumer_offsets-'))
  assert.ok(gone !== undefined, 'the second disk has a part of the offsets')
  rmSync(two, { recursive: true })
  // A file where the directory was: it cannot be made anew.
  writeFileSync(two, '')
  const { wire } = await begin()
  for (const id of ids) {
    const topics = [{ name: 't', partitionIndexes: [0] }]
    const answer = await wire.call(offsetFetch, 7, { groupId: id, topics })
    const isGone = gone.endsWith(`-${partitionOf(id, 2)}`)
    assert.equal(answer.errorCode, isGone ? 15 : 0, id)
    if (!isGone) assert.equal(answer.topics[0]?.partitions[0]?.committedOffset, 42)
  }
})
