import assert from 'node:assert/strict'
import { test } from 'node:test'
import { metadata } from '../../src/apis/metadata.js'
import { createTopic, startBroker } from '../support/broker.js'

const ZERO = 'AAAAAAAAAAAAAAAAAAAAAA'
const names = (topics: readonly { name: string | null }[]) => topics.map(({ name }) => name).sort()

test('the broker tells where it really listens, and that it is the controller', async (t) => {
  const { broker, wire } = await startBroker(t)
  const { brokers, controllerId, clusterId } = await wire.call(metadata, 9, { topics: [] })
  assert.deepEqual(brokers, [{ nodeId: 0, host: '127.0.0.1', port: broker.port, rack: null }])
  assert.equal(controllerId, 0)
  assert.equal(clusterId, broker.clusterId)
})

test('null asks for all topics, an empty list for none, but for all in version 0', async (t) => {
  const { wire } = await startBroker(t)
  await createTopic(wire, 'a')
  await createTopic(wire, 'b')
  assert.deepEqual(names((await wire.call(metadata, 0, { topics: [] })).topics), ['a', 'b'])
  for (const version of [1, 4, 9, 13]) {
    assert.deepEqual(names((await wire.call(metadata, version, { topics: null })).topics), [
      'a',
      'b',
    ])
    assert.deepEqual((await wire.call(metadata, version, { topics: [] })).topics, [])
  }
})

test('a topic is told with all its partitions, and its id from version 10 on', async (t) => {
  const { wire } = await startBroker(t)
  const topicId = await createTopic(wire, 't', { partitions: 3 })
  for (const version of [9, 10, 13]) {
    const { topics } = await wire.call(metadata, version, { topics: [{ name: 't' }] })
    assert.equal(topics[0]?.topicId, version < 10 ? ZERO : topicId)
    const partitions = topics[0].partitions.map((partition) => [
      partition.partitionIndex,
      partition.leaderId,
      partition.leaderEpoch,
      ...partition.isrNodes,
      ...partition.replicaNodes,
    ])
    assert.deepEqual(
      partitions,
      [0, 1, 2].map((index) => [index, 0, 0, 0, 0]),
    )
  }
})

test('a topic that does not exist is made when the request and the broker allow it', async (t) => {
  const { wire } = await startBroker(t, { config: { 'num.partitions': 2 } })
  const { topics } = await wire.call(metadata, 4, {
    topics: [{ name: 'new' }],
    allowAutoTopicCreation: true,
  })
  assert.deepEqual([topics[0]?.errorCode, topics[0]?.partitions.length], [0, 2])
})

test('a request that forbids it makes no topic, in any version that can say so', async (t) => {
  const { wire } = await startBroker(t)
  for (const version of [4, 8, 12, 13]) {
    const body = { topics: [{ name: 'never' }], allowAutoTopicCreation: false }
    const { topics } = await wire.call(metadata, version, body)
    assert.equal(topics[0]?.errorCode, 3)
  }
  assert.deepEqual((await wire.call(metadata, 1, { topics: null })).topics, [])
})

test('a broker that forbids it makes no topic', async (t) => {
  const { wire } = await startBroker(t, { config: { 'auto.create.topics.enable': false } })
  for (const version of [0, 3, 13]) {
    const { topics } = await wire.call(metadata, version, { topics: [{ name: 'never' }] })
    assert.equal(topics[0]?.errorCode, 3)
  }
  assert.deepEqual((await wire.call(metadata, 1, { topics: null })).topics, [])
})

test('a name that no topic can have is told so, whether or not topics are made', async (t) => {
  const { wire } = await startBroker(t)
  for (const allowAutoTopicCreation of [true, false]) {
    for (const name of ['', 'a/b', '..', 'x'.repeat(250)]) {
      const body = { topics: [{ name }], allowAutoTopicCreation }
      const { topics } = await wire.call(metadata, 9, body)
      assert.deepEqual([topics[0]?.errorCode, topics[0]?.name], [17, name])
    }
  }
})

test('by id a topic is found from version 12 on, and refused before', async (t) => {
  const { wire } = await startBroker(t)
  const topicId = await createTopic(wire, 't')
  for (const version of [12, 13]) {
    const wanted = [topicId, 'AAAAAAAAAAAAAAAAAAAAAQ'].map((id) => ({ name: null, topicId: id }))
    const { topics } = await wire.call(metadata, version, { topics: wanted })
    assert.deepEqual(
      topics.map(({ name, errorCode }) => [name, errorCode]),
      [
        ['t', 0],
        [null, 100],
      ],
    )
  }
  for (const version of [10, 11]) {
    const { topics } = await wire.call(metadata, version, { topics: [{ name: null, topicId }] })
    assert.deepEqual([topics[0]?.errorCode, topics[0]?.name, topics[0]?.topicId], [42, '', topicId])
  }
})

test('a topic without name and id fails the request, unless another one has an id', async (t) => {
  const { wire } = await startBroker(t)
  const topicId = await createTopic(wire, 't')
  const nothing = { name: null, topicId: 'AAAAAAAAAAAAAAAAAAAAAA' }
  const failed = await wire.call(metadata, 13, { topics: [nothing, { name: 't' }] })
  assert.deepEqual([failed.errorCode, failed.brokers], [-1, []])
  assert.deepEqual(
    failed.topics.map(({ errorCode, name }) => [errorCode, name]),
    [
      [-1, ''],
      [-1, 't'],
    ],
  )
  const { topics, errorCode } = await wire.call(metadata, 13, {
    topics: [nothing, { name: null, topicId }],
  })
  assert.deepEqual([errorCode, topics.map(({ name }) => name)], [0, ['t']])
})

test('a topic that is named twice is told once', async (t) => {
  const { wire } = await startBroker(t)
  const body = { topics: [{ name: 'twice' }, { name: 'twice' }] }
  assert.deepEqual(names((await wire.call(metadata, 9, body)).topics), ['twice'])
})

test('twenty clients that make the same topic at once all get it, with one id', async (t) => {
  const { wire } = await startBroker(t)
  const calls = Array.from({ length: 20 }, () =>
    wire.call(metadata, 13, { topics: [{ name: 'shared' }] }),
  )
  const ids = new Set((await Promise.all(calls)).map(({ topics }) => topics[0]?.topicId))
  assert.equal(ids.size, 1)
})

test('authorized operations are told where they are asked for', async (t) => {
  const { wire } = await startBroker(t)
  const ask = async (asked: boolean) => {
    const { topics, clusterAuthorizedOperations } = await wire.call(metadata, 8, {
      topics: [{ name: 't' }],
      includeClusterAuthorizedOperations: asked,
      includeTopicAuthorizedOperations: asked,
    })
    return [clusterAuthorizedOperations, topics[0]?.topicAuthorizedOperations]
  }
  assert.deepEqual(await ask(true), [8096, 3576])
  assert.deepEqual(await ask(false), [-2147483648, -2147483648])
})
