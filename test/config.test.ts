import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { BrokerConfig, TopicConfig } from '../src/config.js'
import { describe } from '../src/config-describe.js'

function parse(given: Record<string, string> = {}) {
  const warnings: string[] = []
  return { config: BrokerConfig.parse(given, (line) => warnings.push(line)), warnings }
}

const refused = (given: Record<string, string>, message: RegExp) =>
  assert.throws(() => parse(given), { code: 'INVALID_CONFIG', message })

test('without any key a broker works alone', () => {
  const { config, warnings } = parse()
  assert.equal(config.get('broker.id'), 0)
  assert.deepEqual(config.listeners, [{ name: 'PLAINTEXT', host: '127.0.0.1', port: 9092 }])
  assert.deepEqual(config.advertisedListeners, config.listeners)
  assert.deepEqual(config.get('log.dirs'), ['./data'])
  assert.equal(config.get('group.initial.rebalance.delay.ms'), 0)
  assert.equal(config.get('offsets.topic.replication.factor'), 1)
  assert.equal(config.get('log.flush.interval.messages'), Number.POSITIVE_INFINITY)
  assert.deepEqual(warnings, [])
})

test('every default is an allowed value', () => {
  for (const { key, name } of parse().config.entries()) {
    assert.notEqual(key.read(key.defaultText), undefined, name)
  }
})

test('given values are read by type, with white space around them dropped', () => {
  const { config } = parse({
    'log.segment.bytes': ' 1024 ',
    'auto.create.topics.enable': 'FALSE',
    'log.dirs': 'a, b',
    'log.message.timestamp.type': 'LogAppendTime',
    'log.cleaner.min.cleanable.ratio': '.25',
  })
  assert.equal(config.get('log.segment.bytes'), 1024)
  assert.equal(config.get('auto.create.topics.enable'), false)
  assert.deepEqual(config.get('log.dirs'), ['a', 'b'])
  assert.equal(config.get('log.message.timestamp.type'), 'LogAppendTime')
  assert.equal(config.get('log.cleaner.min.cleanable.ratio'), 0.25)
})

test('an unknown key is named in a warning', () => {
  const { warnings } = parse({ 'log.segment.byte': '1' })
  assert.deepEqual(warnings, ['configuration key log.segment.byte is not known and is ignored'])
})

test('a key without effect is accepted with a warning', () => {
  const { warnings } = parse({ 'num.io.threads': '8' })
  assert.deepEqual(warnings, ['configuration key num.io.threads has no effect here'])
})

test('a value is refused with its key and the allowed range', () => {
  refused({ 'log.segment.bytes': '13' }, /log\.segment\.bytes=13 .* 14 to 2147483647$/)
})

for (const [what, given] of Object.entries<Record<string, string>>({
  'a word for a number': { 'num.partitions': 'three' },
  'a fraction for a whole number': { 'num.partitions': '1.5' },
  'an empty number': { 'num.partitions': '' },
  'more than 32 bits': { 'message.max.bytes': '2147483648' },
  'more than 64 bits': { 'log.retention.ms': '9223372036854775808' },
  'yes for a boolean': { 'auto.create.topics.enable': 'yes' },
  'a word outside the choice': { 'log.message.timestamp.type': 'createtime' },
  'a ratio above 1': { 'log.cleaner.min.cleanable.ratio': '1.1' },
  'a ratio that is no number': { 'log.cleaner.min.cleanable.ratio': 'NaN' },
  'no directory': { 'log.dirs': '' },
  'an empty directory': { 'log.dirs': 'a,,b' },
  'a listener without a port': { listeners: 'PLAINTEXT://localhost' },
  'a port above 65535': { listeners: 'PLAINTEXT://:65536' },
  'a security protocol that is missing': { listeners: 'SSL://:9093' },
  'two listeners of one name': { listeners: 'PLAINTEXT://:1,PLAINTEXT://:2' },
  'an advertised name without listener': { 'advertised.listeners': 'OTHER://a:1' },
  'an advertised address of every interface': { 'advertised.listeners': 'PLAINTEXT://0.0.0.0:1' },
  'sessions that cannot be': { 'group.max.session.timeout.ms': '5999' },
})) {
  test(`${what} is refused`, () => refused(given, /is not allowed/))
}

test('a 64-bit number beyond 2^53-1 stands for no limit', () => {
  const { config } = parse({ 'log.retention.bytes': '9007199254740992' })
  assert.equal(config.get('log.retention.bytes'), Number.POSITIVE_INFINITY)
  assert.equal(config.text('log.retention.bytes'), '9007199254740992')
})

test('other names of a key stand for it', () => {
  const { config, warnings } = parse({ 'node.id': '5', 'log.dir': '/x' })
  assert.equal(config.get('broker.id'), 5)
  assert.deepEqual(config.get('log.dirs'), ['/x'])
  assert.deepEqual(warnings, [])
})

test('hours and minutes are ms, the finer unit wins and the other is warned of', () => {
  const { config, warnings } = parse({ 'log.retention.hours': '2', 'log.retention.minutes': '3' })
  assert.equal(config.get('log.retention.ms'), 180_000)
  const ignored = warnings.filter((line) => line.includes('is ignored'))
  assert.equal(ignored.length, 1)
  assert.match(ignored[0] ?? '', /log\.retention\.hours is ignored/)
})

test('a retention of -1 hours is for ever', () => {
  assert.equal(parse({ 'log.retention.hours': '-1' }).config.get('log.retention.ms'), -1)
})

test('hours that are no number are refused under their own name', () => {
  refused({ 'log.roll.hours': 'x' }, /^log\.roll\.hours=x /)
})

test('host.name and port of Kafka 0.8 make a listener, with a warning', () => {
  const { config, warnings } = parse({ 'host.name': '::1', port: '9093' })
  assert.deepEqual(config.listeners, [{ name: 'PLAINTEXT', host: '::1', port: 9093 }])
  assert.equal(warnings.length, 1)
})

test('each listener is advertised by its own name', () => {
  const { config } = parse({
    listeners: 'IN://:9092,OUT://[::]:9093',
    'listener.security.protocol.map': 'IN:PLAINTEXT,OUT:PLAINTEXT',
    'advertised.listeners': 'OUT://example.org:19093',
  })
  assert.deepEqual(config.advertisedListeners, [
    { name: 'IN', host: '', port: 9092 },
    { name: 'OUT', host: 'example.org', port: 19093 },
  ])
})

test('a topic inherits from the broker and keeps its own values', () => {
  const { config } = parse({ 'log.segment.bytes': '2048', 'log.retention.hours': '1' })
  const topic = TopicConfig.parse({ 'segment.bytes': '1024' }, config)
  assert.equal(topic.get('segment.bytes'), 1024)
  assert.equal(topic.get('retention.ms'), 3_600_000)
  assert.equal(topic.get('max.message.bytes'), 1_048_588)
  const sources = Object.fromEntries(topic.entries().map(({ name, source }) => [name, source]))
  assert.equal(sources['segment.bytes'], 'topic')
  // As in Kafka, which knows of the hours by another key.
  assert.equal(sources['retention.ms'], 'default')
  assert.equal(sources['max.message.bytes'], 'default')
})

const describedAs = (config: BrokerConfig, name: string) => {
  const { text, synonyms } = config.entries().find((entry) => entry.name === name)!
  return [text, synonyms.map((value) => `${value.name}=${value.text} ${value.source}`)]
}

test('a key in another unit is described as the key that it is in Kafka', () => {
  const { config } = parse({ 'log.retention.hours': '5', 'log.roll.ms': '7200000' })
  const hours = 'log.retention.hours'
  const inHours = [`${hours}=5 broker`, `${hours}=168 default`]
  assert.deepEqual(describedAs(config, hours), ['5', inHours])
  assert.deepEqual(describedAs(config, 'log.retention.ms'), [null, []])
  assert.deepEqual(describedAs(config, 'log.retention.minutes'), [null, []])
  const roll = ['log.roll.ms=7200000 broker', 'log.roll.hours=168 default']
  assert.deepEqual(describedAs(config, 'log.roll.ms'), ['7200000', roll])
  config.change({ dynamic: { 'log.retention.ms': '9' }, cluster: {} })
  const changed = ['log.retention.ms=9 dynamic', ...inHours]
  assert.deepEqual(describedAs(config, 'log.retention.ms'), ['9', changed])
})

test('another name of a key is described with its value', () => {
  const { config } = parse({ 'node.id': '7' })
  assert.deepEqual(describedAs(config, 'node.id'), ['7', ['node.id=7 broker']])
  assert.deepEqual(describedAs(config, 'log.dir'), ['./data', ['log.dir=./data default']])
})

test('keys of parts that are not there are checked and described, and named in a warning', () => {
  const given = { 'ssl.client.auth': 'required', 'ssl.key.password': 'secret' }
  const { config, warnings } = parse(given)
  assert.deepEqual(describedAs(config, 'ssl.client.auth')[0], 'required')
  assert.equal(warnings.length, 2)
  assert.throws(() => parse({ 'ssl.client.auth': 'x' }), { code: 'INVALID_CONFIG' })
  assert.throws(() => parse({ 'broker.session.timeout.ms': 'x' }), { code: 'INVALID_CONFIG' })
})

test('a listener may be mapped to a protocol that there is not, unless it is opened', () => {
  const map = 'CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT,SSL:SSL'
  const key = 'listener.security.protocol.map'
  assert.equal(parse({ [key]: map }).config.listeners.length, 1)
  const listeners = 'SSL://127.0.0.1:9093'
  assert.throws(() => parse({ [key]: map, listeners }), { code: 'INVALID_CONFIG' })
  assert.throws(() => parse({ [key]: 'PLAINTEXT:TLS' }), { code: 'INVALID_CONFIG' })
})

test('a topic refuses a key of the broker and a bad value', () => {
  const { config } = parse()
  for (const given of [{ 'log.segment.bytes': '1024' }, { 'segment.bytes': '13' }]) {
    assert.throws(() => TopicConfig.parse(given, config), { code: 'INVALID_CONFIG' })
  }
})

test('docs/configuration.md says what the table says', () => {
  const page = new URL('../../docs/configuration.md', import.meta.url)
  assert.equal(readFileSync(page, 'utf8'), describe())
})

test('ports and directories that exclude each other are refused by name', () => {
  refused({ listeners: 'PLAINTEXT://127.0.0.1:9092', 'metrics.port': '9092' }, /^metrics.port=9092/)
  refused({ 'log.dirs': 'a,./a' }, /^log.dirs=a,\.\/a is not allowed/)
  assert.equal(parse({ 'metrics.port': '9093' }).config.get('metrics.port'), 9093)
})
