/** What a consumer gets from a log in which a bit turned, after a clean stop and after a kill. */
import assert from 'node:assert/strict'
import { existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { fetch } from '../../src/apis/fetch.js'
import { KafkaError } from '../../src/errors.js'
import { iterateBatches } from '../../src/records/batch.js'
import { batchOf, createTopic, fetchBody, produceTo, startBroker } from '../support/broker.js'
import { temporaryDirectory } from '../support/tmp.js'
import type { Wire } from '../support/wire.js'

const MARKER = '.kafka_cleanshutdown'
const COUNT = 20
const HURT = 5
const config = { 'log.segment.bytes': 1500 }

/** A closed data directory whose first segment, which is sealed, has a bit turned in batch 5. */
async function damagedDirectory(t: TestContext): Promise<string> {
  const dataDir = temporaryDirectory(t)
  const { broker, wire } = await startBroker(t, { dataDir, config })
  await createTopic(wire, 't')
  for (let i = 0; i < COUNT; i++) await produceTo(wire, 't', batchOf(`${i}`.padEnd(50)))
  await broker.close()
  const path = join(dataDir, 't-0', '00000000000000000000.log')
  const bytes = readFileSync(path)
  const batches = [...iterateBatches(bytes)]
  assert.ok(batches.length >= 10 && batches.length < COUNT)
  const { position, header } = batches[HURT]!
  const at = position + header.sizeBytes - 10
  bytes[at] = bytes[at]! ^ 4
  writeFileSync(path, bytes)
  return dataDir
}

/** The error of a fetch of one batch, or the base offset of what came. */
async function one(wire: Wire, offset: number) {
  const body = fetchBody([{ topic: 't', offset, maxBytes: 1 }])
  const { responses } = await wire.call(fetch, 12, body)
  const { errorCode, records } = responses[0]!.partitions[0]!
  if (errorCode !== 0) return { errorCode }
  assert.ok(records instanceof Uint8Array)
  return { base: [...iterateBatches(records)][0]?.header.baseOffset }
}

const sizesOf = (folder: string) =>
  readdirSync(folder)
    .filter((name) => name.endsWith('.log'))
    .sort()
    .map((name) => statSync(join(folder, name)).size)

for (const after of ['a clean stop', 'a kill']) {
  test(`a turned bit costs its batch and nothing else after ${after}`, async (t) => {
    const dataDir = await damagedDirectory(t)
    if (after === 'a kill') rmSync(join(dataDir, MARKER))
    const folder = join(dataDir, 't-0')
    const before = sizesOf(folder)
    const { broker, wire } = await startBroker(t, { dataDir, config })
    for (let offset = 0; offset < COUNT; offset++) {
      const hurt = offset === HURT
      const expected = hurt ? { errorCode: KafkaError.CORRUPT_MESSAGE } : { base: offset }
      assert.deepEqual(await one(wire, offset), expected, `offset ${offset}`)
    }
    assert.equal(Number((await produceTo(wire, 't', batchOf('next'))).baseOffset), COUNT)
    await broker.close()
    assert.deepEqual(sizesOf(folder).slice(0, -1), before.slice(0, -1))
    assert.ok(existsSync(join(dataDir, MARKER)))
  })
}
