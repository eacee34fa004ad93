/** What Apache Kafka's own reader of segments says to the files that the broker wrote. */
import assert from 'node:assert/strict'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { before, test } from 'node:test'
import { startBroker, temporaryFolder } from './harness.js'
import { accessLog } from './lines.js'
import { prepare } from './prepare.js'
import { codecs, kafkaTool, kcat } from './strangers.js'

const limit = { timeout: 120_000 }
const dumper = 'org.apache.kafka.tools.DumpLogSegments'
const perCodec = 8_000
const folder = join(temporaryFolder(), 'data')
const partition = join(folder, 'dumped-0')

const files = (ending: string) =>
  readdirSync(partition)
    .filter((name) => name.endsWith(ending))
    .sort()
    .map((name) => join(partition, name))

/** Fills several segments with many batches in every codec, and stops the broker in good order. */
before(async () => {
  await prepare()
  const broker = await startBroker({
    dataDir: folder,
    config: { 'log.segment.bytes': 1_048_576 },
  })
  for (const [index, codec] of codecs.entries()) {
    const batches = ['-X', 'batch.num.messages=500', '-X', 'linger.ms=5', '-z', codec]
    const args = ['-P', '-t', 'dumped', ...batches]
    await kcat(broker.bootstrap, args, { input: accessLog(perCodec, index + 1) })
  }
  assert.equal((await broker.stop()).code, 0)
})

const dump = async (...args: string[]) => (await kafkaTool(dumper, args)).text

test('every batch and every record is valid to it', limit, async () => {
  assert.ok(files('.log').length > 1, 'the test is to see more than one segment')
  const text = await dump('--deep-iteration', '--files', files('.log').join())
  const batches = text.match(/^baseOffset: .*$/gm) ?? []
  assert.ok(batches.length >= 50, `only ${batches.length} batches`)
  for (const batch of batches) assert.match(batch, / isvalid: true$/)
  for (const codec of codecs) assert.match(text, new RegExp(` compresscodec: ${codec} `))
  const offsets = [...text.matchAll(/^\| offset: (\d+) .*$/gm)].map((match) => Number(match[1]))
  const wanted = Array.from({ length: perCodec * codecs.length }, (_, offset) => offset)
  assert.deepEqual(offsets, wanted)
  assert.doesNotMatch(text, /invalid bytes|Found|not consecutive|rror/)
})

test('the indexes of every segment pass its check', limit, async () => {
  const indexes = [...files('.index'), ...files('.timeindex')]
  assert.equal(indexes.length, 2 * files('.log').length)
  const text = await dump('--index-sanity-check', '--files', indexes.join())
  assert.equal(text.match(/ passed sanity check\.$/gm)?.length, indexes.length, text)
})

test('every entry of an index leads to the batch that it names', limit, async () => {
  const indexes = [...files('.index'), ...files('.timeindex')]
  const text = await dump('--files', indexes.join())
  assert.ok(
    (text.match(/^offset: \d+ position: \d+$/gm)?.length ?? 0) >= files('.log').length,
    text,
  )
  assert.ok((text.match(/^timestamp: \d+ offset: \d+$/gm)?.length ?? 0) > 0, text)
  assert.doesNotMatch(text, /Found|not found|mismatch|out of order|rror/)
})

test('a damaged byte would have been noticed', limit, async () => {
  const [first = ''] = files('.log')
  const bytes = readFileSync(first)
  bytes.writeUInt8(bytes.readUInt8(100) ^ 1, 100)
  const damaged = join(temporaryFolder(), '00000000000000000000.log')
  writeFileSync(damaged, bytes)
  const { text, stderr } = await kafkaTool(dumper, ['--deep-iteration', '--files', damaged], {
    expect: 'any',
  })
  assert.match(text + stderr, / isvalid: false|CorruptRecordException/)
})
