import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { run } from '../../src/cli/topics.js'
import { batchOf, describeTopic, produceTo, startBroker } from '../support/broker.js'
import { against, inside } from './inside.js'

async function scene(t: TestContext) {
  const { broker, wire } = await startBroker(t)
  return { wire, topics: against(run, broker.bootstrap) }
}

test('a topic is made as it is asked for', async (t) => {
  const { wire, topics } = await scene(t)
  const args = ['--partitions', '3', '--config', 'retention.ms=5000', '--config', 'segment.ms=99']
  assert.equal((await topics('create', 't', ...args)).stdout, 'topic t created\n')
  assert.equal((await describeTopic(wire, 't')).partitions.length, 3)
  const [topic] = (await topics('describe', 't', '--json')).objects()
  assert.deepEqual(topic?.configs, { 'retention.ms': '5000', 'segment.ms': '99' })
})

test('a topic that is there is an error, or none with --if-not-exists', async (t) => {
  const { topics } = await scene(t)
  await topics('create', 't')
  await assert.rejects(topics('create', 't'), { kafkaName: 'TOPIC_ALREADY_EXISTS' })
  const { code, stdout } = await topics('create', 't', '--if-not-exists')
  assert.deepEqual([code, stdout], [0, 'topic t is there already\n'])
})

test('the list leaves internal topics out unless they are asked for', async (t) => {
  const { wire, topics } = await scene(t)
  await topics('create', 'longer-name', '--partitions', '2')
  await topics('create', 't')
  await describeTopic(wire, 't')
  const { stdout } = await topics('list')
  assert.equal(
    stdout,
    'topic        partitions  replicationFactor\n' +
      'longer-name  2           1\n' +
      't            1           1\n',
  )
  await topics('create', '__consumer_offsets', '--if-not-exists', '--partitions', '1')
  const names = (await topics('list', '--internal', '--json')).objects().map(({ topic }) => topic)
  assert.deepEqual(names, ['__consumer_offsets', 'longer-name', 't'])
})

test('the description tells where each partition begins and ends', async (t) => {
  const { wire, topics } = await scene(t)
  await topics('create', 't', '--partitions', '2')
  await produceTo(wire, 't', batchOf('a', 'b'), { partition: 1 })
  const rows = (await topics('describe', '--json')).objects().slice(1)
  assert.deepEqual(
    rows.map(({ partition, leader, replicas, isr, startOffset, endOffset, error }) => [
      partition,
      leader,
      replicas,
      isr,
      startOffset,
      endOffset,
      error,
    ]),
    [
      [0, 0, [0], [0], 0, 0, null],
      [1, 0, [0], [0], 0, 2, null],
    ],
  )
})

test('a topic grows, and its configuration changes key by key', async (t) => {
  const { wire, topics } = await scene(t)
  await topics('create', 't', '--config', 'retention.ms=5000', '--config', 'segment.ms=99')
  const changes = ['--config', 'retention.bytes=7', '--delete-config', 'segment.ms']
  await topics('alter', 't', '--partitions', '4', ...changes)
  assert.equal((await describeTopic(wire, 't')).partitions.length, 4)
  const [topic] = (await topics('describe', 't', '--json')).objects()
  assert.deepEqual(topic?.configs, { 'retention.bytes': '7', 'retention.ms': '5000' })
  await assert.rejects(topics('alter', 't', '--partitions', '2'), {
    kafkaName: 'INVALID_PARTITIONS',
  })
})

test('topics are deleted; a missing one is an error, or none with --if-exists', async (t) => {
  const { topics } = await scene(t)
  await topics('create', 'a')
  await topics('create', 'b')
  assert.equal((await topics('delete', 'a', 'b')).stdout, 'topic a deleted\ntopic b deleted\n')
  await assert.rejects(topics('delete', 'a'), { kafkaName: 'UNKNOWN_TOPIC_OR_PARTITION' })
  assert.equal((await topics('delete', 'a', '--if-exists')).stdout, 'topic a is not there\n')
})

for (const [what, args, text] of [
  ['no action', [], /what is to be done/],
  ['an unknown action', ['rename', 't'], /no action rename/],
  ['no topic', ['create'], /TOPIC is needed/],
  ['two topics', ['create', 'a', 'b'], /only one TOPIC/],
  ['nothing to alter', ['alter', 't'], /is needed/],
  ['no number', ['create', 't', '--partitions', 'x'], /--partitions takes a whole number/],
  ['too many partitions', ['create', 't', '--partitions', '2147483648'], /from 1 to 2147483647/],
  ['a key without a value', ['create', 't', '--config', 'x'], /--config takes KEY=VALUE/],
  [
    'an option of another action',
    ['list', '--partitions', '1'],
    /topics list takes no --partitions/,
  ],
  ['no address', ['list', '--bootstrap-server', 'x'], /takes HOST:PORT, not "x"/],
  ['a port out of range', ['list', '--bootstrap-server', 'x:65536'], /takes HOST:PORT/],
] as const) {
  test(`${what} is a fault of usage`, async () => {
    await assert.rejects(inside(run, [...args]), { code: 'USAGE', message: text })
  })
}
