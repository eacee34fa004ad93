/** What Apache Kafka's own reader of segments says to a log that was compacted here. */
import assert from 'node:assert/strict'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { before, test } from 'node:test'
import { systemEnv } from '../../src/env.js'
import { buildBatch } from '../../src/records/encoder.js'
import { Log } from '../../src/storage/log.js'
import { defaultLogOptions } from '../../src/storage/log-options.js'
import { temporaryFolder } from './harness.js'
import { prepare } from './prepare.js'
import { codecs, kafkaTool } from './strangers.js'

const limit = { timeout: 120_000 }
const KEYS = 40

before(prepare)

/** Batches of every codec with values, tombstones and an idempotent producer, compacted. */
async function compacted(): Promise<string> {
  const directory = join(temporaryFolder(), 'compacted-0')
  const options = {
    ...defaultLogOptions,
    clean: true,
    segmentBytes: 16_384,
    indexIntervalBytes: 100,
  }
  const log = await Log.open(directory, options, systemEnv.now())
  for (let i = 0; i < 400; i++) {
    const compression = codecs[i % codecs.length] as 'none'
    const producer = i === 10 ? { id: 5, epoch: 0, baseSequence: 0 } : undefined
    const records = Array.from({ length: 3 }, (_, n) => ({
      key: `k${(i * 3 + n) % KEYS}`,
      value: (i + n) % 9 === 0 ? null : `value ${i}`,
    }))
    const bytes = buildBatch(records, { compression, producer, timestamp: systemEnv.now() })
    assert.ok(log.appendFromClient(bytes, 0, bytes.length, 0) >= 0)
  }
  log.roll()
  await log.flush()
  const report = await log.compact({ limitOffset: log.endOffset, bufferBytes: 1 << 20 })
  assert.equal(report?.end, 1200)
  await log.close()
  return directory
}

test('every batch, record and index of a compacted log is valid to it', limit, async () => {
  const directory = await compacted()
  const files = (ending: string) =>
    readdirSync(directory)
      .filter((name) => name.endsWith(ending))
      .map((name) => join(directory, name))
  const dump = async (...args: string[]) =>
    (await kafkaTool('org.apache.kafka.tools.DumpLogSegments', args)).text
  const text = await dump('--deep-iteration', '--print-data-log', '--files', files('.log').join())
  const batches = text.match(/^baseOffset: .*$/gm) ?? []
  for (const batch of batches) assert.match(batch, / isvalid: true$/)
  assert.ok(
    batches.some((batch) => / count: 0 .* producerId: 5 /.test(batch)),
    text,
  )
  assert.ok(
    batches.some((batch) => /deleteHorizonMs: OptionalLong\[\d+\]/.test(batch)),
    text,
  )
  const keys = [...text.matchAll(/^\| offset: (\d+) .* key: (k\d+)/gm)].map((match) => match[2])
  assert.equal(keys.length, KEYS)
  assert.equal(new Set(keys).size, KEYS)
  assert.doesNotMatch(text, /invalid bytes|not consecutive|rror/)
  const indexes = [...files('.index'), ...files('.timeindex')]
  const sanity = await dump('--index-sanity-check', '--files', indexes.join())
  const judged = sanity.match(/ (passed sanity check|is empty)\.$/gm) ?? []
  assert.equal(judged.length, indexes.length, sanity)
  assert.match(sanity, /\d\.index passed/)
})
