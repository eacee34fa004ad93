import assert from 'node:assert/strict'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { BrokerConfig } from '../../src/config.js'
import { BrokerChanges } from '../../src/controller/broker-changes.js'
import { EmbeddedCoordination } from '../../src/coordination/embedded.js'
import { brokerConfigZNode } from '../../src/coordination/znodes.js'
import { KafkaError, ProtocolError, SeglogError } from '../../src/errors.js'
import type { Replicas } from '../../src/replication/replicas.js'
import { temporaryDirectory } from '../support/tmp.js'

/** Counts the topics that were configured anew. */
function topics(names: string[]) {
  const configured: string[] = []
  const replicas = {
    topics: () => names.map((topic) => ({ topic, config: undefined })).values(),
    configure: (topic: string) => void configured.push(topic),
  }
  return { configured, replicas: replicas as unknown as Replicas }
}

async function start(t: TestContext, directory = temporaryDirectory(t)) {
  const tree = await EmbeddedCoordination.open(join(directory, 'tree.json'))
  const config = BrokerConfig.parse({ 'log.retention.bytes': '10' }, () => {})
  const { configured, replicas } = topics(['t', 'u'])
  const changes = new BrokerChanges(tree, config, replicas)
  await changes.load()
  return { directory, tree, config, configured, changes }
}

const refused = (code: number) => (error: unknown) =>
  error instanceof ProtocolError && error.code === code

test('a change of one broker counts above that of all, and both above the start', async (t) => {
  const { directory, config, configured, changes } = await start(t)
  const key = 'log.retention.bytes'
  await changes.configure('cluster', () => ({ [key]: '20' }), false)
  assert.equal(config.get(key), 20)
  await changes.configure('dynamic', () => ({ [key]: '30' }), false)
  assert.equal(config.get(key), 30)
  assert.deepEqual(configured, ['t', 'u', 't', 'u'])
  const again = await start(t, directory)
  assert.equal(again.config.get(key), 30)
  await again.changes.configure('dynamic', () => ({}), false)
  assert.equal(again.config.get(key), 20)
  await again.changes.configure('cluster', () => ({}), false)
  assert.equal(again.config.get(key), 10)
})

test('what is refused or only looked at changes nothing', async (t) => {
  const { tree, config, configured, changes } = await start(t)
  const set = (key: string, value: string, validateOnly = false) =>
    changes.configure('dynamic', () => ({ [key]: value }), validateOnly)
  await assert.rejects(set('broker.id', '9'), refused(KafkaError.INVALID_REQUEST))
  await assert.rejects(set('log.retention.bytes', 'x'), refused(KafkaError.INVALID_CONFIG))
  await set('log.retention.bytes', '20', true)
  assert.equal(config.get('log.retention.bytes'), 10)
  assert.deepEqual(configured, [])
  assert.equal(await tree.get(brokerConfigZNode.path(0)), undefined)
})

test('changes at once see each other, in their order', async (t) => {
  const { config, changes } = await start(t)
  const add = (key: string, value: string) =>
    changes.configure('cluster', (present) => ({ ...present, [key]: value }), false)
  await Promise.all([add('log.retention.bytes', '20'), add('log.retention.ms', '30')])
  assert.equal(config.get('log.retention.bytes'), 20)
  assert.equal(config.get('log.retention.ms'), 30)
})

test('a change that cannot be written is a storage error, and not made', async (t) => {
  const { tree, config, changes } = await start(t)
  tree.create = () => Promise.reject(new SeglogError('NO_SPACE', 'the disk is full'))
  const change = changes.configure('cluster', () => ({ 'log.retention.bytes': '20' }), false)
  await assert.rejects(change, refused(KafkaError.KAFKA_STORAGE_ERROR))
  assert.equal(config.get('log.retention.bytes'), 10)
})

test('keys of the tree that this broker cannot change are left alone', async (t) => {
  const { directory, tree, config } = await start(t)
  const data = brokerConfigZNode.encode({ 'ssl.cipher.suites': 'x', 'log.retention.bytes': '20' })
  await tree.create(brokerConfigZNode.path(undefined), data)
  assert.equal(config.get('log.retention.bytes'), 10)
  assert.equal((await start(t, directory)).config.get('log.retention.bytes'), 20)
})

test('a tree with values that are none does not start', async (t) => {
  const { directory, tree } = await start(t)
  const data = brokerConfigZNode.encode({ 'log.retention.bytes': 'x' })
  await tree.create(brokerConfigZNode.path(0), data)
  await assert.rejects(start(t, directory), { code: 'INVALID_CONFIG' })
})
