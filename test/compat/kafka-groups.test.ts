/**
 * Consumer groups as Apache Kafka's own tool lists, describes, resets and deletes them: with a
 * member (of kafkajs), and when it is gone.
 */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import kafkajs from 'kafkajs'
import { startBroker, type TestBroker, until } from './harness.js'
import { KafkaJvm, rowsOf } from './kafka-jvm.js'
import { prepare } from './prepare.js'

const { Kafka, logLevel, Partitioners } = kafkajs
const limit = { timeout: 120_000 }
let broker: TestBroker
let kafka: kafkajs.Kafka

before(async () => {
  await prepare()
  broker = await startBroker()
  const brokers = [broker.bootstrap]
  kafka = new Kafka({ clientId: 'a-client', brokers, logLevel: logLevel.NOTHING })
})
after(() => broker.stop())

/** Two partitions, the first with 3 records, the second with 5, each a second after the other. */
async function fill(topic: string): Promise<void> {
  const admin = kafka.admin()
  await admin.connect()
  await admin.createTopics({ topics: [{ topic, numPartitions: 2 }] })
  await admin.disconnect()
  const producer = kafka.producer({ createPartitioner: Partitioners.DefaultPartitioner })
  await producer.connect()
  const time = Date.UTC(2026, 0, 1)
  const messages = [0, 0, 0, 1, 1, 1, 1, 1].map((partition, index) => ({
    partition,
    value: `record ${index}`,
    timestamp: String(time + index * 1000),
  }))
  await producer.send({ topic, messages })
  await producer.disconnect()
}

/** A member that has committed the end of both partitions. */
async function join(groupId: string, topic: string): Promise<kafkajs.Consumer> {
  const consumer = kafka.consumer({ groupId, maxWaitTimeInMs: 100 })
  let seen = 0
  await consumer.connect()
  await consumer.subscribe({ topic, fromBeginning: true })
  await consumer.run({
    autoCommitThreshold: 1,
    eachMessage: async () => {
      seen += 1
    },
  })
  await until('records in the group', () => seen === 8, 30_000)
  return consumer
}

for (const version of ['4.3.1', '3.6.2'] as const) {
  const topic = `topic-${version.replaceAll('.', '-')}`
  const group = `group-${version.replaceAll('.', '-')}`
  let tools: KafkaJvm | undefined
  let member: kafkajs.Consumer
  const groups = async (args: string) => {
    tools ??= new KafkaJvm(version, broker.bootstrap)
    const output = await tools.run('ConsumerGroupCommand', args)
    return { ...output, rows: rowsOf(output) }
  }
  /** Partition, committed offset, log end offset, lag. */
  const lags = async () => {
    const { rows } = await groups(`--describe --group ${group}`)
    return rows
      .slice(1)
      .map((row) => row.slice(2, 6).map(Number))
      .sort()
  }
  const reset = async (args: string) => {
    const { rows } = await groups(`--reset-offsets --group ${group} ${args}`)
    const own = rows.filter(([name]) => name === group)
    return own.map((row) => row.slice(2).map(Number)).sort()
  }

  after(() => tools?.close())

  test(`${version}: shows a member, its partitions and no lag`, limit, async () => {
    await fill(topic)
    member = await join(group, topic)
    const states = await groups('--list --state')
    assert.ok(states.rows.some(([name, state]) => name === group && state === 'Stable'))
    const { rows } = await groups(`--describe --group ${group}`)
    const each = rows.slice(1).map(([, , partition, , , lag, id, host, client]) => {
      assert.match(id ?? '', /^a-client-[\w-]{36}$/)
      return [partition, lag, host, client]
    })
    assert.deepEqual(each.sort(), [
      ['0', '0', '/127.0.0.1', 'a-client'],
      ['1', '0', '/127.0.0.1', 'a-client'],
    ])
    assert.deepEqual(await lags(), [
      [0, 3, 3, 0],
      [1, 5, 5, 0],
    ])
  })

  test(`${version}: shows who is in it, and how it is`, limit, async () => {
    const members = await groups(`--describe --group ${group} --members --verbose`)
    assert.equal(members.rows.length, 2)
    const [name, , host, client, count] = members.rows[1] ?? []
    assert.deepEqual([name, host, client, count], [group, '/127.0.0.1', 'a-client', '2'])
    assert.match(members.text, new RegExp(`${topic}(:0,1|\\(0, ?1\\))`))
    const { rows } = await groups(`--describe --group ${group} --state`)
    assert.deepEqual(rows[1], [group, broker.bootstrap, '(0)', 'RoundRobinAssigner', 'Stable', '1'])
  })

  test(`${version}: neither resets nor deletes it while it has a member`, limit, async () => {
    const to = `--reset-offsets --group ${group} --topic ${topic} --to-earliest --execute`
    assert.match((await groups(to)).text, /only be reset if the group .* is inactive.*Stable/)
    assert.match((await groups(`--delete --group ${group}`)).text, /group is not empty/i)
    const of = `--delete-offsets --group ${group} --topic ${topic}`
    assert.match((await groups(of)).text, /0\s+Error: .*subscribed/i)
    assert.deepEqual(await lags(), [
      [0, 3, 3, 0],
      [1, 5, 5, 0],
    ])
  })

  test(
    `${version}: resets offsets when the member is gone, or says what it would do`,
    limit,
    async () => {
      await member.disconnect()
      const { rows, errors } = await groups(`--describe --group ${group} --state`)
      assert.deepEqual(rows[1]?.slice(0, 3), [group, broker.bootstrap, '(0)'])
      assert.deepEqual(rows[1]?.slice(-2), ['Empty', '0'])
      assert.match(errors, /has no active members/)
      const at = (first: number, second: number) => [
        [0, first],
        [1, second],
      ]
      assert.deepEqual(await reset(`--topic ${topic} --to-earliest --dry-run`), at(0, 0))
      assert.deepEqual(
        (await lags()).map(([, offset]) => offset),
        [3, 5],
      )
      assert.deepEqual(await reset(`--topic ${topic} --to-earliest --execute`), at(0, 0))
      assert.deepEqual(await lags(), [
        [0, 0, 3, 3],
        [1, 0, 5, 5],
      ])
      assert.deepEqual(await reset(`--topic ${topic}:1 --shift-by 2 --execute`), [[1, 2]])
      assert.deepEqual(await lags(), [
        [0, 0, 3, 3],
        [1, 2, 5, 3],
      ])
      assert.deepEqual(await reset(`--topic ${topic} --to-offset 4 --execute`), at(3, 4))
      const time = '2026-01-01T00:00:05.000'
      assert.deepEqual(await reset(`--topic ${topic} --to-datetime ${time} --execute`), at(3, 2))
      assert.deepEqual(await reset('--all-topics --to-latest --execute'), at(3, 5))
    },
  )

  test(`${version}: deletes offsets, and the group`, limit, async () => {
    const of = `--delete-offsets --group ${group} --topic ${topic}`
    const { rows } = await groups(of)
    assert.deepEqual(
      rows
        .slice(-2)
        .map((row) => row.slice(1))
        .sort(),
      [
        ['0', 'Successful'],
        ['1', 'Successful'],
      ],
    )
    assert.deepEqual(await lags(), [])
    const deleted = await groups(`--delete --group ${group}`)
    assert.match(deleted.text, new RegExp(`Deletion of .*${group}.* was successful`))
    assert.ok(!(await groups('--list')).lines.includes(group))
    const again = await groups(`--delete --group ${group}`)
    assert.match(again.text, /GroupIdNotFoundException/)
  })
}
