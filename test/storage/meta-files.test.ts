import assert from 'node:assert/strict'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import {
  readCleanShutdown,
  readMetaProperties,
  readTopicId,
  removeCleanShutdown,
  writeCleanShutdown,
  writeMetaProperties,
  writeTopicId,
} from '../../src/storage/meta-files.js'
import { temporaryDirectory } from '../support/tmp.js'

const clusterId = '4L6g3nShT-eMCtK--X86sw'
const topicId = 'JOuRJTyQT9WQb0H_rA9dTw'
const kafkaMeta = `#\n#Mon Nov 30 10:00 2020\nbroker.id=7\nversion=0\ncluster.id=${clusterId}\n`

test('meta.properties is read back', async (t) => {
  const directory = temporaryDirectory(t)
  await writeMetaProperties(directory, { brokerId: 7, clusterId })
  assert.deepEqual(await readMetaProperties(directory), { brokerId: 7, clusterId })
})

test('meta.properties of Kafka with ZooKeeper is read', async (t) => {
  const directory = temporaryDirectory(t)
  writeFileSync(join(directory, 'meta.properties'), kafkaMeta)
  assert.deepEqual(await readMetaProperties(directory), { brokerId: 7, clusterId })
})

test('meta.properties of Kafka with KRaft is read', async (t) => {
  const directory = temporaryDirectory(t)
  const text = `node.id=3\ndirectory.id=${topicId}\nversion=1\ncluster.id=${clusterId}\n`
  writeFileSync(join(directory, 'meta.properties'), text)
  assert.deepEqual(await readMetaProperties(directory), { brokerId: 3, clusterId })
})

test('a fresh directory has neither meta.properties nor a topic id', async (t) => {
  const directory = temporaryDirectory(t)
  assert.equal(await readMetaProperties(directory), undefined)
  assert.equal(await readTopicId(directory), undefined)
})

test('meta.properties cut at any byte is an error that names it, never a shorter id', async (t) => {
  const directory = temporaryDirectory(t)
  const path = join(directory, 'meta.properties')
  for (let length = 0; length < kafkaMeta.length; length++) {
    writeFileSync(path, kafkaMeta.slice(0, length))
    await assert.rejects(readMetaProperties(directory), (error: Error & { code: string }) => {
      return error.code === 'CORRUPT' && error.message.startsWith(path)
    })
  }
})

for (const [what, text] of Object.entries({
  'random bytes': '\u0000\u0001\ufffd\n',
  'an unknown version': kafkaMeta.replace('version=0', 'version=2'),
  'no broker.id': kafkaMeta.replace('broker.id=7\n', ''),
  'a broker.id that is no number': kafkaMeta.replace('=7', '=seven'),
  'a broker.id above 2^31-1': kafkaMeta.replace('=7', '=2147483648'),
  'no cluster.id': kafkaMeta.replace('cluster.id', 'cluster'),
  'a bad escape': kafkaMeta.replace(clusterId, '\\u12'),
})) {
  test(`meta.properties with ${what} is an error`, async (t) => {
    const directory = temporaryDirectory(t)
    writeFileSync(join(directory, 'meta.properties'), text)
    await assert.rejects(readMetaProperties(directory), { code: 'CORRUPT' })
  })
}

test("the topic id is written in Kafka's format and read back", async (t) => {
  const directory = temporaryDirectory(t)
  await writeTopicId(directory, topicId)
  const text = readFileSync(join(directory, 'partition.metadata'), 'utf8')
  assert.equal(text, `version: 0\ntopic_id: ${topicId}`)
  assert.equal(await readTopicId(directory), topicId)
})

test('partition.metadata with a last line break is read', async (t) => {
  const directory = temporaryDirectory(t)
  writeFileSync(join(directory, 'partition.metadata'), `version: 0\ntopic_id: ${topicId}\n`)
  assert.equal(await readTopicId(directory), topicId)
})

for (const [what, text] of Object.entries({
  'no bytes': '',
  'random bytes': '\u0000\u0001\ufffd',
  'another version': `version: 1\ntopic_id: ${topicId}`,
  'a cut id': `version: 0\ntopic_id: ${topicId.slice(0, -1)}`,
  'an id of zeros': `version: 0\ntopic_id: ${'A'.repeat(22)}`,
  'an id with stray bits': `version: 0\ntopic_id: ${topicId.slice(0, -1)}x`,
  'a blank line between': `version: 0\n\ntopic_id: ${topicId}`,
})) {
  test(`partition.metadata with ${what} is an error that names it`, async (t) => {
    const directory = temporaryDirectory(t)
    writeFileSync(join(directory, 'partition.metadata'), text)
    await assert.rejects(readTopicId(directory), {
      code: 'CORRUPT',
      message: /partition\.metadata/,
    })
  })
}

test('what is no topic id is not written', async (t) => {
  const directory = temporaryDirectory(t)
  await assert.rejects(writeTopicId(directory, 'orders'), { code: 'BAD_ARGUMENT' })
  assert.equal(existsSync(join(directory, 'partition.metadata')), false)
})

test('the marker of a clean stop is written, read and taken away', async (t) => {
  const directory = temporaryDirectory(t)
  assert.equal(await readCleanShutdown(directory), undefined)
  await writeCleanShutdown(directory, { brokerEpoch: -1 })
  const text = readFileSync(join(directory, '.kafka_cleanshutdown'), 'utf8')
  assert.equal(text, '{"version":0,"brokerEpoch":-1}')
  assert.deepEqual(await readCleanShutdown(directory), { brokerEpoch: -1 })
  assert.equal(await removeCleanShutdown(directory), true)
  assert.equal(await readCleanShutdown(directory), undefined)
  assert.equal(await removeCleanShutdown(directory), false)
})

test("Kafka's markers of a clean stop are read, the empty one too", async (t) => {
  const directory = temporaryDirectory(t)
  const path = join(directory, '.kafka_cleanshutdown')
  writeFileSync(path, '')
  assert.deepEqual(await readCleanShutdown(directory), { brokerEpoch: -1 })
  writeFileSync(path, '{"version":0,"brokerEpoch":27}')
  assert.deepEqual(await readCleanShutdown(directory), { brokerEpoch: 27 })
})
