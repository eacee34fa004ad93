import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { run } from '../../src/cli/configs.js'
import { createTopic, startBroker } from '../support/broker.js'
import { against, inside } from './inside.js'

async function scene(t: TestContext) {
  const { broker, wire } = await startBroker(t)
  await createTopic(wire, 't', { configs: { 'segment.ms': '99' } })
  return against(run, broker.bootstrap)
}

test('a topic shows what it has of its own, and with --all the rest', async (t) => {
  const configs = await scene(t)
  const own = (await configs('describe', 'topic', 't', '--json')).objects()
  assert.deepEqual(
    own.map(({ name, value, source }) => [name, value, source]),
    [['segment.ms', '99', 'topic']],
  )
  const all = (await configs('describe', 'topic', 't', '--all', '--json')).objects()
  assert.equal(all.find(({ name }) => name === 'retention.ms')?.source, 'default')
})

test('a key is set, and taken back', async (t) => {
  const configs = await scene(t)
  const value = async () => {
    const rows = (await configs('describe', 'topic', 't', '--json')).objects()
    return rows.find(({ name }) => name === 'retention.ms')?.value
  }
  assert.equal(
    (await configs('alter', 'topic', 't', '--set', 'retention.ms=5')).stdout,
    'topic t altered\n',
  )
  assert.equal(await value(), '5')
  await configs('alter', 'topic', 't', '--delete', 'retention.ms')
  assert.equal(await value(), undefined)
})

test('a key to be taken back that is misspelt is told', async (t) => {
  const configs = await scene(t)
  const wrong = configs('alter', 'topic', 't', '--delete', 'retention.sm')
  await assert.rejects(wrong, { code: 'BAD_ARGUMENT', message: 'topic t: no retention.sm is set' })
})

test('a topic with no configs of its own says so', async (t) => {
  const configs = await scene(t)
  await configs('alter', 'topic', 't', '--delete', 'segment.ms')
  const { stdout } = await configs('describe', 'topic', 't')
  assert.match(stdout, /^nothing is set; --all shows/)
})

test('a key of one broker, and of all of them, are two', async (t) => {
  const configs = await scene(t)
  await configs('alter', 'broker', '0', '--set', 'log.retention.ms=5')
  await configs('alter', 'broker', '--set', 'log.retention.ms=7')
  const find = async (...names: string[]) => {
    const rows = (await configs('describe', 'broker', ...names, '--json')).objects()
    const row = rows.find(({ name }) => name === 'log.retention.ms')
    return [row?.value, row?.source]
  }
  assert.deepEqual(await find('0'), ['5', 'dynamic broker'])
  assert.deepEqual(await find(), ['7', 'dynamic default broker'])
})

test('a value that is not allowed is refused, and so is a broker that is not there', async (t) => {
  const configs = await scene(t)
  const set = ['--set', 'retention.ms=soon']
  await assert.rejects(configs('alter', 'topic', 't', ...set), { kafkaName: 'INVALID_CONFIG' })
  await assert.rejects(configs('describe', 'broker', '9'), {
    message: 'broker 9: BROKER_NOT_AVAILABLE',
  })
})

for (const [what, args, text] of [
  ['no action', ['explain', 'topic', 't'], /describe or alter/],
  ['another resource', ['describe', 'user', 'x'], /topic or broker is needed, not "user"/],
  ['no topic', ['describe', 'topic'], /TOPIC is needed/],
  ['no id', ['describe', 'broker', 'x'], /is a number, not "x"/],
  ['nothing to alter', ['alter', 'topic', 't'], /--set or --delete is needed/],
  ['a change while describing', ['describe', 'topic', 't', '--set', 'a=b'], /changes nothing/],
] as const) {
  test(`${what} is a fault of usage`, async () => {
    await assert.rejects(inside(run, [...args]), { code: 'USAGE', message: text })
  })
}
