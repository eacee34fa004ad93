/** Names and values of configurations that a careless broker would trip over. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createTopics } from '../../src/apis/create-topics.js'
import { describeConfigs } from '../../src/apis/describe-configs.js'
import { incrementalAlterConfigs } from '../../src/apis/incremental-alter-configs.js'
import { createTopic, startBroker } from '../support/broker.js'
import type { Wire } from '../support/wire.js'

const SET = 0
const APPEND = 2

async function alter(wire: Wire, name: string, value: string, configOperation = SET) {
  const configs = [{ name, configOperation, value }]
  const resources = [{ resourceType: 2, resourceName: 't', configs }]
  const { responses } = await wire.call(incrementalAlterConfigs, 0, {
    resources,
    validateOnly: false,
  })
  return responses[0]?.errorCode
}

test('a key called like a part of every object is unknown', async (t) => {
  const { wire } = await startBroker(t)
  await createTopic(wire, 't')
  for (const name of ['__proto__', 'constructor', 'toString']) {
    assert.equal(await alter(wire, name, '1'), 40, name)
    const topic = { name: `t-${name}`, numPartitions: 1, replicationFactor: 1, assignments: [] }
    const configs = [{ name, value: '1' }]
    const { topics } = await wire.call(createTopics, 5, { topics: [{ ...topic, configs }] })
    assert.equal(topics[0]?.errorCode, 40, name)
  }
})

test('a value too long for the protocol is refused, and the refusal is short', async (t) => {
  const { wire } = await startBroker(t)
  await createTopic(wire, 't')
  const long = Array.from({ length: 4000 }, (_, i) => `${i}:1`).join()
  assert.equal(await alter(wire, 'segment.bytes', 'x'.repeat(32_760)), 40)
  assert.equal(await alter(wire, 'leader.replication.throttled.replicas', long), 0)
  const more = Array.from({ length: 4000 }, (_, i) => `${i}:2`).join()
  assert.equal(await alter(wire, 'leader.replication.throttled.replicas', more, APPEND), 40)
  for (const version of [0, 3, 4]) {
    const resources = [{ resourceType: 2, resourceName: 't', configurationKeys: null }]
    const { results } = await wire.call(describeConfigs, version, { resources })
    assert.equal(results[0]?.errorCode, 0)
  }
})
