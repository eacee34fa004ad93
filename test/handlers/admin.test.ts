/**
 * What tools ask of a broker: its cluster, its configuration, its coordinators, and ids for
 * producers.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { describeCluster } from '../../src/apis/describe-cluster.js'
import { describeConfigs } from '../../src/apis/describe-configs.js'
import { describeGroups } from '../../src/apis/describe-groups.js'
import { findCoordinator } from '../../src/apis/find-coordinator.js'
import { initProducerId } from '../../src/apis/init-producer-id.js'
import { createTopic, startBroker } from '../support/broker.js'
import { temporaryDirectory } from '../support/tmp.js'
import type { Wire } from '../support/wire.js'

test('the coordinator of any group is this broker, in the form of each version', async (t) => {
  const { broker, wire } = await startBroker(t)
  const here = { nodeId: 0, host: '127.0.0.1', port: broker.port }
  for (const version of [0, 1, 2, 3]) {
    for (const key of ['group', '']) {
      const answer = await wire.call(findCoordinator, version, { key, keyType: 0 })
      const { errorCode, errorMessage, nodeId, host, port } = answer
      assert.deepEqual({ nodeId, host, port }, here)
      assert.deepEqual([errorCode, errorMessage], [0, version === 0 ? '' : 'NONE'])
    }
  }
  for (const version of [4, 5, 6]) {
    const { coordinators } = await wire.call(findCoordinator, version, {
      coordinatorKeys: ['a', ''],
    })
    const found = (key: string) => ({ key, ...here, errorCode: 0, errorMessage: '' })
    assert.deepEqual(coordinators, [found('a'), found('')])
  }
})

test('a coordinator of another kind than groups is refused', async (t) => {
  const { wire } = await startBroker(t)
  assert.equal((await wire.call(findCoordinator, 3, { key: 'x', keyType: 7 })).errorCode, 42)
  const { coordinators } = await wire.call(findCoordinator, 4, {
    coordinatorKeys: ['x'],
    keyType: 2,
  })
  assert.deepEqual([coordinators[0]?.key, coordinators[0]?.errorCode], ['x', 42])
})

async function newId(wire: Wire, given: { producerId?: number; producerEpoch?: number } = {}) {
  const body = { transactionalId: null, transactionTimeoutMs: 0, ...given }
  const { errorCode, producerId, producerEpoch } = await wire.call(initProducerId, 4, body)
  return [errorCode, producerId, producerEpoch] as const
}

test('no producer id is given twice, not by a broker that was started again either', async (t) => {
  const dataDir = temporaryDirectory(t)
  const ids = new Set<number>()
  for (let round = 0; round < 3; round++) {
    const { broker, wire } = await startBroker(t, { dataDir })
    for (const [errorCode, id, epoch] of await Promise.all([1, 2, 3, 4].map(() => newId(wire)))) {
      assert.deepEqual([errorCode, epoch], [0, 0])
      ids.add(id)
    }
    await broker.close()
  }
  assert.equal(ids.size, 12)
})

test('a producer that has an id gets a new one; half an id is refused', async (t) => {
  const { wire } = await startBroker(t)
  const [errorCode, id] = await newId(wire, { producerId: 500_000, producerEpoch: 3 })
  assert.equal(errorCode, 0)
  assert.notEqual(id, 500_000)
  assert.equal((await newId(wire, { producerId: 5 }))[0], 42)
  assert.equal((await newId(wire, { producerEpoch: 5 }))[0], 42)
})

async function identity(wire: Wire, version: number, given: object = {}) {
  const body = { transactionalId: 'tx', transactionTimeoutMs: 1000, ...given }
  const { errorCode, producerId, producerEpoch } = await wire.call(initProducerId, version, body)
  return { errorCode, producerId, producerEpoch }
}

test('a transactional id keeps its producer id, and each init gets an epoch', async (t) => {
  const { wire } = await startBroker(t)
  const first = await identity(wire, 4)
  assert.deepEqual([first.errorCode, first.producerEpoch], [0, 0])
  assert.deepEqual(await identity(wire, 0), { ...first, producerEpoch: 1 })
  const other = await identity(wire, 4, { transactionalId: 'other' })
  assert.notEqual(other.producerId, first.producerId)
})

test('a producer whose place another has taken is fenced', async (t) => {
  const { wire } = await startBroker(t)
  const { producerId } = await identity(wire, 4)
  await identity(wire, 4)
  const claimed = { producerId, producerEpoch: 0 }
  assert.equal((await identity(wire, 4, claimed)).errorCode, 90)
  assert.equal((await identity(wire, 3, claimed)).errorCode, 47)
  assert.deepEqual(await identity(wire, 4, { producerId, producerEpoch: 1 }), {
    errorCode: 0,
    producerId,
    producerEpoch: 2,
  })
})

test('an empty transactional id is malformed, and a timeout has bounds', async (t) => {
  const { wire } = await startBroker(t)
  assert.equal((await identity(wire, 0, { transactionalId: '' })).errorCode, 42)
  for (const transactionTimeoutMs of [0, -1, 900_001]) {
    assert.equal((await identity(wire, 0, { transactionTimeoutMs })).errorCode, 50)
  }
})

test('the cluster is this broker, and the endpoints of controllers are elsewhere', async (t) => {
  const { broker, wire } = await startBroker(t)
  const ask = (version: number, endpointType = 1) =>
    wire.call(describeCluster, version, { includeClusterAuthorizedOperations: true, endpointType })
  for (const version of [0, 1, 2]) {
    const { errorCode, clusterId, controllerId, brokers, clusterAuthorizedOperations } =
      await ask(version)
    assert.deepEqual([errorCode, clusterId, controllerId], [0, broker.clusterId, 0])
    assert.deepEqual([brokers[0]?.brokerId, brokers[0]?.port], [0, broker.port])
    assert.equal(clusterAuthorizedOperations, 8096)
  }
  assert.deepEqual([(await ask(2, 2)).errorCode, (await ask(2, 3)).errorCode], [114, 115])
})

async function configs(
  wire: Wire,
  resourceType: number,
  resourceName: string,
  configurationKeys: string[] | null = null,
  rest: object = {},
) {
  const resources = [{ resourceType, resourceName, configurationKeys }]
  const { results } = await wire.call(describeConfigs, 4, { resources, ...rest })
  assert.ok(results[0])
  return results[0]
}

test('a topic is described with every key, and where its value comes from', async (t) => {
  const { wire } = await startBroker(t, { config: { 'log.retention.bytes': 5000 } })
  await createTopic(wire, 't', { configs: { 'retention.ms': '1000' } })
  const all = await configs(wire, 2, 't')
  assert.deepEqual([all.errorCode, all.errorMessage], [0, ''])
  const told = new Map(
    all.configs.map(({ name, value, configSource }) => [name, [value, configSource]]),
  )
  assert.deepEqual(told.get('retention.ms'), ['1000', 1])
  assert.deepEqual(told.get('retention.bytes'), ['5000', 4])
  assert.deepEqual(told.get('cleanup.policy'), ['delete', 5])
})

test('no keys at all means all of them, and unknown ones are left out', async (t) => {
  const { wire } = await startBroker(t)
  await createTopic(wire, 't')
  const all = await configs(wire, 2, 't')
  assert.equal((await configs(wire, 2, 't', [])).configs.length, all.configs.length)
  const some = await configs(wire, 2, 't', ['nix', 'retention.ms'])
  assert.deepEqual(
    some.configs.map(({ name }) => name),
    ['retention.ms'],
  )
})

test('a broker is described under its id, and nothing else under that type', async (t) => {
  const { wire } = await startBroker(t)
  const mine = await configs(wire, 4, '0', ['num.partitions'], { includeDocumentation: true })
  assert.equal(mine.configs[0]?.value, '1')
  assert.ok(mine.configs[0].documentation)
  assert.equal((await configs(wire, 4, '99')).errorCode, 42)
  assert.equal((await configs(wire, 4, 'x')).errorCode, 42)
  assert.equal((await configs(wire, 2, 'nix')).errorCode, 3)
  assert.equal((await configs(wire, 77, 'x')).errorCode, 42)
})

test('a broker tells every key of Kafka, and no password', async (t) => {
  const config = { 'ssl.key.password': 'hunter2', 'ssl.keystore.type': 'PEM' }
  const { wire } = await startBroker(t, { config })
  const { configs: told } = await configs(wire, 4, '0', null, { includeSynonyms: true })
  assert.ok(told.length > 340)
  const keys = new Map(told.map((each) => [each.name, each]))
  const hidden = keys.get('ssl.key.password')
  assert.deepEqual([hidden?.value, hidden?.isSensitive, hidden?.configType], [null, true, 9])
  assert.ok(!JSON.stringify(told).includes('hunter2'))
  assert.equal(keys.get('ssl.keystore.type')?.value, 'PEM')
  const types = ['principal.builder.class', 'transaction.state.log.replication.factor']
  assert.deepEqual(
    types.map((name) => keys.get(name)?.configType),
    [8, 4],
  )
})

test('groups and subscriptions to metrics have the defaults, by any name but none', async (t) => {
  const { wire } = await startBroker(t, { config: { 'group.share.session.timeout.ms': 50_000 } })
  const { configs: group } = await configs(wire, 32, 'any')
  const values = new Map(group.map(({ name, value }) => [name, value]))
  assert.equal(values.size, 17)
  assert.equal(values.get('share.session.timeout.ms'), '50000')
  assert.equal(values.get('share.isolation.level'), 'read_uncommitted')
  const { configs: metrics } = await configs(wire, 16, 'any')
  assert.deepEqual(
    metrics.map(({ name, value }) => [name, value]),
    [
      ['interval.ms', '300000'],
      ['match', ''],
      ['metrics', ''],
    ],
  )
  for (const type of [16, 32]) assert.equal((await configs(wire, type, '')).errorCode, 42)
})

test('synonyms come where they are asked for', async (t) => {
  const { wire } = await startBroker(t)
  const asked = await configs(wire, 4, '0', ['num.partitions'], { includeSynonyms: true })
  const not = await configs(wire, 4, '0', ['num.partitions'])
  assert.deepEqual([asked.configs[0]?.synonyms.length, not.configs[0]?.synonyms.length], [1, 0])
})

test('what a request names ten thousand times is described once', async (t) => {
  const { wire } = await startBroker(t)
  await createTopic(wire, 't')
  const resource = { resourceType: 2, resourceName: 't', configurationKeys: null }
  const resources = Array.from({ length: 10_000 }, () => resource)
  const configs = await wire.call(describeConfigs, 4, { resources })
  assert.equal(configs.results.length, 1)
  const groups = Array.from({ length: 10_000 }, () => 'g')
  assert.equal((await wire.call(describeGroups, 6, { groups })).groups.length, 1)
})
