/**
 * What becomes of a transfer whose reader, socket or segment goes away, and of calls that make no
 * sense.
 */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { rmSync, truncateSync } from 'node:fs'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { native, Status, type TransferPart } from '../../src/native.js'
import { Slice, sendParts } from '../../src/storage/slice.js'
import { SegmentFixture } from './segment-fixture.js'
import {
  connectedPair,
  expectBytes,
  nothingPending,
  openDescriptors,
  until,
} from './socket-fixture.js'

const MiB = 1024 * 1024

test('a slow reader of 32 MiB costs no memory', async (t) => {
  const segment = await SegmentFixture.open(t, 8 * MiB)
  const server = createServer().listen(0, '127.0.0.1')
  t.after(() => server.close())
  await once(server, 'listening')
  // One buffer for all that is read, as garbage that is not collected yet would count as growth.
  let received = 0
  let same = true
  const callback = (length: number, buffer: Uint8Array): boolean => {
    const at = received % segment.bytes.length
    const end = Math.min(at + length, segment.bytes.length)
    same &&= segment.bytes.compare(buffer, 0, end - at, at, end) === 0
    same &&= segment.bytes.compare(buffer, end - at, length, 0, at + length - end) === 0
    received += length
    if (received % MiB < length) setTimeout(() => reader.resume(), 5)
    return received % MiB >= length
  }
  const { port } = server.address() as AddressInfo
  const onread = { buffer: Buffer.alloc(64 * 1024), callback }
  const reader = connect({ port, host: '127.0.0.1', onread })
  const [sender] = (await once(server, 'connection')) as [Socket]
  t.after(() => [sender, reader].map((socket) => socket.destroy()))

  const before = process.memoryUsage().rss
  const slice = segment.slice(0, 8 * MiB)
  let settled = false
  const sent = sendParts(sender, [slice, slice, slice, slice])?.then(() => (settled = true))
  let peak = before
  while (received < 32 * MiB && same) {
    peak = Math.max(peak, process.memoryUsage().rss)
    await delay(2)
  }
  await sent
  assert.ok(same && settled)
  const growth = (peak - before) / MiB
  assert.ok(growth < 16, `grew by ${growth.toFixed(1)} MiB`)
})

test('a reader that goes away half way rejects the transfer and those behind it', async (t) => {
  const segment = await SegmentFixture.open(t, 16 * MiB)
  const { sender, reader } = await connectedPair(t)
  const descriptors = openDescriptors()
  const sent = [0, 1].map((at) => segment.slice(at, 16 * MiB - 1).sendTo(sender))
  const outcome = Promise.allSettled(sent)
  assert.equal(openDescriptors(), descriptors + 1, 'one duplicate for the transfer under way')
  reader.once('data', () => reader.destroy())
  reader.resume()
  for (const result of await outcome) {
    assert.equal(result.status === 'rejected' && result.reason.code, 'BROKEN_PIPE')
  }
  await until(() => openDescriptors() === descriptors - 2, 'every descriptor closed')
  await nothingPending()
  assert.ok(sender.destroyed)
})

test('a reader that was gone before is a rejection too', async (t) => {
  const segment = await SegmentFixture.open(t, MiB)
  const { sender, reader } = await connectedPair(t)
  reader.resetAndDestroy()
  await assert.rejects(
    async () => {
      for (;;) await segment.slice(0, MiB).sendTo(sender)
    },
    { code: 'BROKEN_PIPE' },
  )
  await nothingPending()
})

test('destroying the socket cancels its transfers', async (t) => {
  const segment = await SegmentFixture.open(t, 16 * MiB)
  const { sender } = await connectedPair(t)
  const sent = [0, 1, 2].map((at) => segment.slice(at, 8 * MiB).sendTo(sender))
  const outcome = Promise.allSettled(sent)
  assert.equal(native.transferPending(), 3)
  sender.destroy()
  for (const result of await outcome) {
    assert.equal(result.status === 'rejected' && result.reason.code, 'BROKEN_PIPE')
  }
  await nothingPending()
  await assert.rejects(segment.slice(0, 1).sendTo(sender), { code: 'BROKEN_PIPE' })
})

test('a socket that was ended takes no more', async (t) => {
  const segment = await SegmentFixture.open(t, MiB)
  const { sender } = await connectedPair(t)
  sender.end()
  await assert.rejects(segment.slice(0, 1).sendTo(sender), { code: 'BROKEN_PIPE' })
})

test('a segment that is closed and deleted meanwhile arrives whole', async (t) => {
  const segment = await SegmentFixture.open(t, 16 * MiB)
  const { sender, reader } = await connectedPair(t)
  const sent = [segment.slice(0, 16 * MiB).sendTo(sender), segment.slice(5, MiB).sendTo(sender)]
  assert.equal(native.transferPending(), 2)
  await segment.close()
  rmSync(segment.path)
  await expectBytes(reader, [segment.bytes, segment.bytes.subarray(5, MiB + 5)])
  await Promise.all(sent)
})

test('a slice that reaches beyond its file destroys the socket', async (t) => {
  const segment = await SegmentFixture.open(t, MiB)
  const { sender } = await connectedPair(t)
  await assert.rejects(segment.slice(MiB - 10, 11).sendTo(sender), { code: 'SHORT' })
  assert.ok(sender.destroyed)
  assert.equal(native.transferPending(), 0)
})

test('a file that is cut while it is sent is a short one', async (t) => {
  const segment = await SegmentFixture.open(t, 16 * MiB)
  const { sender, reader } = await connectedPair(t)
  const sent = segment.slice(0, 16 * MiB).sendTo(sender)
  assert.equal(native.transferPending(), 1)
  truncateSync(segment.path, MiB)
  reader.resume()
  await assert.rejects(sent, { code: 'SHORT' })
})

test('a segment that was closed before cannot be sent', async (t) => {
  const segment = await SegmentFixture.open(t, MiB)
  const { sender } = await connectedPair(t)
  const slice = segment.slice(0, 10)
  await segment.close()
  await assert.rejects(slice.sendTo(sender), { code: 'CLOSED' })
  assert.throws(() => slice.bytes(), { code: 'CLOSED' })
})

test('a closed segment in the queue fails in its turn, not before', async (t) => {
  const segment = await SegmentFixture.open(t, 8 * MiB)
  const { sender, reader } = await connectedPair(t)
  const first = segment.slice(0, 8 * MiB).sendTo(sender)
  const second = assert.rejects(new Slice(2 ** 30, 0, 1).sendTo(sender), { code: 'CLOSED' })
  await Promise.all([expectBytes(reader, [segment.bytes]), first])
  await second
})

test('parts that make no sense are refused before anything is sent', async (t) => {
  const segment = await SegmentFixture.open(t, MiB)
  const { sender, reader } = await connectedPair(t)
  const fd = Reflect.get(Reflect.get(sender, '_handle'), 'fd')
  const { handle } = segment
  const wrong: unknown[] = [
    undefined,
    'bytes',
    {},
    ['text'],
    [new Uint16Array(2)],
    [new DataView(new ArrayBuffer(2))],
    [handle],
    [handle, 0],
    [handle, 0, Buffer.alloc(1)],
    [handle, -1, 1],
    [handle, 0, -1],
    [handle, 0.5, 1],
    [handle, 0, Number.NaN],
    [handle, 0, 2 ** 53],
    [handle, Number.POSITIVE_INFINITY, 1],
    [2 ** 31, 0, 1],
    [-1, 0, 1],
    Array.from({ length: 65_537 }, () => Buffer.alloc(1)),
  ]
  for (const parts of wrong) {
    const after = [Buffer.from('sent'), ...(Array.isArray(parts) ? parts : [])]
    const list = (Array.isArray(parts) ? after : parts) as TransferPart[]
    assert.equal(
      native.transferSend(fd, list, () => {}),
      Status.BAD_ARGUMENT,
      String(parts),
    )
    assert.equal(native.transferHold(list), Status.BAD_ARGUMENT, String(parts))
  }
  assert.equal(
    native.transferSend(-1, [], () => {}),
    Status.BAD_ARGUMENT,
  )
  assert.equal(
    native.transferSend(1.5, [], () => {}),
    Status.BAD_ARGUMENT,
  )
  assert.equal(native.transferSend(fd, [], undefined as never), Status.BAD_ARGUMENT)
  assert.equal(
    native.transferStart(1, fd, () => {}),
    Status.CLOSED,
  )
  native.transferCancel(12_345)
  assert.equal(native.transferPending(), 0)
  sender.write('nothing before')
  await expectBytes(reader, [Buffer.from('nothing before')])
})

test('a descriptor that is no socket is an error', async (t) => {
  const segment = await SegmentFixture.open(t, MiB)
  const closed = 1_000_000
  assert.equal(
    native.transferSend(closed, [Buffer.alloc(1)], () => {}),
    Status.IO,
  )
  assert.equal(
    native.transferSend(closed, [segment.handle, 0, 1], () => {}),
    Status.IO,
  )
})

test('65,536 parts are not too many', async (t) => {
  const { sender, reader } = await connectedPair(t)
  const parts = Array.from({ length: 65_536 }, (_, i) => Buffer.of(i & 255))
  const sent = sendParts(sender, parts)
  await expectBytes(reader, parts)
  await sent
})

test('a held transfer that is cancelled sends nothing', async (t) => {
  const segment = await SegmentFixture.open(t, MiB)
  const descriptors = openDescriptors()
  const id = native.transferHold([segment.handle, 0, 10])
  assert.ok(id > 0)
  await segment.close()
  assert.equal(openDescriptors(), descriptors, 'the file stays open')
  native.transferCancel(id)
  await until(() => openDescriptors() === descriptors - 1, 'the file is closed')
  assert.equal(native.transferPending(), 0)
})
