/**
 * Clients of before Kafka 0.11 against the broker: kcat in its old modes, and the console tools of
 * Apache Kafka 0.8.2.2, which know messages of magic 0 and nothing of ApiVersions.
 */
import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { startBroker, type TestBroker, temporaryFolder } from './harness.js'
import { accessLog } from './lines.js'
import { prepare } from './prepare.js'
import { consumeAll, kafkaTool, kcat, produceFile, sha256 } from './strangers.js'

const limit = { timeout: 120_000 }
const version = '0.8.2.2'
const log = accessLog(20_000)
let broker: TestBroker
let file = ''

before(async () => {
  await prepare()
  file = join(temporaryFolder(), 'access.log')
  writeFileSync(file, log)
  broker = await startBroker()
})
after(() => broker.stop())

/** Options by which kcat takes the broker for one of an older version, without asking. */
const as = (release: string) => [
  '-X',
  'api.version.request=false',
  '-X',
  `broker.version.fallback=${release}`,
]

for (const release of ['0.8.2.2', '0.9.0.0'] as const) {
  const codecs =
    release === '0.8.2.2' ? ['none', 'gzip', 'snappy'] : ['none', 'gzip', 'snappy', 'lz4']
  for (const codec of codecs) {
    test(`kcat as for ${release} sends and reads ${codec}, byte by byte`, limit, async () => {
      const topic = `as-${release}-${codec}`
      // Made by a newer client: the old one may not wait for a topic that is not there yet.
      await kcat(broker.bootstrap, ['-L', '-t', topic])
      await produceFile(broker.bootstrap, topic, file, ['-z', codec, ...as(release)])
      const old = await consumeAll(broker.bootstrap, topic, as(release))
      assert.equal(sha256(old), sha256(log))
      assert.equal(sha256(await consumeAll(broker.bootstrap, topic)), sha256(log))
    })
  }
}

for (const codec of ['none', 'gzip', 'snappy', 'lz4']) {
  test(`what a new client sends in ${codec}, old ones read`, limit, async () => {
    await produceFile(broker.bootstrap, `new-${codec}`, file, ['-z', codec])
    for (const release of ['0.8.2.2', '0.9.0.0']) {
      const back = await consumeAll(broker.bootstrap, `new-${codec}`, as(release))
      assert.equal(sha256(back), sha256(log), release)
    }
  })
}

/** The values of a topic, as the simple consumer of 0.8.2.2 prints them. */
async function shell(topic: string, count: number): Promise<string> {
  const place = ['--broker-list', broker.bootstrap, '--topic', topic, '--partition', '0']
  const args = [...place, '--offset', '-2', '--max-messages', String(count), '--no-wait-at-logend']
  return (await kafkaTool('kafka.tools.SimpleConsumerShell', args, { version })).text
}

for (const codec of ['none', 'gzip', 'snappy', 'lz4']) {
  test(`the tools of ${version} send and read ${codec}`, limit, async () => {
    const topic = `tools-${codec}`
    const input = accessLog(2_000)
    await kcat(broker.bootstrap, ['-L', '-t', topic])
    const compression = codec === 'none' ? [] : [`--compression-codec=${codec}`]
    const args = ['--broker-list', broker.bootstrap, '--topic', topic, '--sync', ...compression]
    await kafkaTool('kafka.tools.ConsoleProducer', args, { version, input: input.toString() })
    assert.equal(sha256(await consumeAll(broker.bootstrap, topic)), sha256(input))
    const text = await shell(topic, 2_000)
    assert.equal(text.replace(/^Reached the end of topic .*\n?/gm, ''), input.toString())
  })
}
