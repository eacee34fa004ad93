/**
 * A well-behaved client beside those of the fuzzer: produces a record, reads it back, and again.
 * Its offsets have no gap, its records come back as they were, and it does not wait long.
 */
import assert from 'node:assert/strict'
import { connect } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { buildBatch, iterateBatches, iterateRecords } from '../../src/records/index.js'
import { createTopic, fetchFrom, produceTo } from '../support/broker.js'
import { Wire } from '../support/wire.js'

const TOPIC = 'steady'
const PAUSE_MS = 10

export interface SteadyTally {
  rounds: number
  msMax: number
}

export class SteadyClient {
  readonly tally: SteadyTally = { rounds: 0, msMax: 0 }
  #stopped = false
  readonly #done: Promise<void>

  /** `fail` hears of the first thing that is not as it should be. */
  constructor(port: number, fail: (error: unknown) => void) {
    this.#done = this.#go(Wire.over(connect(port, '127.0.0.1'))).catch(fail)
  }

  async stop(): Promise<void> {
    this.#stopped = true
    await this.#done
  }

  async #go(wire: Wire): Promise<void> {
    await createTopic(wire, TOPIC)
    while (!this.#stopped) {
      const began = performance.now()
      await this.#round(wire, this.tally.rounds)
      this.tally.msMax = Math.max(this.tally.msMax, performance.now() - began)
      this.tally.rounds++
      await sleep(PAUSE_MS)
    }
    wire.socket.destroy()
  }

  async #round(wire: Wire, offset: number): Promise<void> {
    const value = `record ${offset}`
    // Of now, since retention is about time too.
    const batch = buildBatch([{ value }], { timestamp: Date.now() })
    const produced = await produceTo(wire, TOPIC, batch)
    assert.deepEqual([produced.errorCode, Number(produced.baseOffset)], [0, offset])
    const fetched = await fetchFrom(wire, TOPIC, offset)
    assert.equal(fetched.errorCode, 0, `error ${fetched.errorCode} at offset ${offset}`)
    const values: string[] = []
    for (const batch of iterateBatches(fetched.records ?? new Uint8Array())) {
      for (const record of iterateRecords(batch)) {
        if (record.offset >= offset) values.push(Buffer.from(record.value ?? []).toString())
      }
    }
    assert.deepEqual(values, [value])
  }
}
