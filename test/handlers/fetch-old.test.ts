/** Fetch 0 to 3: batches become messages of magic 0 and 1. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fetch } from '../../src/apis/fetch.js'
import { KafkaError } from '../../src/errors.js'
import { buildBatch, iterateBatches, iterateRecords } from '../../src/records/index.js'
import { latin1 } from '../records/helpers.js'
import {
  batchOf,
  createTopic,
  fetchBody,
  fetchFrom,
  produceTo,
  startBroker,
} from '../support/broker.js'
import type { Wire } from '../support/wire.js'

function contents(records: unknown) {
  assert.ok(records instanceof Uint8Array)
  const batches = [...iterateBatches(records)]
  const rows = batches.flatMap((batch) => [...iterateRecords(batch)])
  return {
    sizeBytes: records.length,
    magics: [...new Set(batches.map(({ header }) => header.magic))],
    offsets: rows.map(({ offset }) => offset),
    values: rows.map(({ value }) => latin1(value)),
  }
}

/** One partition of a request with a limit for it. */
async function limited(wire: Wire, version: number, maxBytes: number, topic = 't') {
  const body = fetchBody([{ topic, maxBytes }])
  const { responses } = await wire.call(fetch, version, body)
  return contents(responses[0]?.partitions[0]?.records)
}

for (const [version, magic] of [
  [0, 0],
  [1, 0],
  [2, 1],
  [3, 1],
  [4, 2],
] as const) {
  test(`fetch ${version} gives magic ${magic}`, async (t) => {
    const { wire } = await startBroker(t)
    await createTopic(wire, 't')
    for (const compression of ['none', 'gzip', 'snappy', 'lz4'] as const) {
      await produceTo(
        wire,
        't',
        buildBatch([{ value: compression }, { value: '' }], { compression }),
      )
    }
    const { errorCode, highWatermark, records } = await fetchFrom(wire, 't', 0, { version })
    assert.deepEqual([errorCode, highWatermark], [0, 8])
    const found = contents(records)
    assert.deepEqual(found.magics, [magic])
    assert.deepEqual(found.offsets, [0, 1, 2, 3, 4, 5, 6, 7])
    assert.deepEqual(found.values, ['none', '', 'gzip', '', 'snappy', '', 'lz4', ''])
  })
}

test('an old fetch waits for data as any other', async (t) => {
  const { wire } = await startBroker(t)
  await createTopic(wire, 't')
  const begun = performance.now()
  const { errorCode, records } = await fetchFrom(wire, 't', 0, { version: 0, maxWaitMs: 200 })
  assert.deepEqual([errorCode, contents(records).offsets], [0, []])
  assert.ok(performance.now() - begun >= 195)
})

test('zstd is unsupported for versions before 4, and sent as it is to later ones', async (t) => {
  const { wire } = await startBroker(t)
  await createTopic(wire, 't')
  await produceTo(wire, 't', buildBatch([{ value: 'a' }], { compression: 'zstd' }))
  const code = async (version: number) => (await fetchFrom(wire, 't', 0, { version })).errorCode
  assert.equal(await code(1), KafkaError.UNSUPPORTED_COMPRESSION_TYPE)
  assert.equal(await code(3), KafkaError.UNSUPPORTED_COMPRESSION_TYPE)
  assert.equal(await code(4), 0)
})

test('the limit may cut the last message off, whole ones come before it', async (t) => {
  const { wire } = await startBroker(t)
  await createTopic(wire, 't')
  await produceTo(wire, 't', batchOf('aaaa', 'bbbb', 'cccc'))
  for (const version of [0, 3]) {
    const found = await limited(wire, version, 80)
    assert.deepEqual([found.sizeBytes, found.values], [80, ['aaaa', 'bbbb']])
  }
})

test('below the first message, old versions get a part of it and version 3 all', async (t) => {
  const { wire } = await startBroker(t)
  await createTopic(wire, 't')
  await produceTo(wire, 't', batchOf('a'.repeat(100)))
  for (const version of [0, 2]) {
    const found = await limited(wire, version, 50)
    assert.deepEqual([found.sizeBytes, found.values], [50, []])
  }
  assert.deepEqual((await limited(wire, 3, 50)).values, ['a'.repeat(100)])
})

test('in version 3 only the first partition exceeds the limit', async (t) => {
  const { wire } = await startBroker(t)
  await createTopic(wire, 't', { partitions: 2 })
  for (const partition of [0, 1])
    await produceTo(wire, 't', batchOf('a'.repeat(100)), { partition })
  const wishes = [0, 1].map((partition) => ({ topic: 't', partition }))
  const { responses } = await wire.call(fetch, 3, fetchBody(wishes, { maxBytes: 50 }))
  const sizes = responses
    .flatMap(({ partitions }) => partitions)
    .map(({ records }) => contents(records).values.length)
  assert.deepEqual(sizes, [1, 0])
})
