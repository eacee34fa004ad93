/**
 * Clients that ask for more than they read, and that send as fast as they can: the memory of the
 * broker's process keeps to a bound, and a third client is served meanwhile.
 */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { connect } from 'node:net'
import { test } from 'node:test'
import { fetch } from '../../src/apis/fetch.js'
import { produce } from '../../src/apis/produce.js'
import { encodeRequest } from '../../src/protocol/frame.js'
import { startBroker } from '../compat/harness.js'
import { batchOf, createTopic, fetchBody, fetchFrom, produceTo } from '../support/broker.js'
import { Wire } from '../support/wire.js'

const limit = { timeout: 90_000 }
const SENDERS = 50
const SENDS = 20

/** Resident memory of a process now, or the most it ever was, MiB. */
function residentMiB(pid: number, field: 'VmRSS' | 'VmHWM'): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8')
  return Number(new RegExp(`^${field}:\\s+(\\d+) kB`, 'm').exec(status)?.[1]) / 1024
}

test('who reads nothing and who sends without pause harm nobody', limit, async (t) => {
  const broker = await startBroker({ config: { 'queued.max.request.bytes': '33554432' } })
  t.after(() => broker.stop())
  const patient = await Wire.connect(t, broker.port)
  await createTopic(patient, 't')
  await createTopic(patient, 'filled')
  await produceTo(patient, 't', batchOf('x'.repeat(900_000)))
  const before = residentMiB(broker.pid, 'VmRSS')

  const greedy = connect(broker.port, '127.0.0.1').pause()
  greedy.on('error', () => {})
  t.after(() => greedy.destroy())
  for (let id = 0; id < 1000; id++) {
    const { parts } = encodeRequest(fetch, 12, id, 'greedy', fetchBody([{ topic: 't' }]) as never)
    for (const part of parts) greedy.write(part as Uint8Array)
  }
  const partitionData = [{ index: 0, records: batchOf('y'.repeat(100_000)) }]
  const body = { acks: 1, timeoutMs: 1000, topicData: [{ name: 'filled', partitionData }] }
  const sending = Array.from({ length: SENDERS }, async () => {
    const sender = await Wire.connect(t, broker.port)
    const answers = Array.from({ length: SENDS }, () => sender.call(produce, 9, body))
    return Promise.all(answers)
  })
  const latencies: number[] = []
  for (let i = 0; i < 200; i++) {
    const startMs = performance.now()
    assert.equal((await fetchFrom(patient, 't', 0)).errorCode, 0)
    latencies.push(performance.now() - startMs)
  }
  for (const answer of (await Promise.all(sending)).flat()) {
    assert.equal(answer.responses[0]?.partitionResponses[0]?.errorCode, 0)
  }
  const grownMiB = residentMiB(broker.pid, 'VmHWM') - before
  const p99 = latencies.sort((a, b) => a - b)[197] ?? 0
  t.diagnostic(`grown by ${grownMiB.toFixed(0)} MiB; p99 ${p99.toFixed(1)} ms`)
  // The queue, what is parsed of it, and windows of the log.
  assert.ok(grownMiB < 250, `${grownMiB} MiB`)
  assert.ok(p99 < 1000, `${p99} ms`)
})
