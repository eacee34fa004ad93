/**
 * The order of responses, their absence, version negotiation, and first use, judged from raw bytes.
 */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { startBroker, type TestBroker, until } from './harness.js'
import { Api, errorOf, requests, Wire } from './wire.js'

const limit = { timeout: 30_000 }
let broker: TestBroker

before(async () => {
  broker = await startBroker()
})
after(() => broker.stop())

async function topic(name: string): Promise<Wire> {
  const wire = await Wire.open(broker.port)
  assert.equal(errorOf.createTopic(await wire.ask(requests.createTopic(1, name)), name), 0)
  await until('leader', async () => {
    const body = await wire.ask(requests.fetch(2, name, 0, 0))
    return errorOf.fetch(body, name) === 0
  })
  return wire
}

const idOf = (response: Buffer) => response.readInt32BE(0)

test('pipelined requests are answered in their order, behind one that waits', limit, async () => {
  const wire = await topic('empty')
  const other = await topic('other')
  const began = performance.now()
  wire.send(
    requests.fetch(101, 'empty', 0, 1_000),
    requests.metadata(102, ['other']),
    requests.produce(103, 'other', 1),
    requests.apiVersions(104),
  )
  // The one that waits holds up its own connection only.
  await other.ask(requests.metadata(1, ['other']), 500)
  const ids = []
  for (let count = 0; count < 4; count += 1) ids.push(idOf(await wire.receive()))
  assert.deepEqual(ids, [101, 102, 103, 104])
  assert.ok(performance.now() - began > 950)
  wire.destroy()
  other.destroy()
})

test('a fetch that waits is answered when something comes', limit, async () => {
  const wire = await topic('soon')
  const other = await topic('later')
  const began = performance.now()
  wire.send(requests.fetch(1, 'soon', 0, 10_000))
  await other.ask(requests.produce(2, 'soon', 1))
  const body = (await wire.receive()).subarray(4)
  assert.equal(errorOf.fetch(body, 'soon'), 0)
  assert.ok(performance.now() - began < 5_000)
  wire.destroy()
  other.destroy()
})

test('a produce with acks=0 has no response', limit, async () => {
  const wire = await topic('silent')
  wire.send(requests.produce(201, 'silent', 0), requests.metadata(202, ['silent']))
  assert.equal(idOf(await wire.receive()), 202)
  await wire.ask(requests.metadata(203, ['silent']))
  assert.equal(wire.pendingBytes, 0)
  wire.destroy()
})

test('1,000 requests with and without a response stay paired', limit, async () => {
  const wire = await topic('paired')
  const ids = Array.from({ length: 500 }, (_, index) => 2 * index + 1)
  wire.send(
    ...ids.flatMap((id) => [
      requests.produce(id - 1, 'paired', 0),
      requests.metadata(id, ['paired']),
    ]),
  )
  for (const id of ids) assert.equal(idOf(await wire.receive()), id)
  wire.destroy()
})

test('a produce with acks=0 to an unknown partition ends the connection', limit, async () => {
  const wire = await topic('known')
  wire.send(requests.produce(301, 'known', 0, 'x', 77))
  await wire.untilClosed(5_000)
  assert.equal(wire.pendingBytes, 0)
})

/** The ranges of an ApiVersions response in version 0, after the error code. */
function rangesOf(body: Buffer): Map<number, string> {
  const ranges = new Map<number, string>()
  for (let index = 0; index < body.readInt32BE(2); index += 1) {
    const at = 6 + 6 * index
    ranges.set(body.readInt16BE(at), `${body.readInt16BE(at + 2)}-${body.readInt16BE(at + 4)}`)
  }
  assert.equal(body.length, 6 + 6 * ranges.size)
  return ranges
}

test('a version of ApiVersions that is too high is answered in version 0', limit, async () => {
  const wire = await Wire.open(broker.port)
  const body = await wire.ask(requests.apiVersions(1, 99, 'tester'))
  assert.equal(body.readInt16BE(0), 35)
  assert.match(rangesOf(body).get(Api.API_VERSIONS) ?? '', /^0-\d+$/)
  // The connection lives on, so that the client can ask again.
  assert.equal((await wire.ask(requests.apiVersions(2))).readInt16BE(0), 0)
  wire.destroy()
})

test('the header of an ApiVersions response has no tags, in no version', limit, async () => {
  const wire = await Wire.open(broker.port)
  const plain = rangesOf(await wire.ask(requests.apiVersions(1)))
  const body = await wire.ask(requests.apiVersions(2, 3, 'tester'))
  assert.equal(body.readInt16BE(0), 0)
  assert.equal(body.readUInt8(2), plain.size + 1)
  wire.destroy()
})

test('a name of client software that is none is an invalid request', limit, async () => {
  const wire = await Wire.open(broker.port)
  const body = await wire.ask(requests.apiVersions(1, 3, 'a b!'))
  assert.equal(body.readInt16BE(0), 42)
  wire.destroy()
})

test(
  'another API in a version that is not served ends the connection or is refused',
  limit,
  async () => {
    const wire = await Wire.open(broker.port)
    wire.send(requests.metadata(1, []).fill(99, 7, 8))
    await until('an answer', () => wire.closed || wire.pendingBytes > 0, 2_000)
    wire.destroy()
  },
)

test('the port in Metadata and FindCoordinator is the one that was bound', limit, async () => {
  const wire = await topic('bound')
  const end = Buffer.concat([Buffer.from('\0\x09127.0.0.1'), Buffer.alloc(4)])
  end.writeInt32BE(broker.port, end.length - 4)
  assert.ok((await wire.ask(requests.metadata(1, ['bound']))).includes(end))
  let coordinator = await wire.ask(requests.findCoordinator(2, 'group'))
  // On first use the coordinator's own topic may still have to be made.
  await until('coordinator', async () => {
    coordinator = await wire.ask(requests.findCoordinator(3, 'group'))
    return coordinator.readInt16BE(0) === 0
  })
  assert.ok(coordinator.includes(end))
  wire.destroy()
})

test('metadata of no topic in particular makes none, and names every one', limit, async () => {
  const wire = await topic('named')
  assert.ok(!(await wire.ask(requests.metadata(1, []))).includes('named'))
  wire.destroy()
})
