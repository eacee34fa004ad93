import assert from 'node:assert/strict'
import { cpSync, existsSync, mkdirSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { BrokerConfig } from '../../src/config.js'
import { Topics, type TopicWish } from '../../src/controller/topics.js'
import { EmbeddedCoordination } from '../../src/coordination/embedded.js'
import { deletionZNode, topicConfigZNode, topicZNode } from '../../src/coordination/znodes.js'
import { systemEnv } from '../../src/env.js'
import { KafkaError, ProtocolError } from '../../src/errors.js'
import { Replicas } from '../../src/replication/replicas.js'
import { LogManager } from '../../src/storage/log-manager.js'
import { defaultLogOptions } from '../../src/storage/log-options.js'
import { append, values } from '../storage/log-fixture.js'
import { temporaryDirectory } from '../support/tmp.js'

const TREE = 'tree.json'

/** The parts of a broker that make and keep topics, over one directory. */
async function start(t: TestContext, directory: string) {
  const { clean: _, ...log } = defaultLogOptions
  const options = { directories: [directory], brokerId: 0, log, warn: assert.fail }
  const logs = await LogManager.open(options, systemEnv)
  t.after(() => logs.abandon())
  const tree = await EmbeddedCoordination.open(join(directory, TREE))
  const replicas = new Replicas(logs)
  const topics = new Topics(tree, replicas, systemEnv, BrokerConfig.parse({}, assert.fail))
  await topics.load(logs.topics())
  return { directory, logs, tree, replicas, topics }
}

const wish = (name: string, rest: Partial<TopicWish> = {}): TopicWish => ({
  name,
  partitionCount: 1,
  replicationFactor: 1,
  ...rest,
})
const names = (replicas: Replicas) => [...replicas.topics()].map(({ topic }) => topic).sort()
const refused = (code: number) => (error: unknown) =>
  error instanceof ProtocolError && error.code === code

test('a topic is served once its creation is answered, and after a restart', async (t) => {
  const directory = temporaryDirectory(t)
  const first = await start(t, directory)
  const made = await first.topics.create(
    wish('t', { partitionCount: 2, configs: { 'retention.ms': '5' } }),
  )
  assert.deepEqual(made.partitions, [[0], [0]])
  append(first.replicas.partition('t', 1)!.log, 'kept')
  await first.logs.close()
  const again = await start(t, directory)
  const served = again.replicas.topic('t')
  assert.equal(served?.topicId, made.topicId)
  assert.equal(served.config.get('retention.ms'), 5)
  assert.deepEqual(values(served.partitions[1]!.log), ['kept'])
})

test('twenty creations of one topic at once make it once', async (t) => {
  const { topics, replicas } = await start(t, temporaryDirectory(t))
  const results = await Promise.allSettled(
    Array.from({ length: 20 }, () => topics.create(wish('t'))),
  )
  const errors = results.filter((result) => result.status === 'rejected')
  assert.equal(errors.length, 19)
  for (const { reason } of errors) assert.ok(refused(KafkaError.TOPIC_ALREADY_EXISTS)(reason))
  assert.deepEqual(names(replicas), ['t'])
})

test('creations and deletions of one topic take turns', async (t) => {
  const { topics, replicas, directory } = await start(t, temporaryDirectory(t))
  const acts: Promise<unknown>[] = []
  for (let i = 0; i < 5; i++) acts.push(topics.create(wish('t')), topics.delete('t'))
  await Promise.all(acts)
  assert.deepEqual(names(replicas), [])
  assert.equal(existsSync(join(directory, 't-0')), false)
})

test('a refused creation leaves nothing in the tree', async (t) => {
  const { topics, tree } = await start(t, temporaryDirectory(t))
  const wrong = { configs: { 'retention.ms': 'x' } }
  await assert.rejects(topics.create(wish('t', wrong)), refused(KafkaError.INVALID_CONFIG))
  await topics.create(wish('v'), true)
  assert.deepEqual(await tree.children('/brokers/topics'), [])
})

test('a topic found on disk alone is adopted with the id that it has', async (t) => {
  const directory = temporaryDirectory(t)
  const first = await start(t, directory)
  const { topicId } = await first.topics.create(wish('t', { partitionCount: 3 }))
  append(first.replicas.partition('t', 2)!.log, 'kept')
  await first.logs.close()
  const bare = temporaryDirectory(t)
  for (const name of readdirSync(directory)) {
    if (name !== TREE) cpSync(join(directory, name), join(bare, name), { recursive: true })
  }
  for (let i = 0; i < 5; i++) mkdirSync(join(bare, `without-id-${i}`))
  mkdirSync(join(bare, 'backup-20261231'))
  const { replicas } = await start(t, bare)
  assert.deepEqual(names(replicas), ['t', 'without-id'])
  assert.equal(replicas.topic('t')?.topicId, topicId)
  assert.deepEqual(values(replicas.partition('t', 2)!.log), ['kept'])
  assert.equal(replicas.topic('without-id')?.partitions.length, 5)
})

test('a topic of the tree whose folders are missing gets empty ones', async (t) => {
  const directory = temporaryDirectory(t)
  const { tree, logs } = await start(t, directory)
  const topicId = 'bwAAAAAAAAAAAAAAAAAAAA'
  const data = topicZNode.encode({ topicId, partitions: [[0], [0]] })
  await tree.create(topicZNode.path('t'), data)
  await logs.close()
  assert.equal((await start(t, directory)).replicas.topic('t')?.partitions.length, 2)
})

test('a deletion that a crash broke off ends at the next start, records and znodes', async (t) => {
  const directory = temporaryDirectory(t)
  const { tree, topics, logs } = await start(t, directory)
  await topics.create(wish('t', { partitionCount: 2, configs: { 'retention.ms': '5' } }))
  await topics.create(wish('other'))
  await tree.create(deletionZNode.path('t'), Buffer.alloc(0))
  await logs.close()
  const again = await start(t, directory)
  assert.deepEqual(names(again.replicas), ['other'])
  for (const { path } of [topicZNode, topicConfigZNode, deletionZNode]) {
    assert.equal(await again.tree.get(path('t')), undefined)
  }
  assert.deepEqual(
    readdirSync(directory).filter((name) => name.startsWith('t-')),
    [],
  )
})

test('folders that a deletion did not get to do not bring the topic back', async (t) => {
  const directory = temporaryDirectory(t)
  const { tree, topics, logs } = await start(t, directory)
  await topics.create(wish('t'))
  await tree.create(deletionZNode.path('t'), Buffer.alloc(0))
  await tree.delete(topicZNode.path('t'), 0)
  await logs.close()
  assert.deepEqual(names((await start(t, directory)).replicas), [])
})

test('znodes that a failed attempt left do not stand in the way of the next', async (t) => {
  const { tree, topics, replicas } = await start(t, temporaryDirectory(t))
  await tree.create(
    topicZNode.path('t'),
    topicZNode.encode({ topicId: undefined, partitions: [[0]] }),
  )
  await tree.create(topicConfigZNode.path('t'), topicConfigZNode.encode({ 'retention.ms': '5' }))
  await topics.create(wish('t'))
  assert.deepEqual(names(replicas), ['t'])
  assert.equal(await tree.get(topicConfigZNode.path('t')), undefined)
})

test('a topic that cannot be written is a storage error, and can be made later', async (t) => {
  const { directory, topics, replicas } = await start(t, temporaryDirectory(t))
  // A folder where the tree is replaced: the write beside it fails.
  rmSync(join(directory, TREE), { force: true })
  mkdirSync(join(directory, TREE))
  await assert.rejects(topics.create(wish('t')), refused(KafkaError.KAFKA_STORAGE_ERROR))
  assert.deepEqual(names(replicas), [])
  assert.equal(existsSync(join(directory, 't-0')), false)
  rmSync(join(directory, TREE), { recursive: true })
  await topics.create(wish('t'))
  assert.deepEqual(names(replicas), ['t'])
})

test('a topic that is not there cannot be deleted', async (t) => {
  const { topics } = await start(t, temporaryDirectory(t))
  await assert.rejects(topics.delete('nix'), refused(KafkaError.UNKNOWN_TOPIC_OR_PARTITION))
})

test('a topic whose making a stop cut short has all its partitions after a restart', async (t) => {
  const directory = temporaryDirectory(t)
  const first = await start(t, directory)
  const making = first.topics.create(wish('t', { partitionCount: 50 }))
  while (!first.logs.has({ topic: 't', partition: 0 })) await new Promise(setImmediate)
  await first.topics.close()
  await assert.rejects(making)
  assert.equal(first.logs.has({ topic: 't', partition: 49 }), false)
  await first.logs.close()
  const again = await start(t, directory)
  assert.equal(again.replicas.topic('t')?.partitions.length, 50)
})
