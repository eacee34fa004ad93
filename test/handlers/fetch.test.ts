import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { deleteTopics } from '../../src/apis/delete-topics.js'
import { fetch } from '../../src/apis/fetch.js'
import type { BrokerOptions } from '../../src/broker.js'
import { KafkaError } from '../../src/errors.js'
import type { ResponseOf } from '../../src/protocol/schema.js'
import { crcMatches, iterateBatches } from '../../src/records/batch.js'
import { seeded } from '../protocol/random.js'
import {
  batchOf,
  createTopic,
  fetchBody,
  fetchFrom,
  produceTo,
  startBroker,
} from '../support/broker.js'
import { Wire } from '../support/wire.js'

type PartitionResponse = ResponseOf<typeof fetch>['responses'][number]['partitions'][number]

const batch = batchOf('value')
const UNKNOWN_ID = 'AAAAAAAAAAAAAAAAAAAAAQ'

async function start(t: TestContext, options: BrokerOptions = {}) {
  const started = await startBroker(t, options)
  const topicId = await createTopic(started.wire, 't', { partitions: 3 })
  return { ...started, topicId, other: await Wire.connect(t, started.broker.port) }
}

async function timed<T>(act: () => Promise<T>): Promise<[T, number]> {
  const startMs = performance.now()
  return [await act(), performance.now() - startMs]
}

const sizeOf = (records: unknown) => (records instanceof Uint8Array ? records.length : -1)

test('data that is there comes at once, from the batch of the offset asked for', async (t) => {
  const { wire } = await start(t)
  for (let i = 0; i < 3; i++) await produceTo(wire, 't', batch)
  for (const offset of [0, 1, 2]) {
    const answer = await fetchFrom(wire, 't', offset, { maxWaitMs: 5000 })
    assert.equal(sizeOf(answer.records), batch.length * (3 - offset))
    const { errorCode, highWatermark, lastStableOffset, logStartOffset } = answer
    assert.deepEqual([errorCode, highWatermark, lastStableOffset, logStartOffset], [0, 3, 3, 0])
  }
})

test('an empty partition answers when maxWait is over, with empty records', async (t) => {
  const { wire } = await start(t)
  const [answer, ms] = await timed(() => fetchFrom(wire, 't', 0, { maxWaitMs: 300 }))
  assert.equal(sizeOf(answer.records), 0)
  assert.ok(ms >= 295 && ms < 2000, `${ms} ms`)
})

test('without time to wait, or bytes to wait for, the answer comes at once', async (t) => {
  const { wire } = await start(t)
  for (const options of [{ maxWaitMs: 0 }, { maxWaitMs: 5000, minBytes: 0 }]) {
    const [, ms] = await timed(() => fetchFrom(wire, 't', 0, options))
    assert.ok(ms < 2000, `${ms} ms`)
  }
})

/** In the order of the request, whatever topics they are put together under. */
function partitionsOf(responses: readonly { partitions: readonly PartitionResponse[] }[]) {
  return responses.flatMap(({ partitions }) => partitions)
}

test('an append wakes the fetch that waits for it', async (t) => {
  const { wire, other } = await start(t)
  const waiting = timed(() => fetchFrom(wire, 't', 0, { maxWaitMs: 8000 }))
  await delay(100)
  await produceTo(other, 't', batch)
  const [answer, ms] = await waiting
  assert.equal(sizeOf(answer.records), batch.length)
  assert.ok(ms < 4000, `${ms} ms`)
})

test('less than minBytes waits for more, in all partitions together', async (t) => {
  const { wire, other } = await start(t)
  await produceTo(other, 't', batch)
  const wishes = [0, 1].map((partition) => ({ topic: 't', partition }))
  const body = fetchBody(wishes, { maxWaitMs: 8000, minBytes: batch.length * 3 })
  const waiting = timed(() => wire.call(fetch, 12, body))
  await produceTo(other, 't', batch, { partition: 1 })
  await produceTo(other, 't', batch, { partition: 2 })
  await delay(50)
  await produceTo(other, 't', batch, { partition: 1 })
  const [{ responses }, ms] = await waiting
  const sizes = partitionsOf(responses).map(({ records }) => sizeOf(records))
  assert.deepEqual(sizes, [batch.length, batch.length * 2])
  assert.ok(ms < 4000, `${ms} ms`)
})

test('minBytes that never come end with maxWait and what there is', async (t) => {
  const { wire } = await start(t)
  await produceTo(wire, 't', batch)
  const options = { maxWaitMs: 200, minBytes: 1 << 20 }
  const [answer, ms] = await timed(() => fetchFrom(wire, 't', 0, options))
  assert.equal(sizeOf(answer.records), batch.length)
  assert.ok(ms >= 195 && ms < 2000, `${ms} ms`)
})

test('an error in one partition answers at once, beside the data of others', async (t) => {
  const { wire } = await start(t)
  const wishes = [{ topic: 't' }, { topic: 't', partition: 9 }, { topic: 'nix' }]
  const body = fetchBody(wishes, { maxWaitMs: 8000 })
  const [{ responses }, ms] = await timed(() => wire.call(fetch, 12, body))
  const codes = partitionsOf(responses).map(({ errorCode }) => errorCode)
  assert.deepEqual(codes, [0, 3, 3])
  assert.ok(ms < 4000)
})

test('an offset out of range is told with watermarks of -1', async (t) => {
  const { wire } = await start(t)
  await produceTo(wire, 't', batch)
  for (const offset of [2, 500, -5]) {
    const answer = await fetchFrom(wire, 't', offset, { maxWaitMs: 5000 })
    const { errorCode, highWatermark, lastStableOffset, logStartOffset, records } = answer
    assert.deepEqual([errorCode, highWatermark, lastStableOffset, logStartOffset], [1, -1, -1, -1])
    assert.equal(sizeOf(records), 0)
  }
})

test('from version 13 on topics go by id, and an error says which is not known', async (t) => {
  const { wire, topicId } = await start(t)
  await produceTo(wire, 't', batch)
  const wishes = [{ topicId }, { topicId, partition: 9 }, { topicId: UNKNOWN_ID }]
  for (const version of [13, 18]) {
    const { responses } = await wire.call(fetch, version, fetchBody(wishes))
    const codes = partitionsOf(responses).map(({ errorCode }) => errorCode)
    assert.deepEqual(codes, [0, 3, 100])
    assert.deepEqual(
      responses.map((topic) => topic.topicId),
      [topicId, UNKNOWN_ID],
    )
    assert.equal(sizeOf(responses[0]?.partitions[0]?.records), batch.length)
  }
})

test('an error comes in the form of its version', async (t) => {
  const { wire } = await start(t)
  for (const version of [4, 7, 11, 12]) {
    const answer = await fetchFrom(wire, 't', 99, { version })
    assert.equal(answer.errorCode, KafkaError.OFFSET_OUT_OF_RANGE)
  }
})

test('a leader epoch that is not the present one is refused', async (t) => {
  const { wire } = await start(t)
  const codeOf = async (leaderEpoch: number) => {
    const body = fetchBody([{ topic: 't', leaderEpoch }])
    return (await wire.call(fetch, 12, body)).responses[0]?.partitions[0]?.errorCode
  }
  assert.deepEqual([await codeOf(0), await codeOf(-1), await codeOf(5)], [0, 0, 75])
})

test('the limits of bytes hold, but one batch comes whatever they are', async (t) => {
  const { wire } = await start(t)
  for (const partition of [0, 1, 2]) {
    for (let i = 0; i < 4; i++) await produceTo(wire, 't', batch, { partition })
  }
  const one = batch.length
  const sizes = async (maxBytes: number, most: number[]) => {
    const wishes = most.map((each, partition) => ({ topic: 't', partition, maxBytes: each }))
    const { responses } = await wire.call(fetch, 12, fetchBody(wishes, { maxBytes }))
    return partitionsOf(responses).map(({ records }) => sizeOf(records))
  }
  assert.deepEqual(await sizes(1 << 20, [1 << 20, one * 2, one]), [one * 4, one * 2, one])
  assert.deepEqual(await sizes(one * 5, [1 << 20, 1 << 20, 1 << 20]), [one * 4, one, 0])
  assert.deepEqual(await sizes(0, [1 << 20, 1 << 20, 1 << 20]), [one, 0, 0])
  assert.deepEqual(await sizes(1 << 20, [0, 0, 0]), [one, 0, 0])
})

test('a limit of bytes below 0 fails what it bounds, as far as there is something', async (t) => {
  const { wire } = await start(t)
  await produceTo(wire, 't', batch)
  await produceTo(wire, 't', batch, { partition: 1 })
  const codes = async (maxBytes: number, most: number[]) => {
    const wishes = most.map((each, partition) => ({ topic: 't', partition, maxBytes: each }))
    const { responses } = await wire.call(fetch, 12, fetchBody(wishes, { maxBytes }))
    return partitionsOf(responses).map(({ errorCode }) => errorCode)
  }
  assert.deepEqual(await codes(1000, [-5, 1000, 1000]), [-1, 0, 0])
  assert.deepEqual(await codes(-1, [1000, 1000, -1]), [-1, 0, 0])
})

test('fetch.max.bytes of the broker bounds what a client asks for', async (t) => {
  const { wire } = await start(t, { config: { 'fetch.max.bytes': 1024 } })
  for (let i = 0; i < 40; i++) await produceTo(wire, 't', batch)
  assert.equal(sizeOf((await fetchFrom(wire, 't', 0)).records), 1024)
})

test('a fetch that waits is answered when its topic is deleted, with 3 also by id', async (t) => {
  const { wire, other, topicId, broker } = await start(t)
  const byId = await Wire.connect(t, broker.port)
  const options = { maxWaitMs: 8000 }
  const waiting = timed(() => fetchFrom(wire, 't', 0, options))
  const waitingById = byId.call(fetch, 13, fetchBody([{ topicId }], options))
  await delay(100)
  await other.call(deleteTopics, 6, {
    topics: [{ name: 't', topicId: 'AAAAAAAAAAAAAAAAAAAAAA' }],
    timeoutMs: 1000,
  })
  const [answer, ms] = await waiting
  assert.equal(answer.errorCode, KafkaError.UNKNOWN_TOPIC_OR_PARTITION)
  assert.ok(ms < 4000)
  const { responses } = await waitingById
  assert.equal(responses[0]?.partitions[0]?.errorCode, KafkaError.UNKNOWN_TOPIC_OR_PARTITION)
})

test('eight readers at the end of a log see whole batches and every offset once', async (t) => {
  // Rolls, and batches on both sides of what is copied and what is written.
  const { broker, wire } = await startBroker(t, { config: { 'log.segment.bytes': 60_000 } })
  await createTopic(wire, 't')
  const count = 150
  const readers = Array.from({ length: 8 }, async (_, i) => {
    const reader = await Wire.connect(t, broker.port)
    for (let next = 0; next < count; ) {
      const maxWaitMs = i % 2 === 0 ? 0 : 50
      const { errorCode, records, highWatermark } = await fetchFrom(reader, 't', next, {
        maxWaitMs,
      })
      assert.equal(errorCode, 0)
      assert.ok(records instanceof Uint8Array)
      let sizeBytes = 0
      for (const found of iterateBatches(records)) {
        assert.equal(found.header.baseOffset, next)
        assert.ok(found.header.lastOffset < highWatermark)
        assert.ok(crcMatches(found))
        sizeBytes += found.header.sizeBytes
        next++
      }
      assert.equal(sizeBytes, records.length, 'half a batch')
    }
  })
  const random = seeded(5)
  for (let i = 0; i < count; i++) {
    const size = random.pick([10, 200, 3000, 9000])
    assert.equal((await produceTo(wire, 't', batchOf('x'.repeat(size)))).errorCode, 0)
  }
  await Promise.all(readers)
})
