/**
 * What clients cost that only wait: processor time of the broker's process, its descriptors, and
 * what a client that works notices of them.
 */
import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { startBroker, until } from '../compat/harness.js'
import { errorOf, requests, Wire } from '../compat/wire.js'

const limit = { timeout: 90_000 }

/** Of a second of processor time: what Linux calls a tick, whatever the kernel's own clock is. */
const TICKS_PER_SECOND = 100

/** Processor time of a process so far, seconds. */
function spent(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND
}

const descriptors = (pid: number) => readdirSync(`/proc/${pid}/fd`).length

/** The share of one processor that a process takes while `work` goes on. */
async function shareOf(pid: number, work: () => Promise<unknown>): Promise<number> {
  const [before, start] = [spent(pid), performance.now()]
  await work()
  return (spent(pid) - before) / ((performance.now() - start) / 1000)
}

async function openMany(port: number, count: number): Promise<Wire[]> {
  const wires: Wire[] = []
  while (wires.length < count) {
    const group = Math.min(100, count - wires.length)
    wires.push(...(await Promise.all(Array.from({ length: group }, () => Wire.open(port)))))
  }
  return wires
}

async function makeTopic(port: number): Promise<Wire> {
  const wire = await Wire.open(port)
  assert.equal(errorOf.createTopic(await wire.ask(requests.createTopic(1, 'idle')), 'idle'), 0)
  return wire
}

test('a hundred consumers that poll an empty topic cost next to nothing', limit, async (t) => {
  const broker = await startBroker()
  const first = await makeTopic(broker.port)
  const wires = await openMany(broker.port, 100)
  const round = (id: number, waitMs: number) =>
    Promise.all(wires.map((wire) => wire.ask(requests.fetch(id, 'idle', 0, waitMs))))
  for (let id = 1; id < 60; id++) await round(id, 10)
  const share = await shareOf(broker.pid, async () => {
    for (let id = 60; id < 64; id++) await round(id, 1000)
  })
  t.diagnostic(`${(share * 100).toFixed(1)} % of a processor`)
  // 1 to 2 % where the machine does nothing else; its neighbours empty the caches.
  assert.ok(share < 0.05, `${share}`)
  for (const wire of [first, ...wires]) wire.destroy()
  await broker.stop()
})

/** As many connections as this process may open, at most ten thousand. */
function connections(): number {
  const limits = readFileSync('/proc/self/limits', 'utf8')
  return Math.min(10_000, Number(/^Max open files +(\d+)/m.exec(limits)?.[1]) - 200)
}

test(
  'thousands of fetches that wait take no processor time, and wake at once',
  limit,
  async (t) => {
    const broker = await startBroker()
    const first = await makeTopic(broker.port)
    const idle = descriptors(broker.pid)
    const wires = await openMany(broker.port, connections())
    for (const wire of wires) wire.send(requests.fetch(1, 'idle', 0, 60_000))
    await delay(3000)
    const share = await shareOf(broker.pid, () => delay(3000))
    t.diagnostic(`${(share * 100).toFixed(1)} % of a processor for ${wires.length}`)
    assert.ok(share < 0.02, `${share}`)
    assert.equal(errorOf.produce(await first.ask(requests.produce(2, 'idle', 1)), 'idle'), 0)
    await until('the answers', () => wires.every((wire) => wire.pendingBytes > 0), 10_000)
    for (const wire of wires) {
      assert.equal(errorOf.fetch((await wire.receive()).subarray(4), 'idle'), 0)
      wire.destroy()
    }
    await until('the end of all', () => descriptors(broker.pid) <= idle, 10_000)
    first.destroy()
    await broker.stop()
  },
)

test('ten thousand clients that come, wait and go leave no descriptor', limit, async () => {
  const broker = await startBroker()
  const first = await makeTopic(broker.port)
  const before = descriptors(broker.pid)
  for (let round = 0; round < 100; round++) {
    const wires = await openMany(broker.port, 100)
    for (const wire of wires) wire.send(requests.fetch(1, 'idle', 0, 60_000))
    // One that has its answer shows that the others of its round were read.
    assert.equal(errorOf.fetch(await first.ask(requests.fetch(2, 'idle', 0, 0)), 'idle'), 0)
    for (const wire of wires) wire.destroy()
  }
  await until('the end of all', () => descriptors(broker.pid) <= before, 10_000)
  const share = await shareOf(broker.pid, () => delay(1000))
  assert.ok(share < 0.05, `${share} of a processor for those that are gone`)
  first.destroy()
  await broker.stop()
})
