/**
 * One round of the torture of a broker that syncs before it acknowledges: producers write to a few
 * partitions until the broker is killed; then power is lost, and a broker on what is left must give
 * every acknowledged record at its offset, and no gap.
 */
import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, rmSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { createTopics } from '../../src/apis/create-topics.js'
import { Broker } from '../../src/broker.js'
import { iterateBatches } from '../../src/records/batch.js'
import { iterateRecords } from '../../src/records/reader.js'
import { type Random, seeded } from '../protocol/random.js'
import { batchOf, fetchFrom, produceTo } from '../support/broker.js'
import { Wire } from '../support/wire.js'
import { losePower } from './power.js'
import { makeDisk, onDisk, root } from './shim.js'

const TOPIC = 'counted'

/** The value that was acknowledged at an offset, per partition. */
type Acknowledged = Map<number, string>[]

const config = { 'log.flush.interval.messages': 1, 'log.segment.bytes': 4000 }

async function startChild(
  disk: string,
  seed: number,
): Promise<{ child: ChildProcess; port: number }> {
  const settings = {
    ...config,
    'log.dirs': join(disk, 'live'),
    listeners: 'PLAINTEXT://127.0.0.1:0',
  }
  const overrides = Object.entries(settings).flatMap(([key, value]) => [
    '--override',
    `${key}=${value}`,
  ])
  const main = join(root, 'dist', 'src', 'cli', 'main.js')
  const child = spawn(process.execPath, [main, 'broker', ...overrides], {
    env: onDisk(disk, { seed, delay: 2000 }),
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const [line] = (await once(createInterface(child.stdout!), 'line')) as [string]
  const port = Number(/:(\d+) /.exec(line)?.[1])
  assert.ok(port > 0, line)
  return { child, port }
}

async function createTopic(wire: Wire, partitions: number): Promise<void> {
  const topic = { name: TOPIC, numPartitions: partitions, replicationFactor: 1 }
  const request = { topics: [{ ...topic, assignments: [], configs: [] }] }
  const { topics } = await wire.call(createTopics, 7, request)
  assert.equal(topics[0]?.errorCode, 0)
}

/** Produces to one partition, one request after the other, until the broker is gone. */
async function produceUntilDeath(
  port: number,
  partition: number,
  random: Random,
  acknowledged: Map<number, string>,
): Promise<void> {
  const wire = Wire.over(connect(port, '127.0.0.1'))
  for (let next = 0; ; ) {
    const values = Array.from({ length: 1 + random.below(4) }, () => {
      return `${next++} ${'x'.repeat(random.below(500))}`
    })
    const acks = random.pick([1, -1])
    const answer = await produceTo(wire, TOPIC, batchOf(...values), { partition, acks }).catch(
      () => undefined,
    )
    if (answer === undefined) return
    assert.equal(answer.errorCode, 0)
    for (const [i, value] of values.entries()) {
      acknowledged.set(Number(answer.baseOffset) + i, value)
    }
  }
}

async function valuesOf(wire: Wire, partition: number): Promise<string[]> {
  const values: string[] = []
  for (;;) {
    const answer = await fetchFrom(wire, TOPIC, values.length, { partition })
    assert.equal(answer.errorCode, 0, `offset ${values.length} of partition ${partition}`)
    const before = values.length
    for (const batch of iterateBatches(answer.records ?? new Uint8Array())) {
      for (const record of iterateRecords(batch)) {
        if (record.offset < values.length) continue
        assert.equal(record.offset, values.length, 'a gap in the log')
        values.push(Buffer.from(record.value ?? []).toString())
      }
    }
    if (values.length === before) return values
  }
}

/** Whether a broker on `dataDir` has what was acknowledged. */
async function judge(dataDir: string, acknowledged: Acknowledged, loss: string): Promise<void> {
  const broker = await Broker.start({ port: 0, dataDir, config })
  const wire = Wire.over(connect(broker.port, '127.0.0.1'))
  try {
    for (const [partition, expected] of acknowledged.entries()) {
      const found = await valuesOf(wire, partition)
      for (const [offset, value] of expected) {
        assert.equal(found[offset], value, `${loss}: offset ${offset} of partition ${partition}`)
      }
      // Nothing but what the producer sent, in its order.
      for (const [offset, value] of found.entries()) assert.equal(value.split(' ')[0], `${offset}`)
    }
  } finally {
    wire.socket.destroy()
    await broker.close()
  }
}

/** Gives the number of records that were acknowledged. Throws what it found. */
export async function brokerRound(seed: number, disk: string, powerCuts = 2): Promise<number> {
  const random = seeded(seed)
  makeDisk(disk, [])
  const { child, port } = await startChild(disk, seed)
  const ended = once(child, 'close')
  const wire = Wire.over(connect(port, '127.0.0.1'))
  const acknowledged: Acknowledged = [new Map(), new Map()]
  await createTopic(wire, acknowledged.length)
  const producing = acknowledged.map((own, partition) =>
    produceUntilDeath(port, partition, random, own),
  )
  const goal = 1 + random.below(400)
  const count = () => acknowledged.reduce((sum, { size }) => sum + size, 0)
  for (let left = 2000; left > 0 && count() < goal; left--) await sleep(5)
  child.kill('SIGKILL')
  await ended
  wire.socket.destroy()
  await Promise.all(producing)

  const crashed = join(disk, 'crashed')
  cpSync(join(disk, 'live'), crashed, { recursive: true })
  await judge(crashed, acknowledged, 'process')
  for (let left = powerCuts; left > 0; left--) {
    const dark = join(disk, `dark-${left}`)
    losePower(disk, dark, random)
    await judge(dark, acknowledged, 'power')
  }
  rmSync(disk, { recursive: true })
  return count()
}
