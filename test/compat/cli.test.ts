/**
 * The command line as a client of Apache Kafka itself: topics, records, groups and configurations
 * of 4.3.1 and of 3.6.2, checked by what Kafka's own tools and kcat see.
 */
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { before, test } from 'node:test'
import { type Finished, main, run, temporaryFolder } from './harness.js'
import { type Server, startKafka4, startKafkaOnZooKeeper, startZooKeeper } from './kafka-server.js'
import { accessLog } from './lines.js'
import { prepare } from './prepare.js'
import { codecs, kafkaTool, kcat } from './strangers.js'

const limit = { timeout: 300_000 }

before(prepare)

type Seglog = (
  args: string[],
  options?: { input?: string; expect?: number | 'any' },
) => Promise<Finished>

function cliOf({ bootstrap }: Server): Seglog {
  const server = ['--bootstrap-server', bootstrap]
  return (args, options) => run(process.execPath, [main, ...args, ...server], options)
}

const objects = (text: string): Record<string, unknown>[] =>
  text
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line) as Record<string, unknown>)

async function topics(seglog: Seglog): Promise<void> {
  const create = ['topics', 'create', 'made', '--partitions', '2']
  await seglog([...create, '--config', 'retention.ms=123456', '--replication-factor', '1'])
  const again = await seglog(create, { expect: 1 })
  assert.match(again.stderr, /^seglog: topic made: TOPIC_ALREADY_EXISTS \(.*made.*\)\n$/)
  await seglog([...create, '--if-not-exists'])
  await seglog(['topics', 'alter', 'made', '--partitions', '3', '--config', 'segment.ms=60000'])
  const described = objects((await seglog(['topics', 'describe', 'made', '--json'])).text)
  const [topic, ...partitions] = described
  assert.deepEqual(topic?.configs, { 'retention.ms': '123456', 'segment.ms': '60000' })
  assert.deepEqual(
    partitions.map(({ partition, startOffset, endOffset, error }) => [
      partition,
      startOffset,
      endOffset,
      error,
    ]),
    [
      [0, 0, 0, null],
      [1, 0, 0, null],
      [2, 0, 0, null],
    ],
  )
  assert.match((await seglog(['topics', 'list'])).text, /^made +3 +1$/m)
  await seglog(['topics', 'delete', 'made'])
  assert.doesNotMatch((await seglog(['topics', 'list'])).text, /^made /m)
}

async function records(seglog: Seglog, { bootstrap }: Server): Promise<void> {
  const input = accessLog(2000).toString()
  for (const codec of codecs) {
    const topic = `lines-${codec}`
    await seglog(['topics', 'create', topic])
    await seglog(['produce', topic, '--compression', codec], { input })
    const theirs = await kcat(bootstrap, ['-C', '-t', topic, '-e', '-q', '-X', 'check.crcs=true'])
    assert.equal(theirs.text, input, `kcat reads ${codec}`)
    const ours = await seglog(['consume', topic, '--from-beginning', '--to-end'])
    assert.equal(ours.text, input, `seglog reads ${codec}`)
  }
  const binary = { key: 'k', value: randomBytes(100).toString('base64'), valueEncoding: 'base64' }
  const headers = [{ key: 'h', value: 'v' }]
  const line = { ...binary, headers, timestamp: 1_700_000_000_000 }
  await seglog(['produce', 'lines-none', '--json-lines'], { input: JSON.stringify(line) })
  const at = ['--partition', '0', '--offset', '2000', '--max-messages', '1']
  const { text } = await seglog(['consume', 'lines-none', ...at, '--json'])
  const place = { topic: 'lines-none', partition: 0, offset: 2000, timestampType: 'CreateTime' }
  assert.deepEqual(JSON.parse(text), { ...place, ...line })
}

/** Kafka's console producer hashes keys as its Java client does everywhere. */
async function keys(seglog: Seglog, { bootstrap }: Server): Promise<void> {
  await seglog(['topics', 'create', 'keyed', '--partitions', '7'])
  const input = Array.from({ length: 200 }, (_, i) => `key-${i * 37}:${i}\n`).join('')
  await seglog(['produce', 'keyed', '--key-separator', ':'], { input })
  const tool = 'org.apache.kafka.tools.ConsoleProducer'
  const properties = ['parse.key=true', 'key.separator=:'].flatMap((each) => ['--property', each])
  const args = ['--bootstrap-server', bootstrap, '--topic', 'keyed', ...properties]
  await kafkaTool(tool, args, { input })
  const read = ['consume', 'keyed', '--from-beginning', '--to-end', '--json']
  const partitions = new Map<unknown, Set<unknown>>()
  for (const { key, partition } of objects((await seglog(read)).text)) {
    partitions.set(key, (partitions.get(key) ?? new Set()).add(partition))
  }
  assert.equal(partitions.size, 200)
  for (const [key, found] of partitions) assert.equal(found.size, 1, `${key} is in one partition`)
}

async function groups(seglog: Seglog, { bootstrap }: Server): Promise<void> {
  const consumer = ['-C', '-t', 'lines-gzip', '-e', '-q', '-c', '700', '-o', 'beginning']
  await seglog([
    'consume',
    'lines-gzip',
    '--from-beginning',
    '--max-messages',
    '500',
    '--group',
    'g',
  ])
  const rest = await seglog(['consume', 'lines-gzip', '--to-end', '--group', 'g'])
  assert.equal(rest.text.split('\n').length - 1, 1500)
  assert.equal((await kcat(bootstrap, consumer)).text.split('\n').length - 1, 700)
  await seglog(['groups', 'reset-offsets', 'g', '--to-offset', '42', '--execute'])
  const described = objects((await seglog(['groups', 'describe', 'g', '--json'])).text)
  const lag = described.find(({ type }) => type === 'offset')
  assert.deepEqual([lag?.offset, lag?.endOffset, lag?.lag], [42, 2000, 1958])
  const tool = 'org.apache.kafka.tools.consumer.group.ConsumerGroupCommand'
  const theirs = ['--bootstrap-server', bootstrap, '--describe', '--group', 'g']
  assert.match((await kafkaTool(tool, theirs)).text, /lines-gzip +0 +42 +2000 +1958/)
  const outside = ['groups', 'reset-offsets', 'g', '--to-offset', '9007199254740993', '--execute']
  assert.match((await seglog(outside, { expect: 2 })).stderr, /above 2\^53 - 1: 9007199254740993/)
  assert.match((await seglog(['groups', 'list'])).text, /^g +Empty /m)
  await seglog(['groups', 'delete', 'g'])
  const gone = await seglog(['groups', 'describe', 'g'], { expect: 1 })
  assert.equal(gone.stderr, 'seglog: group g: GROUP_ID_NOT_FOUND\n')
}

async function configs(seglog: Seglog, brokerId: number): Promise<void> {
  const broker = ['broker', String(brokerId)]
  await seglog(['configs', 'alter', ...broker, '--set', 'log.cleaner.threads=2'])
  const described = await seglog(['configs', 'describe', ...broker, '--json'])
  const entry = objects(described.text).find(({ name }) => name === 'log.cleaner.threads')
  assert.deepEqual([entry?.value, entry?.source], ['2', 'dynamic broker'])
  await seglog(['configs', 'alter', ...broker, '--delete', 'log.cleaner.threads'])
  const wrong = ['configs', 'alter', 'topic', 'lines-none', '--set', 'retention.ms=soon']
  assert.match(
    (await seglog(wrong, { expect: 1 })).stderr,
    /^seglog: topic lines-none: INVALID_CONFIG/,
  )
}

async function all(server: Server, brokerId: number): Promise<void> {
  const seglog = cliOf(server)
  await topics(seglog)
  await records(seglog, server)
  await keys(seglog, server)
  await groups(seglog, server)
  await configs(seglog, brokerId)
}

test('the command line works on Kafka 4.3.1', limit, async () => {
  const server = await startKafka4(temporaryFolder())
  try {
    await all(server, 1)
  } finally {
    await server.kill()
  }
})

test('the command line works on Kafka 3.6.2', limit, async () => {
  const zooKeeper = await startZooKeeper(temporaryFolder())
  const server = await startKafkaOnZooKeeper('3.6.2', temporaryFolder(), zooKeeper)
  try {
    await all(server, 0)
  } finally {
    await server.kill()
    await zooKeeper.kill()
  }
})
