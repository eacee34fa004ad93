import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { connect as connectTls, createServer as createTlsServer } from 'node:tls'
import { native } from '../../src/native.js'
import { sendParts } from '../../src/storage/slice.js'
import { numbersFrom, SegmentFixture } from './segment-fixture.js'
import { connectedPair, expectBytes, nothingPending } from './socket-fixture.js'

const MiB = 1024 * 1024

test('a slice copies its bytes', async (t) => {
  const segment = await SegmentFixture.open(t, MiB)
  assert.deepEqual(segment.slice(1000, 70_000).bytes(), segment.bytes.subarray(1000, 71_000))
})

test('a slice that reaches beyond its file has no bytes', async (t) => {
  const segment = await SegmentFixture.open(t, MiB)
  assert.throws(() => segment.slice(MiB - 10, 11).bytes(), { code: 'SHORT' })
})

test('a small response leaves an idle socket at once', async (t) => {
  const segment = await SegmentFixture.open(t, MiB)
  const { sender, reader } = await connectedPair(t)
  const header = Buffer.from('header')
  assert.equal(sendParts(sender, [header, segment.slice(100, 1000), header]), undefined)
  await expectBytes(reader, [header, segment.bytes.subarray(100, 1100), header])
})

test('an empty response needs no byte of the socket', async (t) => {
  const segment = await SegmentFixture.open(t, MiB)
  const { sender, reader } = await connectedPair(t)
  assert.equal(sendParts(sender, [Buffer.alloc(0), segment.slice(5, 0)]), undefined)
  sender.write('next')
  await expectBytes(reader, [Buffer.from('next')])
})

test('a response of many large buffers and slices arrives whole', async (t) => {
  const segment = await SegmentFixture.open(t, 8 * MiB)
  const { sender, reader } = await connectedPair(t)
  const bytes = segment.bytes.subarray(0, 3 * MiB)
  const sent = sendParts(sender, [bytes, bytes, segment.slice(7, 8 * MiB - 7), bytes])
  await expectBytes(reader, [bytes, bytes, segment.bytes.subarray(7), bytes])
  await sent
  assert.equal(native.transferPending(), 0)
})

test('a thousand writes and slices in random order arrive in order', async (t) => {
  const segment = await SegmentFixture.open(t, 4 * MiB)
  const { sender, reader } = await connectedPair(t)
  const next = numbersFrom(7)
  const plan = Array.from({ length: 1000 }, () => {
    const position = next() % (3 * MiB)
    const sizeBytes = next() % 16 === 0 ? next() % MiB : next() % 5000
    const bytes = segment.bytes.subarray(position, position + sizeBytes)
    return { act: next() % 4, bytes, slice: segment.slice(position, sizeBytes) }
  })
  const read = expectBytes(
    reader,
    plan.flatMap(({ act, bytes }) => (act === 3 ? [bytes, bytes] : [bytes])),
  )
  const sent: (Promise<void> | undefined)[] = []
  for (const { act, bytes, slice } of plan) {
    if (act === 0) sender.write(bytes)
    else if (act === 1) sent.push(slice.sendTo(sender))
    else if (act === 2) sent.push(sendParts(sender, [bytes]))
    else sent.push(sendParts(sender, [bytes, slice]))
    const whim = next() % 64
    if (whim === 0) reader.pause()
    if (whim === 1) await delay(1)
    if (whim === 2 && sender.writableCorked === 0) sender.cork()
    if (whim === 3) sender.uncork()
    if (whim % 8 === 7) reader.resume()
  }
  reader.resume()
  sender.end()
  await Promise.all([read, ...sent])
  assert.equal(native.transferPending(), 0)
})

test('writes, corked writes and the end wait for the transfer before them', async (t) => {
  const segment = await SegmentFixture.open(t, 8 * MiB)
  const { sender, reader } = await connectedPair(t)
  const first = segment.slice(0, 8 * MiB).sendTo(sender)
  assert.equal(native.transferPending(), 1, 'the socket takes less than 8 MiB')
  sender.write('one')
  sender.cork()
  sender.write('two')
  const second = segment.slice(1, 10).sendTo(sender)
  sender.write('three')
  sender.uncork()
  sender.end('four')
  const texts = ['onetwo', 'threefour'].map((text) => Buffer.from(text))
  const expected = [segment.bytes, texts[0]!, segment.bytes.subarray(1, 11), texts[1]!]
  await Promise.all([expectBytes(reader, expected), first, second])
  await once(reader, 'end')
})

test('a slice goes behind a write that is still under way', async (t) => {
  const segment = await SegmentFixture.open(t, 8 * MiB)
  const { sender, reader } = await connectedPair(t)
  sender.write(segment.bytes)
  const sent = segment.slice(3, 100).sendTo(sender)
  await expectBytes(reader, [segment.bytes, segment.bytes.subarray(3, 103)])
  await sent
})

test('a socket that is still connecting sends when it is connected', async (t) => {
  const segment = await SegmentFixture.open(t, 2 * MiB)
  const server = createServer().listen(0, '127.0.0.1')
  t.after(() => server.close())
  await once(server, 'listening')
  const sender = connect((server.address() as AddressInfo).port, '127.0.0.1')
  t.after(() => sender.destroy())
  const sent = segment.slice(0, 2 * MiB).sendTo(sender)
  sender.end('end')
  const [reader] = (await once(server, 'connection')) as [Socket]
  await expectBytes(reader, [segment.bytes, Buffer.from('end')])
  await sent
})

test('a socket that never connects rejects what it was to send', async (t) => {
  const segment = await SegmentFixture.open(t, MiB)
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  await new Promise((resolve) => server.close(resolve))
  const sender = connect(port, '127.0.0.1').on('error', () => {})
  await assert.rejects(segment.slice(0, MiB).sendTo(sender), { code: 'BROKEN_PIPE' })
  await nothingPending()
})

test('an encrypted socket gets copies in the same order', async (t) => {
  const segment = await SegmentFixture.open(t, 2 * MiB)
  const psk = Buffer.alloc(16, 7)
  const suite = { ciphers: 'PSK-AES128-GCM-SHA256', maxVersion: 'TLSv1.2' } as const
  const server = createTlsServer({ ...suite, pskCallback: () => psk }).listen(0, '127.0.0.1')
  t.after(() => server.close())
  await once(server, 'listening')
  const sender = connectTls({
    ...suite,
    port: (server.address() as AddressInfo).port,
    host: '127.0.0.1',
    pskCallback: () => ({ psk, identity: 'test' }),
    checkServerIdentity: () => undefined,
  })
  t.after(() => sender.destroy())
  const [reader] = (await once(server, 'secureConnection')) as [Socket]
  sender.write('before')
  const sent = segment.slice(0, 2 * MiB).sendTo(sender)
  sender.end('behind')
  await expectBytes(reader, [Buffer.from('before'), segment.bytes, Buffer.from('behind')])
  await sent
})
