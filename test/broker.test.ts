import assert from 'node:assert/strict'
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { connect, createServer } from 'node:net'
import { join } from 'node:path'
import { test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { findCoordinator } from '../src/apis/find-coordinator.js'
import { metadata } from '../src/apis/metadata.js'
import { Broker } from '../src/broker.js'
import { openLog } from '../src/open-log.js'
import { batchOf, createTopic, fetchFrom, produceTo, startBroker } from './support/broker.js'
import { memoryDirectory, temporaryDirectory } from './support/tmp.js'
import { until } from './support/until.js'
import { Wire } from './support/wire.js'

const batch = batchOf('value')
const code = (expected: string) => (error: unknown) =>
  error instanceof Error && 'code' in error && error.code === expected

setFlagsFromString('--expose-gc')
const collect: () => void = runInNewContext('gc')

/** V8 gives its heap room as it likes: what counts is what is used of it, and what is outside. */
function memory(): number {
  const { rss, heapTotal, heapUsed } = process.memoryUsage()
  return (rss - heapTotal + heapUsed) / 1024 / 1024
}

/** What a broker could leave in its process. */
const held = () => ({
  descriptors: readdirSync('/proc/self/fd').length,
  threads: readdirSync('/proc/self/task').length,
  // V8 maps its own heap as it likes; ours are of files.
  mappings: readFileSync('/proc/self/maps', 'utf8').match(/\.log\b/g)?.length ?? 0,
  memory: memory(),
})

test('a hundred starts and closes hold no more than ten', async (t) => {
  const dataDir = memoryDirectory(t)
  let settled = held()
  for (let round = 0; round < 100; round++) {
    const broker = await Broker.start({ port: 0, dataDir })
    const wire = await Wire.connect(t, broker.port)
    if (round === 0) await createTopic(wire, 't', { partitions: 4 })
    for (const partition of [0, 3]) await produceTo(wire, 't', batch, { partition })
    assert.equal((await fetchFrom(wire, 't', 0)).highWatermark, round + 1)
    await broker.close()
    await wire.closed
    // Until then the allocators of the process have found their size.
    if (round === 40 || round === 99) collect()
    if (round === 40) settled = held()
  }
  const after = held()
  assert.ok(after.descriptors <= settled.descriptors, `${after.descriptors} descriptors`)
  assert.ok(after.threads <= settled.threads, `${after.threads} threads`)
  assert.equal(after.mappings, 0)
  const grownMiB = after.memory - settled.memory
  assert.ok(grownMiB < 20, `${grownMiB} MiB more`)
})

test('what comes right after a start succeeds at once: a topic, a record, a group', async (t) => {
  for (let round = 0; round < 20; round++) {
    const broker = await Broker.start({ port: 0, dataDir: memoryDirectory(t) })
    const wire = Wire.over(connect(broker.port, '127.0.0.1'))
    await createTopic(wire, 'fresh')
    assert.equal((await produceTo(wire, 'fresh', batch)).errorCode, 0)
    const { errorCode } = await wire.call(findCoordinator, 3, { key: 'g' })
    assert.equal(errorCode, 0)
    wire.socket.destroy()
    await broker.close()
  }
})

test('brokers in one process do not know of each other', async (t) => {
  const brokers = await Promise.all([1, 2, 3].map(() => startBroker(t)))
  for (const [i, { wire }] of brokers.entries()) await createTopic(wire, `t${i}`)
  for (const [i, { broker, wire }] of brokers.entries()) {
    const { topics, brokers: known } = await wire.call(metadata, 9, { topics: null })
    assert.deepEqual(
      topics.map(({ name }) => name),
      [`t${i}`],
    )
    assert.equal(known[0]?.port, broker.port)
  }
  await brokers[0]?.broker.close()
  assert.equal((await produceTo(brokers[1]!.wire, 't1', batch)).errorCode, 0)
})

test('port 0 is a real port in Metadata and FindCoordinator', async (t) => {
  const { broker, wire } = await startBroker(t)
  assert.ok(broker.port > 0)
  assert.equal(broker.bootstrap, `127.0.0.1:${broker.port}`)
  const { brokers } = await wire.call(metadata, 9, { topics: [] })
  assert.deepEqual([brokers[0]?.host, brokers[0]?.port], ['127.0.0.1', broker.port])
  const coordinator = await wire.call(findCoordinator, 3, { key: 'g' })
  assert.deepEqual([coordinator.host, coordinator.port], ['127.0.0.1', broker.port])
})

test('localhost is told to clients as the address behind it that is listened on', async (t) => {
  const broker = await Broker.start({ config: { listeners: 'PLAINTEXT://localhost:0' } })
  t.after(() => broker.close())
  const [, host = ''] = broker.bootstrap.match(/^\[?(127\.0\.0\.1|::1)\]?:\d+$/) ?? []
  const socket = connect(broker.port, host)
  t.after(() => socket.destroy())
  await new Promise((resolve, reject) => socket.on('connect', resolve).on('error', reject))
})

test('each listener tells its own clients its own address', async (t) => {
  const config = {
    listeners: 'IN://127.0.0.1:0,OUT://127.0.0.1:0',
    'advertised.listeners': 'OUT://outside.example:9999',
    'listener.security.protocol.map': 'IN:PLAINTEXT,OUT:PLAINTEXT',
  }
  const broker = await Broker.start({ config })
  t.after(() => broker.close())
  const wire = await Wire.connect(t, broker.port)
  const { brokers } = await wire.call(metadata, 9, { topics: [] })
  assert.deepEqual([brokers[0]?.host, brokers[0]?.port], ['127.0.0.1', broker.port])
})

test('a start on a taken port fails with its name, and leaves the directory free', async (t) => {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => server.close())
  const address = server.address()
  assert.ok(address && typeof address === 'object')
  const dataDir = temporaryDirectory(t)
  await (await Broker.start({ port: 0, dataDir })).close()
  const before = held().descriptors
  await assert.rejects(Broker.start({ port: address.port, dataDir }), code('ADDRESS_IN_USE'))
  assert.equal(held().descriptors, before)
  await (await Broker.start({ port: 0, dataDir })).close()
})

test('a start whose second listener fails closes the first', async (t) => {
  const { broker } = await startBroker(t)
  const config = {
    listeners: `A://127.0.0.1:0,B://127.0.0.1:${broker.port}`,
    'listener.security.protocol.map': 'A:PLAINTEXT,B:PLAINTEXT',
  }
  const before = held().descriptors
  await assert.rejects(Broker.start({ config }), code('ADDRESS_IN_USE'))
  assert.equal(held().descriptors, before)
})

test('a start on a directory in use fails, and the one that uses it goes on', async (t) => {
  const { broker, wire } = await startBroker(t)
  await createTopic(wire, 't')
  const dataDir = broker.dataDirs[0]!
  await assert.rejects(Broker.start({ port: 0, dataDir }), code('LOCKED'))
  await assert.rejects(openLog(join(dataDir, 't-0')), code('LOCKED'))
  assert.equal((await produceTo(wire, 't', batch)).errorCode, 0)
})

test('a start on a damaged coordination file fails and says which', async (t) => {
  const dataDir = temporaryDirectory(t)
  writeFileSync(join(dataDir, 'seglog-coordination.json'), '{"version":')
  const before = held().descriptors
  await assert.rejects(Broker.start({ port: 0, dataDir }), /seglog-coordination.json is damaged/)
  assert.equal(held().descriptors, before)
})

test('a configuration that is not allowed is refused before anything is made', async (t) => {
  const dataDir = join(temporaryDirectory(t), 'data')
  const config = { 'num.partitions': 0 }
  await assert.rejects(Broker.start({ port: 0, dataDir, config }), code('INVALID_CONFIG'))
  assert.equal(existsSync(dataDir), false)
})

test('without a directory the broker uses one of its own, which goes with it', async () => {
  const broker = await Broker.start({ port: 0 })
  const [path = ''] = broker.dataDirs
  assert.ok(existsSync(path))
  await broker.close()
  assert.equal(existsSync(path), false)
})

test('a second close is the first one, and a closed broker is not there', async (t) => {
  const broker = await Broker.start({ port: 0, dataDir: temporaryDirectory(t) })
  const closing = broker.close()
  assert.equal(broker.close(), closing)
  await closing
  await broker.close()
  await assert.rejects(Wire.connect(t, broker.port))
})

test('close answers a fetch that waits, at once', async (t) => {
  const { broker, wire } = await startBroker(t)
  await createTopic(wire, 't')
  const waiting = fetchFrom(wire, 't', 0, { maxWaitMs: 20_000 })
  await delay(50)
  const startMs = performance.now()
  const closing = broker.close()
  assert.equal((await waiting).errorCode, 0)
  await closing
  assert.ok(performance.now() - startMs < 2500)
})

test('close while clients produce leaves every acknowledged record on disk', async (t) => {
  const { broker, wire } = await startBroker(t)
  const dataDir = broker.dataDirs[0]!
  await createTopic(wire, 't')
  let acknowledged = 0
  const producing = (async () => {
    for (;;) {
      await produceTo(wire, 't', batch)
      acknowledged++
    }
  })()
  await until(() => acknowledged > 20, 'some records')
  await Promise.all([assert.rejects(producing), broker.close()])
  const again = await startBroker(t, { dataDir })
  assert.ok((await fetchFrom(again.wire, 't', 0)).highWatermark >= acknowledged)
  await again.broker.close()
})

test('a client that reads nothing does not keep a broker from closing', async (t) => {
  const { broker, wire } = await startBroker(t)
  await createTopic(wire, 't')
  const large = batchOf('x'.repeat(1_000_000))
  for (let i = 0; i < 8; i++) await produceTo(wire, 't', large)
  const deaf = await Wire.connect(t, broker.port)
  deaf.socket.pause()
  for (let i = 0; i < 5; i++) fetchFrom(deaf, 't', 0, { maxBytes: 1 << 23 }).catch(() => {})
  await delay(50)
  const startMs = performance.now()
  await broker.close()
  assert.ok(performance.now() - startMs < 8000)
})

test('warnings go to the logger of the embedder', async (t) => {
  const lines: string[] = []
  const logger = { info() {}, warn: (line: string) => void lines.push(line), error() {} }
  const { broker } = await startBroker(t, { logger, config: { 'no.such.key': 1 } })
  assert.match(lines.join(), /no\.such\.key/)
  await broker.close()
})

test('options of the wrong form or name are refused by name', async () => {
  const wrong: [unknown, RegExp][] = [
    [null, /Broker\.start/],
    [{ prt: 0 }, /prt/],
    [{ port: '9092' }, /port/],
    [{ port: 70_000 }, /port/],
    [{ port: 0, dataDir: 5 }, /dataDir/],
    [{ port: 0, dataDir: '' }, /dataDir/],
    [{ port: 0, config: 5 }, /config/],
  ]
  for (const [options, message] of wrong) {
    await assert.rejects(Broker.start(options as { port: number }), {
      code: 'BAD_ARGUMENT',
      message,
    })
  }
})
