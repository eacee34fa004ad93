/**
 * What strangers send that speak another protocol, or none: their connection ends, nothing is
 * reserved for what they announce, and those who do speak Kafka's notice nothing.
 */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { memoryKiB, startBroker, type TestBroker, until } from './harness.js'
import { errorOf, requests, Wire } from './wire.js'

const limit = { timeout: 60_000 }
const idleMs = 1_000
let broker: TestBroker

before(async () => {
  broker = await startBroker({ config: { 'connections.max.idle.ms': idleMs } })
  const wire = await Wire.open(broker.port)
  await wire.ask(requests.createTopic(1, 'steady'))
  await until('leader', async () => {
    const body = await wire.ask(requests.produce(2, 'steady', 1))
    return errorOf.produce(body, 'steady') === 0
  })
  wire.destroy()
})
after(() => broker.stop())

const hex = (text: string) => Buffer.from(text.replaceAll(' ', ''), 'hex')

const greetings = [
  ['the largest length', hex('7fffffff')],
  ['a length of -1', hex('ffffffff')],
  ['the smallest length', hex('80000000')],
  ['a length of zero', hex('00000000')],
  ['a length one above the limit', hex('06400001')],
  ['HTTP', Buffer.from('GET / HTTP/1.1\r\nHost: localhost\r\n\r\n')],
  ['a TLS hello', hex('16030100 a5010000 a10303')],
  ['a TLS alert', hex('15030300 020228')],
  ['a request of an unknown API', hex('0000000a 7fff0000 00000001 ffff')],
  ['a frame too short for a header', hex('00000002 0012')],
] as const

for (const [name, bytes] of greetings) {
  test(`${name} ends the connection at once`, limit, async () => {
    const wire = await Wire.open(broker.port)
    wire.send(bytes)
    await wire.untilClosed(idleMs / 2)
    assert.equal(wire.pendingBytes, 0)
  })
}

const silences = [
  ['nothing at all', Buffer.alloc(0)],
  ['half a length', hex('0000')],
  ['half a request', requests.metadata(1, ['steady']).subarray(0, 12)],
] as const

for (const [name, bytes] of silences) {
  test(`${name} and then silence ends the connection when it has idled`, limit, async () => {
    const wire = await Wire.open(broker.port)
    wire.send(bytes)
    await wire.untilClosed(5 * idleMs)
  })
}

test('a request that comes byte by byte is answered', limit, async () => {
  const wire = await Wire.open(broker.port)
  for (const byte of requests.metadata(7, ['steady'])) {
    wire.send(Buffer.from([byte]))
    await new Promise(setImmediate)
  }
  assert.equal((await wire.receive()).readInt32BE(0), 7)
  wire.destroy()
})

/** A client that produces and reads again and again; resolves with the count when `stop` is set. */
async function steadyClient(state: { stop: boolean }): Promise<number> {
  const wire = await Wire.open(broker.port)
  let count = 0
  while (!state.stop) {
    const produced = await wire.ask(requests.produce(count, 'steady', 1), 2_000)
    assert.equal(errorOf.produce(produced, 'steady'), 0)
    const fetched = await wire.ask(requests.fetch(count, 'steady', 0, 0), 2_000)
    assert.equal(errorOf.fetch(fetched, 'steady'), 0)
    count += 1
  }
  wire.destroy()
  return count
}

async function insult(count: number): Promise<void> {
  for (let number = 0; number < count; number += 1) {
    const [, bytes] = greetings[number % greetings.length] ?? greetings[0]
    const wire = await Wire.open(broker.port)
    wire.send(bytes)
    await wire.untilClosed(2_000)
  }
}

test('200 of them leave the memory as it was and a client undisturbed', limit, async () => {
  const state = { stop: false }
  const client = steadyClient(state)
  await insult(100)
  // A heap grows in steps of its own until it has found its size, so one quiet round of several is
  // the proof; what is reserved for a length or kept of a connection would show in every one.
  const virtual = memoryKiB(broker.pid, 'VmPeak')
  const grown: number[] = []
  while (grown.length < 6 && !grown.some((kib) => kib < 4096)) {
    const before = memoryKiB(broker.pid, 'VmRSS')
    await insult(200)
    grown.push(memoryKiB(broker.pid, 'VmRSS') - before)
  }
  state.stop = true
  assert.ok((await client) > 10)
  assert.ok(
    grown.some((kib) => kib < 4096),
    `resident memory grew by ${grown.join(', ')} KiB`,
  )
  // Memory that is reserved and never touched is not resident, but it is counted here.
  const reserved = memoryKiB(broker.pid, 'VmPeak') - virtual
  assert.ok(reserved < 262_144, `${reserved} KiB more were reserved at some time`)
})
