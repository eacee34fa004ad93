import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  brokerZNode,
  producerIdBlockZNode,
  topicConfigZNode,
  topicZNode,
} from '../../src/coordination/znodes.js'

test('a topic is written as Kafka 2.8 and later write it', () => {
  const topicId = 'AAAAAAAAAAAAAAAAAAAAAQ'
  const data = topicZNode.encode({ topicId, partitions: [[0], [0, 1]] })
  assert.deepEqual(JSON.parse(data.toString()), {
    version: 3,
    topic_id: topicId,
    partitions: { 0: [0], 1: [0, 1] },
    adding_replicas: {},
    removing_replicas: {},
  })
  assert.deepEqual(topicZNode.decode(data, 't'), { topicId, partitions: [[0], [0, 1]] })
})

test('a topic from before topic ids is read', () => {
  const data = Buffer.from('{"version":1,"partitions":{"1":[2],"0":[1]}}')
  assert.deepEqual(topicZNode.decode(data, 't'), { topicId: undefined, partitions: [[1], [2]] })
})

test('a topic with a gap in its partitions, and bytes that are no JSON, are refused', () => {
  for (const text of [
    '{"partitions":{"1":[0]}}',
    '{"partitions":{"0":3}}',
    '{}',
    'null',
    'x',
    '',
  ]) {
    assert.throws(() => topicZNode.decode(Buffer.from(text), 't'), { code: 'CORRUPT' })
  }
})

test('a topic configuration comes back as it went in', () => {
  const config = { 'retention.ms': '1000' }
  const data = topicConfigZNode.encode(config)
  assert.deepEqual(JSON.parse(data.toString()), { version: 1, config })
  assert.deepEqual(topicConfigZNode.decode(data, 't'), config)
})

test('a configuration of another shape is refused', () => {
  for (const text of ['null', '{}', '{"config":null}', '{"config":1}']) {
    assert.throws(() => topicConfigZNode.decode(Buffer.from(text), 't'), { code: 'CORRUPT' })
  }
})

test('a broker names its endpoint and its port', () => {
  const value = JSON.parse(brokerZNode.encode('h', 9092, 5).toString())
  assert.deepEqual(value.endpoints, ['PLAINTEXT://h:9092'])
  assert.deepEqual([value.host, value.port, value.version], ['h', 9092, 5])
})

test('a block of producer ids tells its last one', () => {
  assert.equal(producerIdBlockZNode.decode(producerIdBlockZNode.encode(0, 2000)), 2999)
})
