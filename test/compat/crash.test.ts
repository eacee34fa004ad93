/**
 * That a broker which dies without warning has kept what it acknowledged with acks=1. Values are
 * numbers, so that a lost, a doubled and a misplaced record each show.
 */
import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import { Kafka, logLevel, Partitioners } from 'kafkajs'
import {
  sleep,
  start,
  startBroker,
  type TestBroker,
  temporaryFolder,
  until,
  within,
} from './harness.js'
import { prepare } from './prepare.js'
import { consumeLines } from './strangers.js'

const limit = { timeout: 120_000 }

before(prepare)

const numbers = (from: number, count: number) =>
  Array.from({ length: count }, (_, index) => String(from + index))

/**
 * Sends numbers from `from` on in small requests until the broker is gone, never twice. Tells each
 * number that was acknowledged to `acknowledged`, and resolves with the first number that was never
 * sent.
 */
async function produceUntilDeath(
  bootstrap: string,
  from: number,
  acknowledged: (number: number) => void,
): Promise<number> {
  const kafka = new Kafka({
    brokers: [bootstrap],
    logLevel: logLevel.NOTHING,
    retry: { retries: 0 },
  })
  const producer = kafka.producer({
    createPartitioner: Partitioners.DefaultPartitioner,
    retry: { retries: 0 },
  })
  await producer.connect()
  let next = from
  try {
    for (;;) {
      const values = numbers(next, 5)
      next += values.length
      await producer.send({
        topic: 'counted',
        acks: 1,
        messages: values.map((value) => ({ value })),
      })
      acknowledged(next - 1)
    }
  } catch {
    return next
  } finally {
    await producer.disconnect().catch(() => {})
  }
}

async function createTopic(bootstrap: string, topic: string): Promise<void> {
  const admin = new Kafka({ brokers: [bootstrap], logLevel: logLevel.NOTHING }).admin()
  await admin.connect()
  await admin.createTopics({ topics: [{ topic }] })
  await admin.disconnect()
}

test('no acknowledged record is lost by kill -9, however often', limit, async () => {
  const dataDir = temporaryFolder()
  const lanes: number[] = []
  let broker = await startBroker({ dataDir })
  await createTopic(broker.bootstrap, 'counted')
  let next = 0
  for (let round = 0; round < 3; round += 1) {
    let last = next - 1
    const ended = produceUntilDeath(broker.bootstrap, next, (number) => {
      last = number
    })
    const goal = next + 500
    await until('500 acknowledged records', () => last >= goal, 30_000)
    await broker.kill()
    const unsent = await ended
    lanes.push(last)
    broker = await startBroker({ dataDir })
    const kept = (await consumeLines(broker.bootstrap, 'counted')).map(Number)
    assert.ok((kept.at(-1) ?? -1) >= last, `${last} was acknowledged, ${kept.at(-1)} is the last`)
    // A request that was never answered may have been kept, whole, or not; nothing else may be
    // missing.
    assert.deepEqual(kept.map(String), [...expected(lanes, kept)].map(String))
    next = unsent
  }
  await broker.stop()
})

/**
 * The numbers up to the last acknowledged one of each round, with what of the request after it was
 * kept.
 */
function expected(acknowledged: readonly number[], kept: readonly number[]): Set<number> {
  const present = new Set(kept)
  const wanted = new Set<number>()
  let next = 0
  for (const last of acknowledged) {
    for (; next <= last; next += 1) wanted.add(next)
    const unanswered = numbers(next, 5).map(Number)
    next += 5
    const count = unanswered.filter((number) => present.has(number)).length
    assert.ok(count === 0 || count === 5, `${count} of the 5 records of one request were kept`)
    if (count === 5) for (const number of unanswered) wanted.add(number)
  }
  return wanted
}

async function feed(lines: readonly string[], input: NodeJS.WritableStream): Promise<void> {
  for (let at = 0; at < lines.length; at += 200) {
    input.write(
      lines
        .slice(at, at + 200)
        .map((line) => `${line}\n`)
        .join(''),
    )
    await sleep(10)
  }
  input.end()
}

function withoutRepeats(lines: readonly string[]): string[] {
  return [...new Set(lines)]
}

async function restart(broker: TestBroker): Promise<TestBroker> {
  await broker.kill()
  return startBroker({ dataDir: broker.dataDir, port: broker.port })
}

test('kcat sends on after kill -9, and every line is there in order', limit, async () => {
  let broker = await startBroker()
  await createTopic(broker.bootstrap, 'survived')
  // One request at a time, so that sending again cannot change the order.
  const careful = ['-X', 'acks=1', '-X', 'max.in.flight=1', '-X', 'linger.ms=2', '-E']
  const quick = ['-X', 'reconnect.backoff.max.ms=200', '-X', 'retry.backoff.ms=50']
  const args = ['-b', broker.bootstrap, '-P', '-t', 'survived', ...careful, ...quick]
  const kcat = start('kcat', args)
  const lines = numbers(0, 30_000)
  assert.ok(kcat.child.stdin)
  const fed = feed(lines, kcat.child.stdin)
  for (const wait of [400, 500]) {
    await sleep(wait)
    broker = await restart(broker)
  }
  await fed
  const { code } = await within(kcat, 60_000)
  assert.equal(code, 0, kcat.stderr())
  const back = await consumeLines(broker.bootstrap, 'survived')
  assert.deepEqual(withoutRepeats(back), lines)
  await broker.stop()
})
