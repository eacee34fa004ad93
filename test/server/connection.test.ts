/**
 * Order, backpressure and the ends of connections, at a broker that is real but for its clients.
 */
import assert from 'node:assert/strict'
import { connect } from 'node:net'
import { type TestContext, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { apiVersions } from '../../src/apis/api-versions.js'
import { fetch } from '../../src/apis/fetch.js'
import { metadata } from '../../src/apis/metadata.js'
import { produce } from '../../src/apis/produce.js'
import { systemEnv } from '../../src/env.js'
import { KafkaError } from '../../src/errors.js'
import { handler } from '../../src/handlers/handler.js'
import { native } from '../../src/native.js'
import { encodeRequest } from '../../src/protocol/frame.js'
import { RequestMemory } from '../../src/server/request-memory.js'
import {
  batchOf,
  createTopic,
  fetchBody,
  fetchFrom,
  produceTo,
  startBroker,
} from '../support/broker.js'
import { until } from '../support/until.js'
import { Wire } from '../support/wire.js'
import { listen } from './listening.js'

const batch = batchOf('value')

async function start(t: TestContext) {
  const started = await startBroker(t)
  await createTopic(started.wire, 't')
  return started
}

const frameOf = (
  version: number,
  correlationId: number,
  body: Parameters<typeof encodeRequest>[4],
) =>
  Buffer.concat(
    encodeRequest(fetch, version, correlationId, 'wire', body as never).parts.map(
      (part) => part as Uint8Array,
    ),
  )

test('responses come in the order of their requests while one is waited for', async (t) => {
  const { broker, wire } = await start(t)
  const order: string[] = []
  const note = (name: string) => () => order.push(name)
  const produceBody = {
    acks: 1,
    timeoutMs: 100,
    topicData: [{ name: 't', partitionData: [{ index: 0, records: batch }] }],
  }
  const all = [
    wire.call(fetch, 12, fetchBody([{ topic: 't' }], { maxWaitMs: 300 })).then(note('fetch')),
    wire.call(metadata, 9, { topics: [] }).then(note('metadata')),
    wire.call(produce, 9, produceBody).then(note('produce')),
    wire.call(apiVersions, 0, {}).then(note('versions')),
  ]
  const other = await Wire.connect(t, broker.port)
  await other.call(metadata, 9, { topics: [] })
  assert.deepEqual(order, [], 'another connection does not wait')
  await Promise.all(all)
  assert.deepEqual(order, ['fetch', 'metadata', 'produce', 'versions'])
})

test('a request that has no response leaves no hole between those that have', async (t) => {
  const { wire } = await start(t)
  const topicData = [{ name: 't', partitionData: [{ index: 0, records: batch }] }]
  const answers: Promise<unknown>[] = []
  for (let i = 0; i < 300; i++) {
    wire.post(produce, 9, { acks: 0, timeoutMs: 100, topicData })
    answers.push(wire.call(metadata, 9, { topics: [] }))
  }
  await Promise.all(answers)
  assert.equal((await fetchFrom(wire, 't', 0)).highWatermark, 300)
})

test('a request that comes a byte at a time is one request', async (t) => {
  const { wire } = await start(t)
  const frame = wire.nextFrame()
  for (const byte of frameOf(12, 77, fetchBody([{ topic: 't' }]))) {
    wire.write(Buffer.of(byte))
    await delay(1)
  }
  assert.equal(Buffer.from(await frame).readInt32BE(), 77)
})

test('a hundred requests in one packet are all answered, in order', async (t) => {
  const { wire } = await start(t)
  const frames = Array.from({ length: 100 }, (_, i) => frameOf(12, i, fetchBody([{ topic: 't' }])))
  const answers = frames.map(() => wire.nextFrame())
  wire.write(Buffer.concat(frames))
  const ids = (await Promise.all(answers)).map((frame) => Buffer.from(frame).readInt32BE())
  assert.deepEqual(
    ids,
    Array.from(frames, (_, i) => i),
  )
})

test('clients that go while they wait leave nothing behind', async (t) => {
  const { port, parked, connections } = await listen(t)
  for (let round = 0; round < 20; round++) {
    const wires = await Promise.all(Array.from({ length: 10 }, () => Wire.connect(t, port)))
    for (const wire of wires) {
      wire.post(fetch, 12, fetchBody([{ topic: 't' }], { maxWaitMs: 60_000 }))
      wire.write(Buffer.from('000000ff00', 'hex'))
    }
    await until(() => parked() === 10, 'the requests')
    for (const wire of wires) wire.socket.destroy()
    await until(() => parked() === 0 && connections() === 0, 'the end of all that wait')
  }
})

test('clients that go while they wait leave nothing in the account of memory', async (t) => {
  const memory = new RequestMemory(1 << 20, systemEnv)
  t.after(() => memory.close())
  const { port, parked, connections } = await listen(t, [], { memory })
  const wire = await Wire.connect(t, port)
  for (let each = 0; each < 3; each++) {
    wire.post(fetch, 12, fetchBody([{ topic: 't' }], { maxWaitMs: 60_000 }))
  }
  await until(() => parked() === 1 && memory.totalBytes > 100, 'the requests')
  wire.socket.destroy()
  await until(() => parked() === 0 && connections() === 0, 'the end')
  // The request that was under way ends after its connection, in a later turn.
  await delay(20)
  assert.equal(memory.totalBytes, 0)
})

for (const [what, hex] of [
  ['HTTP', '474554202f20485454502f312e310d0a'],
  ['a TLS hello', '1603010200010001fc0303'],
  ['a length of 2^31 - 1', '7fffffff'],
  ['a negative length', 'ffffffff'],
  ['a length of 0', '00000000'],
  ['a frame that ends in its header', '00000008000300010000'],
  ['a count beyond the frame', '0000000e000300010000000100007fffffff'],
] as const) {
  test(`${what} closes its connection and disturbs nobody`, async (t) => {
    const { broker, wire } = await start(t)
    const stranger = connect(broker.port, '127.0.0.1')
    stranger.on('error', () => {})
    const closed = new Promise((resolve) => stranger.once('close', resolve))
    stranger.resume()
    stranger.write(Buffer.from(hex, 'hex'))
    if (what.startsWith('a frame that')) stranger.end(Buffer.from('0000', 'hex'))
    await closed
    assert.equal((await fetchFrom(wire, 't', 0)).errorCode, 0)
  })
}

test('a client that reads nothing costs little, and others are served', async (t) => {
  const { broker, wire } = await start(t)
  const large = batchOf('x'.repeat(1_000_000))
  for (let i = 0; i < 8; i++) await produceTo(wire, 't', large)
  const before = process.memoryUsage().rss
  const greedy = connect(broker.port, '127.0.0.1').pause()
  greedy.on('error', () => {})
  t.after(() => greedy.destroy())
  const body = fetchBody([{ topic: 't', maxBytes: 1 << 23 }], { maxBytes: 1 << 23 })
  for (let i = 0; i < 1000; i++) greedy.write(frameOf(12, i, body))
  await until(() => native.transferPending() > 0, 'a transfer that waits')
  for (let i = 0; i < 20; i++) {
    const startMs = performance.now()
    assert.equal((await fetchFrom(wire, 't', 8)).errorCode, 0)
    assert.ok(performance.now() - startMs < 1000)
  }
  assert.ok(process.memoryUsage().rss - before < 64 * 1024 * 1024)
  greedy.destroy()
  await until(() => native.transferPending() === 0, 'the end of the transfer')
})

test('a handler that fails closes its connection with a line for the operator', async (t) => {
  const failing = handler(metadata, [0, 13], () => {
    throw new Error('broken on purpose')
  })
  const listening = await listen(t, [failing])
  const wire = await Wire.connect(t, listening.port)
  wire.post(metadata, 9, { topics: [] })
  await wire.closed
  assert.match(listening.lines.join(), /closing the connection of 127.0.0.1:\d+: Error: broken/)
})

test('a client that was answered with an error keeps its connection', async (t) => {
  const { wire } = await start(t)
  const { errorCode } = await fetchFrom(wire, 'nix', 0)
  assert.equal(errorCode, KafkaError.UNKNOWN_TOPIC_OR_PARTITION)
  assert.equal((await fetchFrom(wire, 't', 0)).errorCode, 0)
})
