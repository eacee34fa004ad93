import assert from 'node:assert/strict'
import { connect } from 'node:net'
import { test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { fetch } from '../../src/apis/fetch.js'
import { metadata } from '../../src/apis/metadata.js'
import { handler } from '../../src/handlers/handler.js'
import { ConnectionQuota } from '../../src/server/listener.js'
import { fetchBody } from '../support/broker.js'
import { until } from '../support/until.js'
import { Wire } from '../support/wire.js'
import { listen } from './listening.js'

const body = fetchBody([{ topic: 't' }])
const quick = handler(metadata, [0, 13], () => ({ brokers: [], topics: [] }))
const code = (expected: string) => (error: unknown) =>
  error instanceof Error && 'code' in error && error.code === expected

test('port 0 takes a free one, and says which', async (t) => {
  const { port } = await listen(t)
  assert.ok(port > 0)
  await Wire.connect(t, port)
})

test('a port that is taken is told as such', async (t) => {
  const { port } = await listen(t)
  await assert.rejects(listen(t, [], { port }), code('ADDRESS_IN_USE'))
})

test('an address that is not of this machine is an error of the disk or network', async (t) => {
  await assert.rejects(listen(t, [], { host: '203.0.113.1' }), code('IO'))
})

test('close lets a request finish, answers it, and refuses new connections', async (t) => {
  const { listener, port, parked, answerAll } = await listen(t)
  const wire = await Wire.connect(t, port)
  const answer = wire.call(fetch, 12, body)
  await until(() => parked() === 1, 'the request')
  const closing = listener.close(5000)
  await assert.rejects(Wire.connect(t, port))
  answerAll()
  assert.deepEqual((await answer).responses, [])
  await wire.closed
  await closing
  assert.equal(listener.connections, 0)
})

test('close does not wait longer than it was told to', async (t) => {
  const { listener, port, parked } = await listen(t)
  const wire = await Wire.connect(t, port)
  const answer = wire.call(fetch, 12, body)
  await until(() => parked() === 1, 'the request')
  await Promise.all([assert.rejects(answer), listener.close(50)])
  assert.equal(parked(), 0)
})

test('requests behind the one that is finished are not begun on close', async (t) => {
  const { listener, port, parked, answerAll } = await listen(t)
  const wire = await Wire.connect(t, port)
  const first = wire.call(fetch, 12, body)
  const second = wire.call(fetch, 12, body)
  await until(() => parked() === 1, 'the first request')
  await delay(20)
  const closing = listener.close(5000)
  answerAll()
  await first
  await Promise.all([assert.rejects(second), closing])
  assert.equal(parked(), 0)
})

test('close twice, and with idle connections, ends at once', async (t) => {
  const { listener, port } = await listen(t)
  const wires = await Promise.all([1, 2, 3].map(() => Wire.connect(t, port)))
  await until(() => listener.connections === 3, 'the connections')
  await Promise.all([listener.close(5000), listener.close(5000)])
  await Promise.all(wires.map(({ closed }) => closed))
  await listener.close(5000)
})

test('an idle connection is closed, one that waits for its answer is not', async (t) => {
  const { port, listener, parked } = await listen(t, [], { maxIdleMs: 150 })
  const busy = await Wire.connect(t, port)
  busy.post(fetch, 12, body)
  const idle = await Wire.connect(t, port)
  await idle.closed
  await delay(200)
  assert.deepEqual([listener.connections, parked()], [1, 1])
})

test('a connection that is used stays', async (t) => {
  const { port } = await listen(t, [quick], { maxIdleMs: 400 })
  const wire = await Wire.connect(t, port)
  for (let i = 0; i < 12; i++) {
    await delay(50)
    await wire.call(metadata, 9, { topics: [] })
  }
})

test('a length that is too large closes, one that silence follows times out', async (t) => {
  const { port, lines } = await listen(t, [], { maxFrameBytes: 1000, maxIdleMs: 150 })
  for (const prefix of ['000003e9', '00000100']) {
    const socket = connect(port, '127.0.0.1')
    socket.resume()
    socket.write(Buffer.from(prefix, 'hex'))
    await new Promise((resolve) => socket.once('close', resolve))
  }
  assert.match(lines.join(), /a frame of 1001 bytes/)
})

test('connections above the limits are refused until one goes', async (t) => {
  for (const quota of [
    new ConnectionQuota(
      () => 2,
      () => 100,
    ),
    new ConnectionQuota(
      () => 100,
      () => 2,
    ),
  ]) {
    const { port, listener, lines } = await listen(t, [quick], { quota })
    const first = await Wire.connect(t, port)
    const second = await Wire.connect(t, port)
    const third = await Wire.connect(t, port)
    await third.closed
    assert.match(lines.join(), /refusing a connection of 127\.0\.0\.1/)
    await second.call(metadata, 9, { topics: [] })
    first.socket.destroy()
    await until(() => listener.connections === 1, 'the end of the first')
    await (await Wire.connect(t, port)).call(metadata, 9, { topics: [] })
  }
})

test('a request that came while the process was held up saves its connection', async (t) => {
  const { port } = await listen(t, [quick], { maxIdleMs: 100 })
  const wire = await Wire.connect(t, port)
  await wire.call(metadata, 9, { topics: [] })
  const answer = wire.call(metadata, 9, { topics: [] })
  // Nothing is read meanwhile, and the timer is overdue when it is.
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 400)
  await answer
})

test('a handler that never ends does not hold up a close beyond its grace', async (t) => {
  const stuck = handler(metadata, [0, 12], () => new Promise<never>(() => {}))
  const { listener, port } = await listen(t, [stuck])
  const wire = await Wire.connect(t, port)
  wire.post(metadata, 9, { topics: [] })
  await delay(50)
  const ended = listener.close(100).then(() => 'closed')
  assert.equal(await Promise.race([ended, delay(5000, 'waits', { ref: false })]), 'closed')
})
