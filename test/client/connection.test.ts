import assert from 'node:assert/strict'
import { createServer } from 'node:net'
import { test } from 'node:test'
import { apiVersions } from '../../src/apis/api-versions.js'
import { metadata } from '../../src/apis/metadata.js'
import { produce } from '../../src/apis/produce.js'
import { addressText, Connection } from '../../src/client/connection.js'
import { encodeResponse, FrameReader } from '../../src/protocol/frame.js'
import { connectionOptions, fakeBroker, reply } from './fake-broker.js'

const body = { topics: [] }
const answer = { brokers: [], topics: [] }

test('requests that are under way together get the answers of their ids', async (t) => {
  const waiting: (() => void)[] = []
  const { address, requests } = await fakeBroker(t, (request, socket) => {
    const clusterId = `for ${request.correlationId}`
    waiting.push(() => reply(socket, request, metadata, { ...answer, clusterId }))
    // The later one is answered first, which no broker does.
    if (waiting.length === 2) for (const each of waiting.reverse()) each()
  })
  const connection = await Connection.open(address, connectionOptions)
  t.after(() => connection.close())
  const both = [connection.request(metadata, body), connection.request(metadata, body)]
  assert.equal(connection.inFlight, 2)
  const ids = (await Promise.all(both)).map(({ clusterId }) => clusterId)
  assert.deepEqual(ids, ['for 1', 'for 2'])
  assert.equal(connection.inFlight, 0)
  assert.deepEqual(
    requests.map(({ apiVersion, clientId }) => [apiVersion, clientId]),
    [
      [4, 'test'],
      [12, 'test'],
      [12, 'test'],
    ],
  )
})

test('the caller may keep the version down', async (t) => {
  const { address, requests } = await fakeBroker(t, (request, socket) =>
    reply(socket, request, metadata, answer),
  )
  const connection = await Connection.open(address, connectionOptions)
  t.after(() => connection.close())
  await connection.request(metadata, body, { versionMax: 5 })
  assert.equal(requests[1]?.apiVersion, 5)
})

test('an API that the broker does not serve is refused before anything is sent', async (t) => {
  const { address, requests } = await fakeBroker(t, () => {}, [[3, 20, 30]])
  const connection = await Connection.open(address, connectionOptions)
  t.after(() => connection.close())
  const code = { code: 'UNSUPPORTED_VERSION' }
  const told = 'versions 0 to 13 are wanted, and the broker serves versions 20 to 30'
  await assert.rejects(connection.request(metadata, body), {
    ...code,
    message: `127.0.0.1:${address.port}: Metadata: ${told}`,
  })
  await assert.rejects(connection.post(produce, { acks: 0, timeoutMs: 1, topicData: [] }), code)
  assert.equal(requests.length, 1)
})

/** A broker of before ApiVersions 4, which answers newer questions as KIP-511 has it. */
async function olderBroker(t: Parameters<typeof fakeBroker>[0], tells: boolean) {
  const asked: number[] = []
  const server = createServer((socket) => {
    const frames = new FrameReader(1 << 20)
    socket.on('data', (chunk) => {
      for (const frame of frames.push(chunk)) {
        const version = frame[3] ?? 0
        const id = Buffer.from(frame).readInt32BE(4)
        asked.push(version)
        const isServed = version <= 2
        const ranges = [{ apiKey: 18, minVersion: 0, maxVersion: 2 }]
        const body = { errorCode: isServed ? 0 : 35, apiKeys: isServed || tells ? ranges : [] }
        const { parts } = encodeResponse(apiVersions, isServed ? version : 0, id, body)
        socket.write(Buffer.concat(parts as Uint8Array[]))
      }
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => server.close())
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('no port')
  return { asked, address: { host: '127.0.0.1', port: address.port } }
}

test('a broker to which ApiVersions is too new is asked again as it says', async (t) => {
  const { asked, address } = await olderBroker(t, true)
  const connection = await Connection.open(address, connectionOptions)
  connection.close()
  assert.deepEqual(asked, [4, 2])
  assert.equal(connection.versions.highest(apiVersions), 2)
})

test('one that names none is asked in version 0', async (t) => {
  const { asked, address } = await olderBroker(t, false)
  const connection = await Connection.open(address, connectionOptions)
  connection.close()
  assert.deepEqual(asked, [4, 0])
})

test('a request without an answer in time ends the connection and what waits on it', async (t) => {
  const { address } = await fakeBroker(t, () => {})
  const connection = await Connection.open(address, { ...connectionOptions, requestTimeoutMs: 50 })
  const first = connection.request(metadata, body)
  const other = connection.request(metadata, body, { waitMs: 10_000 })
  await Promise.all([
    assert.rejects(first, {
      code: 'TIMED_OUT',
      message: `no answer to Metadata to 127.0.0.1:${address.port} within 50 ms`,
    }),
    assert.rejects(other, { code: 'DISCONNECTED' }),
  ])
  assert.equal(connection.closed, true)
  await assert.rejects(connection.request(metadata, body), { code: 'DISCONNECTED' })
})

test('what waits is rejected when the broker closes the connection', async (t) => {
  const { address } = await fakeBroker(t, (_, socket) => socket.destroy())
  const connection = await Connection.open(address, connectionOptions)
  let closed = 0
  connection.onClose(() => closed++)
  await assert.rejects(connection.request(metadata, body), { code: 'DISCONNECTED' })
  assert.equal(closed, 1)
})

for (const [what, bytes] of [
  ['an answer that is not due', Buffer.from([0, 0, 0, 4, 0, 0, 0, 99])],
  ['a response larger than allowed', Buffer.from([0x7f, 0, 0, 0])],
  ['an answer that breaks off within its fields', Buffer.from([0, 0, 0, 5, 0, 0, 0, 1, 0])],
] as const) {
  test(`${what} is MALFORMED_FRAME`, async (t) => {
    const { address } = await fakeBroker(t, (_, socket) => void socket.write(bytes))
    const connection = await Connection.open(address, connectionOptions)
    t.after(() => connection.close())
    await assert.rejects(connection.request(metadata, body), { code: 'MALFORMED_FRAME' })
  })
}

test('where nothing listens, the address and the cause are named', async (t) => {
  const { address } = await fakeBroker(t, () => {})
  const port = address.port === 1 ? 2 : 1
  await assert.rejects(Connection.open({ host: '127.0.0.1', port }, connectionOptions), {
    code: 'DISCONNECTED',
    message: `127.0.0.1:${port}: nothing listens there (ECONNREFUSED)`,
  })
})

test('one that accepts and says nothing is given up in time', async (t) => {
  const server = createServer(() => {})
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => server.close())
  const address = server.address()
  assert.ok(address !== null && typeof address !== 'string')
  const options = { ...connectionOptions, connectTimeoutMs: 50 }
  const opening = Connection.open({ host: '127.0.0.1', port: address.port }, options)
  await assert.rejects(opening, { code: 'TIMED_OUT' })
})

test('an address of IPv6 is shown in brackets', () => {
  assert.equal(addressText({ host: '::1', port: 9092 }), '[::1]:9092')
  assert.equal(addressText({ host: 'a', port: 1 }), 'a:1')
})
