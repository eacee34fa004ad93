import assert from 'node:assert/strict'
import { test } from 'node:test'
import { MemoryOffsetStore } from '../../src/coordinator/offset-store.js'
import { KafkaError } from '../../src/errors.js'
import { bytes, groupId, Scene } from './scene.js'

const partition = (partitionIndex: number, committedOffset: number) => ({
  partitionIndex,
  committedOffset,
  committedLeaderEpoch: 3,
  committedMetadata: 'note',
})

test('what was committed is fetched with leader epoch and metadata', async () => {
  const scene = new Scene()
  const topics = [{ name: 't', partitions: [partition(1, 42)] }]
  await scene.coordinator.commitOffsets({
    groupId,
    generationId: -1,
    memberId: '',
    groupInstanceId: null,
    retentionTimeMs: -1,
    topics,
  })
  const wanted = [{ name: 't', partitionIndexes: [0, 1] }]
  const answer = await scene.coordinator.fetchOffsets({ groupId, topics: wanted })
  assert.deepEqual(answer.topics, [
    {
      name: 't',
      partitions: [
        {
          partitionIndex: 0,
          committedOffset: -1,
          committedLeaderEpoch: -1,
          metadata: '',
          errorCode: 0,
        },
        {
          partitionIndex: 1,
          committedOffset: 42,
          committedLeaderEpoch: 3,
          metadata: 'note',
          errorCode: 0,
        },
      ],
    },
  ])
})

test('a fetch without topics shows everything that the group has committed', async () => {
  const scene = new Scene()
  const topics = [
    { name: 't', partitions: [partition(0, 1), partition(1, 2)] },
    { name: 'u', partitions: [partition(0, 3)] },
  ]
  await scene.commit(0, { topics })
  await scene.commit(9, { groupId: 'other' })
  const answer = await scene.coordinator.fetchOffsets({ groupId, topics: null })
  const shown = answer.topics.map(({ name, partitions }) => [
    name,
    partitions.map(({ partitionIndex, committedOffset }) => [partitionIndex, committedOffset]),
  ])
  assert.deepEqual(shown, [
    [
      't',
      [
        [0, 1],
        [1, 2],
      ],
    ],
    ['u', [[0, 3]]],
  ])
})

test('a group that is not there has committed nothing', async () => {
  const scene = new Scene()
  assert.equal(await scene.committed('x'), -1)
  const answer = await scene.coordinator.fetchOffsets({ groupId: 'x', topics: null })
  assert.deepEqual(answer, { errorCode: KafkaError.NONE, topics: [] })
})

test('null as metadata is fetched as an empty text', async () => {
  const scene = new Scene()
  await scene.commit(1, { metadata: null })
  const answer = await scene.coordinator.fetchOffsets({ groupId, topics: null })
  assert.equal(answer.topics[0]?.partitions[0]?.metadata, '')
})

test('a plain commit makes a group without members, of the empty id too', async () => {
  const scene = new Scene()
  assert.equal(await scene.commit(5), KafkaError.NONE)
  assert.equal(scene.state, 'Empty')
  assert.equal(await scene.commit(6, { groupId: '' }), KafkaError.NONE)
  assert.equal(await scene.committed(''), 6)
})

test('a plain commit to a group with members is refused', async () => {
  const scene = new Scene()
  await scene.stable()
  assert.equal(await scene.commit(5), KafkaError.UNKNOWN_MEMBER_ID)
  assert.equal(await scene.committed(), -1)
})

test('a member commits in its generation and in no other', async () => {
  const scene = new Scene()
  const { leader: memberId, generation } = await scene.stable()
  assert.equal(await scene.commit(1, { memberId, generationId: generation }), KafkaError.NONE)
  for (const generationId of [generation - 1, generation + 1, -1]) {
    const refused = await scene.commit(2, { memberId, generationId })
    assert.equal(refused, KafkaError.ILLEGAL_GENERATION)
  }
  assert.equal(await scene.committed(), 1)
})

test('a commit of an unknown member is refused', async () => {
  const scene = new Scene()
  const { generation } = await scene.stable()
  const refused = await scene.commit(1, { memberId: 'x', generationId: generation })
  assert.equal(refused, KafkaError.UNKNOWN_MEMBER_ID)
  assert.equal(await scene.committed(), -1)
})

test('a commit with a generation to an unknown group is refused', async () => {
  const scene = new Scene()
  const refused = await scene.commit(1, { memberId: 'x', generationId: 3 })
  assert.equal(refused, KafkaError.GROUP_ID_NOT_FOUND)
  assert.equal(scene.state, 'Dead')
})

test('a commit with a generation to a group that is empty now is refused', async () => {
  const scene = new Scene()
  const { leader: memberId, generation } = await scene.stable()
  await scene.leave(memberId)
  const refused = await scene.commit(1, { memberId, generationId: generation })
  assert.equal(refused, KafkaError.UNKNOWN_MEMBER_ID)
})

test('a member may commit while a rebalance is prepared', async () => {
  const scene = new Scene()
  const { leader: memberId, generation } = await scene.stable()
  await scene.join()
  assert.equal(await scene.commit(7, { memberId, generationId: generation }), KafkaError.NONE)
  assert.equal(await scene.committed(), 7)
})

test('a member may not commit before it has its assignment', async () => {
  const scene = new Scene()
  const { answer } = await scene.join()
  const refused = await scene.commit(7, { memberId: answer.memberId, generationId: 1 })
  assert.equal(refused, KafkaError.REBALANCE_IN_PROGRESS)
  assert.equal(await scene.committed(), -1)
})

test('a commit is a sign of life', async () => {
  const scene = new Scene()
  const { leader: memberId, generation } = await scene.stable()
  await scene.env.advance(9_000)
  await scene.commit(1, { memberId, generationId: generation })
  await scene.env.advance(9_000)
  assert.equal(scene.state, 'Stable')
})

test('metadata that is too long is refused for its partition alone', async () => {
  const scene = new Scene({ 'offset.metadata.max.bytes': '4' })
  const tooLong = { ...partition(1, 2), committedMetadata: 'notes' }
  const answer = await scene.coordinator.commitOffsets({
    groupId,
    generationId: -1,
    memberId: '',
    groupInstanceId: null,
    retentionTimeMs: -1,
    topics: [{ name: 't', partitions: [partition(0, 1), tooLong] }],
  })
  assert.deepEqual(answer.topics[0]?.partitions, [
    { partitionIndex: 0, errorCode: KafkaError.NONE },
    { partitionIndex: 1, errorCode: KafkaError.OFFSET_METADATA_TOO_LARGE },
  ])
  assert.equal(await scene.committed(), 1)
})

test('a store that is full refuses new partitions and takes known ones', async () => {
  const scene = new Scene({}, new MemoryOffsetStore(1))
  assert.equal(await scene.commit(1), KafkaError.NONE)
  const refused = await scene.commit(1, { groupId: 'other' })
  assert.equal(refused, KafkaError.INVALID_COMMIT_OFFSET_SIZE)
  assert.equal(await scene.commit(2), KafkaError.NONE)
  await scene.coordinator.deleteGroup(groupId)
  assert.equal(await scene.commit(1, { groupId: 'other' }), KafkaError.NONE)
})

const shortRetention = {
  'offsets.retention.minutes': '1',
  'offsets.retention.check.interval.ms': '1000',
}

test('offsets stay while a member is there, however idle', async () => {
  const scene = new Scene(shortRetention)
  const { leader: memberId, generation } = await scene.stable()
  await scene.commit(1, { memberId, generationId: generation })
  await scene.keepAlive(300_000, [memberId], generation)
  assert.equal(await scene.committed(), 1)
})

test('offsets expire after the group was empty for the retention time', async () => {
  const scene = new Scene(shortRetention)
  const { leader: memberId, generation } = await scene.stable()
  await scene.commit(1, { memberId, generationId: generation })
  await scene.keepAlive(300_000, [memberId], generation)
  await scene.leave(memberId)
  await scene.env.advance(59_000)
  assert.equal(await scene.committed(), 1)
  await scene.env.advance(2_000)
  assert.equal(await scene.committed(), -1)
  assert.equal(scene.state, 'Dead')
})

test('offsets of a group without members expire after their commit', async () => {
  const scene = new Scene(shortRetention)
  await scene.commit(1)
  await scene.env.advance(40_000)
  await scene.commit(2)
  await scene.env.advance(59_000)
  assert.equal(await scene.committed(), 2)
  await scene.env.advance(2_000)
  assert.equal(await scene.committed(), -1)
})

/** What a consumer says that reads these topics. */
function subscription(...topics: string[]): Uint8Array {
  const names = topics.map((name) => Buffer.concat([Buffer.from([0, name.length]), bytes(name)]))
  const head = Buffer.from([0, 0, 0, 0, 0, topics.length])
  return Buffer.concat([head, ...names, Buffer.alloc(4)])
}

/** Commits t-0 and u-0 as a live member that reads t, and lets the retention time pass. */
async function idleReader(metadata: Uint8Array, protocolType = 'consumer') {
  const scene = new Scene(shortRetention)
  const protocols = [{ name: 'range', metadata }]
  const { leader: memberId, generation } = await scene.stable(1, { protocols, protocolType })
  const topics = ['t', 'u'].map((name) => ({ name, partitions: [partition(0, 5)] }))
  await scene.commit(0, { memberId, generationId: generation, topics })
  const left = async () => {
    const rest = await scene.coordinator.fetchOffsets({ groupId, topics: null })
    return rest.topics.map(({ name }) => name).sort()
  }
  await scene.keepAlive(57_000, [memberId], generation)
  assert.deepEqual(await left(), ['t', 'u'])
  await scene.keepAlive(300_000, [memberId], generation)
  return left()
}

test('a live group keeps the offsets of what it reads, and no others for ever', async () => {
  assert.deepEqual(await idleReader(subscription('t')), ['t'])
  assert.deepEqual(await idleReader(subscription('t', 'u')), ['t', 'u'])
})

test('where nobody knows what a live group reads, all of its offsets stay', async () => {
  assert.deepEqual(await idleReader(bytes('?')), ['t', 'u'])
  assert.deepEqual(await idleReader(subscription('t'), 'connect'), ['t', 'u'])
})

test('offsets of a topic that is read no more stay while the group rebalances', async () => {
  const scene = new Scene(shortRetention)
  const protocols = [{ name: 'range', metadata: subscription('u') }]
  const long = { protocols, sessionTimeoutMs: 300_000, rebalanceTimeoutMs: 300_000 }
  const { leader: memberId, generation } = await scene.stable(1, long)
  await scene.commit(5, { memberId, generationId: generation })
  await scene.join(long)
  await scene.env.advance(120_000)
  assert.equal(scene.state, 'PreparingRebalance')
  assert.equal(await scene.committed(), 5)
})

test('a retention time of -1 is that of the broker and not no time', async () => {
  const scene = new Scene(shortRetention)
  await scene.commit(1, { retentionTimeMs: -1 })
  await scene.env.advance(30_000)
  assert.equal(await scene.committed(), 1)
})

test('a retention time of the client takes the place of that of the broker', async () => {
  const scene = new Scene(shortRetention)
  await scene.commit(1, { retentionTimeMs: 120_000 })
  await scene.env.advance(119_000)
  assert.equal(await scene.committed(), 1)
  await scene.env.advance(2_000)
  assert.equal(await scene.committed(), -1)
})

test('a group with neither members nor offsets is dropped, unless an id is pending', async () => {
  const scene = new Scene({ 'offsets.retention.check.interval.ms': '1000' })
  await scene.join({ requireKnownMemberId: true })
  await scene.env.advance(9_000)
  assert.equal(scene.state, 'Empty')
  await scene.env.advance(3_000)
  assert.equal(scene.state, 'Dead')
})

test('the offsets of a deleted topic vanish and the others stay', async () => {
  const scene = new Scene()
  await scene.commit(1)
  await scene.commit(0, { topics: [{ name: 'u', partitions: [partition(0, 9)] }] })
  await scene.coordinator.dropTopics(['t'])
  assert.equal(await scene.committed(), -1)
  const rest = await scene.coordinator.fetchOffsets({ groupId, topics: null })
  assert.deepEqual(
    rest.topics.map(({ name }) => name),
    ['u'],
  )
})

test('a check interval beyond what a timer can hold is no short one', async () => {
  const scene = new Scene({ 'offsets.retention.check.interval.ms': '9223372036854775807' })
  await scene.commit(1)
  await scene.env.advance(1_000)
  assert.equal(await scene.committed(), 1)
})
