/** How the broker's process starts, stops and refuses, judged from outside. */
import assert from 'node:assert/strict'
import { connect, createServer, type Server } from 'node:net'
import { join } from 'node:path'
import { test } from 'node:test'
import { Kafka, logLevel, type Producer } from 'kafkajs'
import {
  brokerArguments,
  type Finished,
  main,
  root,
  run,
  start,
  startBroker,
  temporaryFolder,
  until,
  within,
} from '../compat/harness.js'
import { errorOf, requests, Wire } from '../compat/wire.js'

const limit = { timeout: 60_000 }

const seglog = (args: readonly string[]): Promise<Finished> =>
  run(process.execPath, [main, ...args], { expect: 'any', timeoutMs: 15_000 })

/** What an operator should read: the reason, in one line, and no trace of the source. */
function assertOneLine({ stderr, text }: Finished, reason: RegExp): void {
  assert.match(stderr, reason)
  assert.equal(stderr.trimEnd().split('\n').length, 1, stderr)
  assert.doesNotMatch(text, /ready/)
}

async function produceOnce(port: number, topic: string): Promise<void> {
  const wire = await Wire.open(port)
  await wire.ask(requests.createTopic(1, topic))
  assert.equal(errorOf.produce(await wire.ask(requests.produce(2, topic, 1)), topic), 0)
  wire.destroy()
}

test('the ready line names the port, the folder and the coordination', limit, async () => {
  const broker = await startBroker()
  const where = `(data: ${broker.dataDir}, coordination: embedded)`
  assert.equal(broker.readyLine, `seglog broker 0 ready on 127.0.0.1:${broker.port} ${where}`)
  assert.equal((await broker.stop()).code, 0)
})

test('a broker is ready again within 3 s, and serves what it had', limit, async (context) => {
  const first = await startBroker()
  await produceOnce(first.port, 'kept')
  assert.equal((await first.stop()).code, 0)
  const second = await startBroker({ dataDir: first.dataDir })
  context.diagnostic(`ready after ${Math.round(second.readyMs)} ms`)
  assert.ok(second.readyMs < 3_000, `${second.readyMs} ms`)
  const wire = await Wire.open(second.port)
  const body = await wire.ask(requests.fetch(1, 'kept', 0, 0))
  assert.equal(errorOf.fetch(body, 'kept'), 0)
  assert.ok(body.includes(Buffer.from('\x02x')))
  wire.destroy()
  await second.stop()
})

test('in the moment of the ready line a topic can be made and written to', limit, async () => {
  for (let round = 0; round < 3; round += 1) {
    const broker = await startBroker()
    await produceOnce(broker.port, `fresh-${round}`)
    await broker.stop()
  }
})

for (const signal of ['SIGTERM', 'SIGINT'] as const) {
  test(`${signal} ends an idle broker with code 0`, limit, async () => {
    const broker = await startBroker()
    const idle = await Wire.open(broker.port)
    const began = performance.now()
    broker.signal(signal)
    assert.deepEqual(await broker.exited, { code: 0, signal: null })
    assert.ok(performance.now() - began < 5_000)
    idle.destroy()
  })
}

test('a fetch that waits does not hold up the end', limit, async () => {
  const broker = await startBroker()
  const wire = await Wire.open(broker.port)
  await wire.ask(requests.createTopic(1, 'awaited'))
  wire.send(requests.fetch(2, 'awaited', 0, 60_000))
  const began = performance.now()
  assert.equal((await broker.stop()).code, 0)
  assert.ok(performance.now() - began < 5_000)
  wire.destroy()
})

async function produceUntil(
  state: { stop: boolean },
  producer: Producer,
  acknowledged: string[],
): Promise<void> {
  for (let number = 0; !state.stop; number += 1) {
    const value = `${number}-${'x'.repeat(1000)}`
    try {
      await producer.send({ topic: 'loaded', acks: 1, messages: [{ value }] })
      acknowledged.push(value)
    } catch {
      return
    }
  }
}

const kafkaOf = (bootstrap: string) =>
  new Kafka({ brokers: [bootstrap], logLevel: logLevel.NOTHING, retry: { retries: 0 } })

async function readAll(bootstrap: string, count: number): Promise<string[]> {
  const consumer = kafkaOf(bootstrap).consumer({ groupId: 'after', maxWaitTimeInMs: 100 })
  const values: string[] = []
  await consumer.connect()
  await consumer.subscribe({ topic: 'loaded', fromBeginning: true })
  await consumer.run({
    eachMessage: async ({ message }) => {
      values.push(message.value?.toString() ?? '')
    },
  })
  await until(`${count} records`, () => values.length >= count, 20_000)
  await consumer.disconnect()
  return values
}

test('SIGTERM under load ends within 5 s and loses nothing acknowledged', limit, async () => {
  const first = await startBroker()
  await produceOnce(first.port, 'loaded')
  const producers = [1, 2, 3, 4].map(() =>
    kafkaOf(first.bootstrap).producer({ retry: { retries: 0 } }),
  )
  await Promise.all(producers.map((producer) => producer.connect()))
  const state = { stop: false }
  const acknowledged: string[] = []
  const load = producers.map((producer) => produceUntil(state, producer, acknowledged))
  await until('load', () => acknowledged.length > 400)
  const began = performance.now()
  assert.deepEqual(await first.stop(), { code: 0, signal: null })
  assert.ok(performance.now() - began < 5_000)
  state.stop = true
  await Promise.all(load)
  await Promise.all(producers.map((producer) => producer.disconnect()))
  const second = await startBroker({ dataDir: first.dataDir })
  const kept = await readAll(second.bootstrap, acknowledged.length + 1)
  const left = new Set(acknowledged)
  for (const value of kept) left.delete(value)
  assert.equal(left.size, 0)
  await second.stop()
})

const wrongUses = [
  ['an unknown command', ['nonsense']],
  ['an unknown option', ['broker', '--nonsense']],
  ['an override without a value', ['broker', '--override', 'log.dirs']],
  ['an override that is missing', ['broker', '--override']],
] as const

for (const [name, args] of wrongUses) {
  test(`${name} is a mistake of use: code 2`, limit, async () => {
    const finished = await seglog(args)
    assert.equal(finished.code, 2, finished.stderr)
    assert.notEqual(finished.stderr.trim(), '')
    assert.doesNotMatch(finished.stderr, /^ +at /m)
  })
}

test('a configuration file that is missing is a failure that says so', limit, async () => {
  const finished = await seglog(['broker', join(temporaryFolder(), 'missing.properties')])
  assert.ok(finished.code === 1 || finished.code === 2, String(finished.code))
  assertOneLine(finished, /missing\.properties/)
})

function listen(): Promise<Server> {
  return new Promise((resolve) => {
    const server = createServer()
    server.listen(0, '127.0.0.1', () => resolve(server))
  })
}

test('a port that is taken is a failure that says so', limit, async () => {
  const server = await listen()
  const address = server.address()
  assert.ok(address !== null && typeof address === 'object')
  const args = brokerArguments({ dataDir: temporaryFolder(), port: address.port })
  const finished = await run(process.execPath, args, { expect: 1, timeoutMs: 15_000 })
  assertOneLine(finished, new RegExp(String(address.port)))
  server.close()
})

test('a folder that another broker holds is a failure that says so', limit, async () => {
  const broker = await startBroker()
  const args = brokerArguments({ dataDir: broker.dataDir })
  const finished = await run(process.execPath, args, { expect: 1, timeoutMs: 15_000 })
  assertOneLine(finished, /lock|use/i)
  assert.ok(finished.stderr.includes(broker.dataDir), finished.stderr)
  await produceOnce(broker.port, 'undisturbed')
  await broker.stop()
})

test('npm start serves and ends by a signal', limit, async () => {
  const dataDir = temporaryFolder()
  const [, , ...overrides] = brokerArguments({ dataDir })
  const running = start(process.execPath, [join(root, 'scripts', 'start.mjs'), ...overrides])
  const line = () => / ready on [^:]+:(\d+)/.exec(running.stdout().toString())
  const ended = () => running.child.exitCode !== null
  await until('ready line', () => line() !== null || ended(), 30_000)
  const [, port = ''] = line() ?? []
  assert.notEqual(port, '', running.stderr())
  await new Promise<void>((resolve) => {
    const socket = connect(Number(port), '127.0.0.1', () => {
      socket.destroy()
      resolve()
    })
  })
  running.child.kill('SIGTERM')
  assert.equal((await within(running, 10_000)).code, 0)
})
