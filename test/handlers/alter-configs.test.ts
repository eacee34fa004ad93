/** Changes of configurations while the broker runs, and what DescribeConfigs tells of them. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { alterConfigs } from '../../src/apis/alter-configs.js'
import { apiVersions } from '../../src/apis/api-versions.js'
import { describeConfigs } from '../../src/apis/describe-configs.js'
import { incrementalAlterConfigs } from '../../src/apis/incremental-alter-configs.js'
import { batchOf, createTopic, produceTo, startBroker } from '../support/broker.js'
import { temporaryDirectory } from '../support/tmp.js'
import { Wire } from '../support/wire.js'

const TOPIC = 2
const BROKER = 4
const SET = 0
const DELETE = 1
const APPEND = 2
const SUBTRACT = 3

type Change = [operation: number, name: string, value: string | null]

async function start(t: TestContext, configs: Record<string, string> = {}) {
  const dataDir = temporaryDirectory(t)
  const { broker, wire } = await startBroker(t, { dataDir })
  await createTopic(wire, 't', { configs })
  return { broker, wire, dataDir }
}

async function change(
  wire: Wire,
  changes: Change[],
  { resourceType = TOPIC, resourceName = 't', validateOnly = false, version = 1 } = {},
) {
  const configs = changes.map(([configOperation, name, value]) => {
    return { name, configOperation, value }
  })
  const resources = [{ resourceType, resourceName, configs }]
  const body = { resources, validateOnly }
  const { responses } = await wire.call(incrementalAlterConfigs, version, body)
  return responses[0]?.errorCode
}

async function replace(wire: Wire, values: Record<string, string | null>, version = 2) {
  const configs = Object.entries(values).map(([name, value]) => ({ name, value }))
  const resources = [{ resourceType: TOPIC, resourceName: 't', configs }]
  const { responses } = await wire.call(alterConfigs, version, { resources, validateOnly: false })
  return responses[0]?.errorCode
}

/** Value and source of a key, and the synonyms as name, value and source. */
async function told(wire: Wire, name: string, resourceType = TOPIC, resourceName = 't') {
  const resources = [{ resourceType, resourceName, configurationKeys: [name] }]
  const { results } = await wire.call(describeConfigs, 4, { resources, includeSynonyms: true })
  const config = results[0]?.configs[0]
  const synonyms = config?.synonyms.map((each) => [each.name, each.value, each.source])
  return config && { value: config.value, source: config.configSource, synonyms }
}

test('a key is set and deleted, alone, in every version', async (t) => {
  const { wire } = await start(t, { 'retention.bytes': '5000' })
  for (const version of [0, 1]) {
    assert.equal(await change(wire, [[SET, 'retention.ms', '1000']], { version }), 0)
    assert.deepEqual(await told(wire, 'retention.ms'), {
      value: '1000',
      source: 1,
      synonyms: [['retention.ms', '1000', 1]],
    })
    assert.equal(await change(wire, [[DELETE, 'retention.ms', null]], { version }), 0)
    assert.equal((await told(wire, 'retention.ms'))?.source, 5)
  }
  assert.equal((await told(wire, 'retention.bytes'))?.value, '5000')
})

test('AlterConfigs leaves nothing of what was there', async (t) => {
  const { wire } = await start(t, { 'retention.bytes': '5000' })
  for (const version of [0, 1, 2]) {
    assert.equal(await replace(wire, { 'retention.ms': String(version + 1) }, version), 0)
    assert.equal((await told(wire, 'retention.ms'))?.value, String(version + 1))
    assert.deepEqual((await told(wire, 'retention.bytes'))?.source, 5)
  }
  assert.equal(await replace(wire, {}), 0)
  assert.equal((await told(wire, 'retention.ms'))?.source, 5)
})

test('lists grow and shrink, from their default on', async (t) => {
  const { wire } = await start(t)
  const steps: [Change, string][] = [
    [[APPEND, 'cleanup.policy', 'compact'], 'delete,compact'],
    [[APPEND, 'cleanup.policy', 'compact'], 'delete,compact'],
    [[SUBTRACT, 'cleanup.policy', 'delete'], 'compact'],
    [[SUBTRACT, 'cleanup.policy', 'delete'], 'compact'],
  ]
  for (const [step, value] of steps) {
    assert.equal(await change(wire, [step]), 0)
    assert.equal((await told(wire, 'cleanup.policy'))?.value, value)
  }
})

test('a change holds from the next append on, and after a restart', async (t) => {
  const { broker, wire, dataDir } = await start(t)
  const batch = batchOf('x'.repeat(200))
  assert.equal(await change(wire, [[SET, 'max.message.bytes', '100']]), 0)
  assert.equal((await produceTo(wire, 't', batch)).errorCode, 10)
  await broker.close()
  const again = await startBroker(t, { dataDir })
  assert.equal((await produceTo(again.wire, 't', batch)).errorCode, 10)
  assert.equal(await change(again.wire, [[DELETE, 'max.message.bytes', null]]), 0)
  assert.equal((await produceTo(again.wire, 't', batch)).errorCode, 0)
})

test('validateOnly says what would be, and changes nothing', async (t) => {
  const { wire } = await start(t)
  const only = { validateOnly: true }
  assert.equal(await change(wire, [[SET, 'retention.ms', '1000']], only), 0)
  assert.equal(await change(wire, [[SET, 'retention.ms', 'x']], only), 40)
  assert.equal((await told(wire, 'retention.ms'))?.source, 5)
})

test('what is no key or no value changes nothing', async (t) => {
  const { wire } = await start(t)
  const good: Change = [SET, 'retention.ms', '1000']
  const cases: [Change, number][] = [
    [[SET, 'nix', '1'], 40],
    [[SET, 'retention.bytes', 'x'], 40],
    [[SET, 'remote.storage.enable', 'true'], 40],
    [[APPEND, 'retention.bytes', '1'], 40],
    [[SET, 'retention.bytes', null], 42],
    [[APPEND, 'cleanup.policy', null], 42],
    [[9, 'retention.bytes', '1'], -1],
    [[-1, 'retention.bytes', '1'], -1],
    [[DELETE, 'retention.ms', null], 42],
  ]
  for (const [bad, code] of cases) {
    assert.equal(await change(wire, [good, bad]), code, JSON.stringify(bad))
    assert.equal((await told(wire, 'retention.ms'))?.source, 5)
  }
  assert.equal(await replace(wire, { 'retention.ms': null }), 42)
})

test('a resource that is not there, has no name, or has no configuration is refused', async (t) => {
  const { wire } = await start(t)
  const code = (resourceType: number, resourceName: string) =>
    change(wire, [], { resourceType, resourceName })
  assert.equal(await code(TOPIC, 'nix'), 3)
  assert.equal(await code(TOPIC, ''), 42)
  assert.equal(await code(TOPIC, 'a/b'), 17)
  assert.equal(await code(BROKER, '9'), 42)
  assert.equal(await code(BROKER, 'x'), 42)
  assert.equal(await code(77, 't'), 42)
})

test('groups, metrics of clients and loggers have nothing that could be set', async (t) => {
  const { wire } = await start(t)
  const one: Change = [SET, 'x', '1']
  const code = (resourceType: number, resourceName: string) =>
    change(wire, [one], { resourceType, resourceName })
  assert.deepEqual([await code(32, 'g'), await code(16, 'm')], [40, 42])
  assert.deepEqual([await code(8, '0'), await code(8, '9')], [40, 42])
})

test('a key without an effect is changed as in Kafka, but for passwords', async (t) => {
  const { wire } = await start(t)
  const broker = { resourceType: BROKER, resourceName: '0' }
  assert.equal(await change(wire, [[SET, 'ssl.client.auth', 'required']], broker), 0)
  assert.deepEqual((await told(wire, 'ssl.client.auth', BROKER, '0'))?.value, 'required')
  assert.equal(await change(wire, [[SET, 'ssl.key.password', 'x']], broker), 42)
  assert.equal(await change(wire, [[SET, 'broker.session.timeout.ms', '1']], broker), 42)
})

test('max.connections holds from the next connection on', async (t) => {
  const { wire, broker } = await start(t)
  const scope = { resourceType: BROKER, resourceName: '0' }
  assert.equal(await change(wire, [[SET, 'max.connections', '1']], scope), 0)
  await (await Wire.connect(t, broker.port)).closed
  assert.equal(await change(wire, [[DELETE, 'max.connections', null]], scope), 0)
  const other = await Wire.connect(t, broker.port)
  const { errorCode } = await other.call(apiVersions, 0, {})
  assert.equal(errorCode, 0)
})

test('a resource that is named twice is refused each time', async (t) => {
  const { wire } = await start(t)
  const resource = { resourceType: TOPIC, resourceName: 't', configs: [] }
  const body = { resources: [resource, resource], validateOnly: false }
  for (const { responses } of [
    await wire.call(incrementalAlterConfigs, 1, body),
    await wire.call(alterConfigs, 2, body),
  ]) {
    assert.deepEqual(
      responses.map(({ errorCode }) => errorCode),
      [42, 42],
    )
  }
})

test('a broker is changed for itself above all of them, and topics follow', async (t) => {
  const { broker, wire, dataDir } = await start(t)
  const key = 'log.retention.bytes'
  const all = { resourceType: BROKER, resourceName: '' }
  const one = { resourceType: BROKER, resourceName: '0' }
  assert.equal(await change(wire, [[SET, key, '7000']], all), 0)
  assert.deepEqual(await told(wire, 'retention.bytes'), {
    value: '7000',
    source: 3,
    synonyms: [
      [key, '7000', 3],
      [key, '-1', 5],
    ],
  })
  assert.equal(await change(wire, [[SET, key, '8000']], one), 0)
  await broker.close()
  const again = await startBroker(t, { dataDir })
  assert.deepEqual(await told(again.wire, key, BROKER, '0'), {
    value: '8000',
    source: 2,
    synonyms: [
      [key, '8000', 2],
      [key, '7000', 3],
      [key, '-1', 5],
    ],
  })
  assert.deepEqual((await told(again.wire, key, BROKER, ''))?.value, '7000')
  assert.equal(await change(again.wire, [[DELETE, key, null]], one), 0)
  assert.equal((await told(again.wire, 'retention.bytes'))?.value, '7000')
})

test('a broker limit that is changed holds for topics at once', async (t) => {
  const { wire } = await start(t)
  const all = { resourceType: BROKER, resourceName: '' }
  assert.equal(await change(wire, [[SET, 'message.max.bytes', '100']], all), 0)
  assert.equal((await produceTo(wire, 't', batchOf('x'.repeat(200)))).errorCode, 10)
})

test('what a broker reads at its start alone is not changed', async (t) => {
  const { wire } = await start(t)
  const one = { resourceType: BROKER, resourceName: '0' }
  assert.equal(await change(wire, [[SET, 'broker.id', '9']], one), 42)
  assert.equal(await change(wire, [[SET, 'nix', '9']], one), 42)
  assert.equal(await change(wire, [[SET, 'log.segment.bytes', 'x']], one), 40)
})
