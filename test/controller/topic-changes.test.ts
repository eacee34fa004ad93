import assert from 'node:assert/strict'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { BrokerConfig } from '../../src/config.js'
import { Topics } from '../../src/controller/topics.js'
import { EmbeddedCoordination } from '../../src/coordination/embedded.js'
import { topicConfigZNode, topicZNode } from '../../src/coordination/znodes.js'
import { systemEnv } from '../../src/env.js'
import { KafkaError, ProtocolError, SeglogError } from '../../src/errors.js'
import { Replicas } from '../../src/replication/replicas.js'
import { LogManager } from '../../src/storage/log-manager.js'
import { defaultLogOptions } from '../../src/storage/log-options.js'
import { temporaryDirectory } from '../support/tmp.js'

async function start(t: TestContext) {
  const directory = temporaryDirectory(t)
  const { clean: _, ...log } = defaultLogOptions
  const options = { directories: [directory], brokerId: 0, log, warn: assert.fail }
  const logs = await LogManager.open(options, systemEnv)
  t.after(() => logs.abandon())
  const tree = await EmbeddedCoordination.open(join(directory, 'tree.json'))
  const replicas = new Replicas(logs)
  const topics = new Topics(tree, replicas, systemEnv, BrokerConfig.parse({}, assert.fail))
  await topics.create({ name: 't', partitionCount: 1, replicationFactor: 1 })
  const partitionsInTree = async () => {
    const znode = await tree.get(topicZNode.path('t'))
    return znode && topicZNode.decode(znode.data, 't').partitions
  }
  return { logs, tree, replicas, topics, partitionsInTree }
}

const refused = (code: number) => (error: unknown) =>
  error instanceof ProtocolError && error.code === code
const full = () => Promise.reject(new SeglogError('NO_SPACE', 'the disk is full'))

test('growth is in the tree, and the id of the topic stays', async (t) => {
  const { replicas, topics, partitionsInTree } = await start(t)
  const before = replicas.topic('t')?.topicId
  await topics.grow({ name: 't', count: 3, assignments: null })
  assert.deepEqual(await partitionsInTree(), [[0], [0], [0]])
  assert.equal(replicas.topic('t')?.partitions.length, 3)
  assert.equal(replicas.topic('t')?.topicId, before)
})

test('growth whose logs cannot be made is taken back from the tree', async (t) => {
  const { logs, replicas, topics, partitionsInTree } = await start(t)
  const openOrCreate = logs.openOrCreate.bind(logs)
  logs.openOrCreate = (partition, id) =>
    partition.partition === 2 ? full() : openOrCreate(partition, id)
  const growth = topics.grow({ name: 't', count: 4, assignments: null })
  await assert.rejects(growth, refused(KafkaError.KAFKA_STORAGE_ERROR))
  assert.deepEqual(await partitionsInTree(), [[0]])
  assert.equal(replicas.topic('t')?.partitions.length, 1)
  logs.openOrCreate = openOrCreate
  await topics.grow({ name: 't', count: 4, assignments: null })
  assert.equal(replicas.topic('t')?.partitions.length, 4)
})

test('growth that the tree does not take makes no logs', async (t) => {
  const { tree, replicas, topics } = await start(t)
  tree.set = full
  const growth = topics.grow({ name: 't', count: 2, assignments: null })
  await assert.rejects(growth, refused(KafkaError.KAFKA_STORAGE_ERROR))
  assert.equal(replicas.topic('t')?.partitions.length, 1)
})

test('growths at once take turns: the later one finds what the first has made', async (t) => {
  const { topics } = await start(t)
  const grow = (count: number) => topics.grow({ name: 't', count, assignments: null })
  const results = await Promise.allSettled([grow(3), grow(3), grow(4)])
  assert.deepEqual(
    results.map(({ status }) => status),
    ['fulfilled', 'rejected', 'fulfilled'],
  )
})

test('a configuration is changed from what is there, and served as it is written', async (t) => {
  const { tree, replicas, topics } = await start(t)
  await topics.configure('t', () => ({ 'retention.ms': '5' }))
  await topics.configure('t', (present) => ({ ...present, 'retention.bytes': '6' }))
  const config = replicas.topic('t')?.config
  assert.deepEqual([config?.get('retention.ms'), config?.get('retention.bytes')], [5, 6])
  const znode = await tree.get(topicConfigZNode.path('t'))
  assert.ok(znode)
  const values = topicConfigZNode.decode(znode.data, 't')
  assert.deepEqual(values, { 'retention.ms': '5', 'retention.bytes': '6' })
})

test('a configuration that the tree does not take is not served', async (t) => {
  const { tree, replicas, topics } = await start(t)
  tree.create = full
  const change = topics.configure('t', () => ({ 'retention.ms': '5' }))
  await assert.rejects(change, refused(KafkaError.KAFKA_STORAGE_ERROR))
  assert.notEqual(replicas.topic('t')?.config.get('retention.ms'), 5)
})

test('a topic that is not there is neither grown nor configured', async (t) => {
  const { topics } = await start(t)
  const unknown = refused(KafkaError.UNKNOWN_TOPIC_OR_PARTITION)
  await assert.rejects(topics.grow({ name: 'nix', count: 2, assignments: null }), unknown)
  await assert.rejects(
    topics.configure('nix', () => ({})),
    unknown,
  )
})
