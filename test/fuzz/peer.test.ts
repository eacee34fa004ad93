/** That the fuzzer's client notices what a broker must not do, of a server that does it. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { type TestContext, test } from 'node:test'
import { requests } from '../compat/wire.js'
import { until } from '../support/until.js'
import { Peer, type PeerTally } from './peer.js'

const limit = { timeout: 20_000 }
const apiVersions = (id: number) => requests.apiVersions(id)

function answer(correlationId: number): Buffer {
  const frame = Buffer.alloc(10)
  frame.writeInt32BE(6)
  frame.writeInt32BE(correlationId, 4)
  return frame
}

/** A peer of a server that does as `serve` says with what comes, and the faults that it finds. */
async function peerOf(t: TestContext, serve: (socket: Socket, bytes: Buffer) => void) {
  const server = createServer((socket) => {
    socket.on('error', () => {})
    socket.on('data', (bytes) => serve(socket, bytes))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const faults: string[] = []
  const state = { faults, closed: false, answered: 0 }
  const tally = { answered: 0, closedByBroker: 0, leftWaiting: 0 }
  const whole: PeerTally = { ...tally, answerBytes: 0, answerBytesMax: 0 }
  const events = {
    fault: (_: Peer, what: string) => void faults.push(what),
    answer: () => {},
    progress: () => {},
    closed: () => {
      state.closed = true
    },
  }
  const peer = new Peer((server.address() as AddressInfo).port, events, whole)
  await until(() => peer.open, 'a connection')
  const look = setInterval(() => peer.look(performance.now(), 20, 100), 10)
  t.after(() => {
    clearInterval(look)
    peer.leave()
    server.close()
  })
  return { peer, state, tally: whole }
}

test('answers in order are no fault, and none is due to a produce', limit, async (t) => {
  const { peer, state, tally } = await peerOf(t, (socket) => {
    socket.write(Buffer.concat([answer(1), answer(3)]))
  })
  peer.send(Buffer.concat([apiVersions(1), requests.produce(2, 'topic', 0), apiVersions(3)]))
  await until(() => peer.pending === 0, 'answers')
  assert.deepEqual([state.faults, tally.answered], [[], 3])
})

test('an answer that is not the next is a fault', limit, async (t) => {
  const { peer, state } = await peerOf(t, (socket) => void socket.write(answer(2)))
  peer.send(Buffer.concat([apiVersions(1), apiVersions(2)]))
  await until(() => state.faults.length > 0, 'a fault')
  assert.match(state.faults[0] ?? '', /not the next request/)
})

test('an answer that does not come is a fault', limit, async (t) => {
  const { peer, state } = await peerOf(t, () => {})
  peer.send(apiVersions(1))
  await until(() => state.faults.length > 0, 'a fault')
  assert.match(state.faults[0] ?? '', /no answer to a request of API 18/)
})

test('a fetch that waits is left', limit, async (t) => {
  const { peer, state, tally } = await peerOf(t, () => {})
  peer.send(requests.fetch(1, 'topic', 0, 60_000))
  await until(() => state.closed, 'an end')
  assert.deepEqual([state.faults, tally.leftWaiting], [[], 1])
})

test('an end without cause is a fault, one with cause is none', limit, async (t) => {
  const without = await peerOf(t, (socket) => socket.destroy())
  without.peer.send(apiVersions(1))
  await until(() => without.state.closed, 'an end')
  assert.match(without.state.faults[0] ?? '', /on which all was well/)
  const behind = await peerOf(t, (socket) => socket.destroy())
  behind.peer.send(Buffer.from('ffffffff', 'hex'))
  await until(() => behind.state.closed, 'an end')
  assert.deepEqual([behind.state.faults, behind.tally.closedByBroker], [[], 1])
})

test('a length that cannot be and does not end the connection is a fault', limit, async (t) => {
  const { peer, state } = await peerOf(t, () => {})
  peer.send(Buffer.from('7fffffff0012', 'hex'))
  await until(() => state.faults.length > 0, 'a fault')
  assert.match(state.faults[0] ?? '', /stays open/)
})
