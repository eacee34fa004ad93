/** Topics and configurations as Apache Kafka's own tools make, show, change and delete them. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { startBroker, type TestBroker } from './harness.js'
import { KafkaJvm, type ToolOutput } from './kafka-jvm.js'
import { prepare } from './prepare.js'

const limit = { timeout: 120_000 }
let broker: TestBroker

before(async () => {
  await prepare()
  broker = await startBroker()
})
after(() => broker.stop())

const dynamic = ({ lines }: ToolOutput) =>
  lines.flatMap((line) => /^(\S+=\S+) sensitive=false synonyms=\{DYNAMIC/.exec(line)?.[1] ?? [])

for (const version of ['4.3.1', '3.6.2'] as const) {
  const name = `tools-${version.replaceAll('.', '-')}`
  let tools: KafkaJvm | undefined
  const run = (tool: string, args: string, expect: number) => {
    tools ??= new KafkaJvm(version, broker.bootstrap)
    return tools.run(tool, args, { expect })
  }
  const topics = (args: string, expect = 0) => run('TopicCommand', args, expect)
  const configs = (args: string, expect = 0) => run('ConfigCommand', args, expect)
  after(() => tools?.close())

  test(`${version}: make a topic once, and list it`, limit, async () => {
    const create = `--create --topic ${name} --partitions 2 --config retention.ms=1000000`
    assert.match((await topics(create)).text, new RegExp(`^Created topic ${name}\\.$`, 'm'))
    const again = await topics(create, 1)
    assert.match(again.text, new RegExp(`Topic '${name}' already exists`))
    assert.equal((await topics(`${create} --if-not-exists`)).text, '')
    assert.ok((await topics('--list')).lines.includes(name))
  })

  test(`${version}: refuse topics that cannot be`, limit, async () => {
    const most = await topics('--create --topic wide --partitions 1 --replication-factor 3', 1)
    assert.match(most.text, /replicat.*3.*time|3.*1 broker/i)
    const wrong = await topics('--create --topic wrong --config retention.ms=never', 1)
    assert.match(wrong.text, /retention\.ms/)
    assert.match((await topics('--describe --topic none', 1)).text, /'none' does not exist/)
    assert.deepEqual((await topics('--list --topic wide|wrong|none')).lines, [])
  })

  test(`${version}: describe its partitions and its own configuration`, limit, async () => {
    const { lines } = await topics(`--describe --topic ${name}`)
    assert.equal(lines.length, 3)
    const head = /TopicId: [\w-]{22}\s+PartitionCount: 2\s+ReplicationFactor: 1\s+Configs: (\S+)$/
    assert.equal(head.exec(lines[0] ?? '')?.[1], 'retention.ms=1000000')
    for (const index of [0, 1]) {
      const row = new RegExp(`Partition: ${index}\\s+Leader: 0\\s+Replicas: 0\\s+Isr: 0\\b`)
      assert.match(lines[index + 1] ?? '', row)
    }
    const overrides = await topics('--describe --topics-with-overrides')
    assert.ok(overrides.lines.some((line) => line.includes(name)))
    const ills = ['--under-replicated-partitions', '--unavailable-partitions']
    for (const ill of ills) assert.equal((await topics(`--describe ${ill}`)).text, '')
  })

  test(`${version}: give it more partitions, never fewer`, limit, async () => {
    assert.equal((await topics(`--alter --topic ${name} --partitions 4`)).text, '')
    const { lines } = await topics(`--describe --topic ${name}`)
    assert.match(lines[0] ?? '', /PartitionCount: 4\s/)
    assert.equal(lines.length, 5)
    const fewer = await topics(`--alter --topic ${name} --partitions 3`, 1)
    assert.match(fewer.text, /4.*3 would not be an increase/)
  })

  test(`${version}: change and reset the configuration of a topic`, limit, async () => {
    const entity = `--entity-type topics --entity-name ${name}`
    const values = 'segment.bytes=1048576,cleanup.policy=[compact,delete]'
    const altered = await configs(`--alter ${entity} --add-config ${values}`)
    assert.deepEqual(altered.lines, [`Completed updating config for topic ${name}.`])
    const set = ['cleanup.policy=compact,delete', 'segment.bytes=1048576']
    const shown = await configs(`--describe ${entity}`)
    assert.deepEqual(dynamic(shown).sort(), [...set, 'retention.ms=1000000'].sort())
    await configs(`--alter ${entity} --delete-config retention.ms`)
    assert.deepEqual(dynamic(await configs(`--describe ${entity}`)).sort(), set)
    const all = await configs(`--describe --all ${entity}`)
    assert.match(all.text, /^ {2}retention\.ms=604800000 sensitive=false/m)
    assert.match(all.text, /segment\.bytes=1048576, DEFAULT_CONFIG:log\.segment\.bytes=1073741824/)
    const unknown = await configs(`--alter ${entity} --add-config no.such.key=1`, 1)
    assert.match(unknown.errors, /InvalidConfigurationException.*no\.such\.key/)
    assert.deepEqual(dynamic(await configs(`--describe ${entity}`)).sort(), set)
  })

  test(
    `${version}: change and reset the configuration of a broker, and of all`,
    limit,
    async () => {
      const one = '--entity-type brokers --entity-name 0'
      const all = '--entity-type brokers --entity-default'
      await configs(`--alter ${one} --add-config log.retention.ms=111111`)
      await configs(`--alter ${all} --add-config log.retention.ms=222222`)
      assert.deepEqual(dynamic(await configs(`--describe ${one}`)), ['log.retention.ms=111111'])
      assert.deepEqual(dynamic(await configs(`--describe ${all}`)), ['log.retention.ms=222222'])
      await configs(`--alter ${one} --delete-config log.retention.ms`)
      assert.deepEqual(dynamic(await configs(`--describe ${one}`)), [])
      const inherited = dynamic(await configs(`--describe --all ${one}`))
      assert.deepEqual(inherited, ['log.retention.ms=222222'])
      await configs(`--alter ${all} --delete-config log.retention.ms`)
      assert.deepEqual(dynamic(await configs('--describe --entity-type brokers')), [])
      const every = await configs(`--describe --all ${one}`)
      assert.match(every.text, /^ {2}broker\.id=0 sensitive=false/m)
    },
  )

  test(`${version}: delete it`, limit, async () => {
    assert.equal((await topics(`--delete --topic ${name}`)).text, '')
    assert.ok(!(await topics('--list')).lines.includes(name))
    assert.match((await topics(`--delete --topic ${name}`, 1)).text, /does not exist/)
  })
}
