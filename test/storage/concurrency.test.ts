/** One log with everything at once: appends, rolls, flushes, deletions, retention and cuts. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as soon } from 'node:timers/promises'
import { SeglogError } from '../../src/errors.js'
import { Status } from '../../src/native.js'
import { buildBatch } from '../../src/records/encoder.js'
import type { Log } from '../../src/storage/log.js'
import { type Random, seeded } from '../protocol/random.js'
import { temporaryDirectory } from '../support/tmp.js'
import { NOW, open, values } from './log-fixture.js'

const RUN_MS = 1500

/** What is refused while the log is being cut; anything else is a fault. */
function duringCut(error: unknown): void {
  if (!(error instanceof SeglogError) || error.code !== 'READ_ONLY') throw error
}

class Crowd {
  /** The value at each offset that was acknowledged and not cut since. */
  readonly model: string[] = []
  readonly counts = { appends: 0, cuts: 0, deletions: 0, rolls: 0, retentions: 0, flushes: 0 }
  readonly #log: Log
  readonly #random: Random
  readonly #end = performance.now() + RUN_MS
  #unique = 0
  #isCutting = false

  constructor(log: Log, random: Random) {
    this.#log = log
    this.#random = random
  }

  /** Later on a slow machine, so that each had its turn. */
  #isOver(): boolean {
    const pastMs = performance.now() - this.#end
    return pastMs > 0 && (Math.min(...Object.values(this.counts)) > 0 || pastMs > 8000)
  }

  async #until(step: () => Promise<void> | void, turns: number): Promise<void> {
    while (!this.#isOver()) {
      await step()
      for (let left = this.#random.below(turns); left >= 0; left--) await soon()
    }
  }

  #append(): void {
    const count = 1 + this.#random.below(3)
    const texts = Array.from({ length: count }, () => `${this.#unique++}`)
    // Now and then all are too old for a while, so that the retention finds whole segments.
    const timestamp = this.#unique % 60 < 30 ? NOW - 10_000 : NOW
    const records = texts.map((value) => ({ value, timestamp }))
    const batch = buildBatch(records)
    const base = this.#log.appendFromClient(batch, 0, batch.length, 0)
    if (base === Status.READ_ONLY) return
    assert.equal(base, this.model.length, 'an offset that was given twice, or left out')
    this.model.push(...texts)
    this.counts.appends++
  }

  async #cut(): Promise<void> {
    const target = Math.max(this.#log.startOffset, this.#log.endOffset - 1)
    this.#isCutting = true
    await this.#log.truncateTo(target)
    this.#isCutting = false
    assert.ok(this.#log.endOffset <= this.model.length)
    assert.ok(this.#log.endOffset >= target - 2, 'a cut took more than the batch it hit')
    this.model.length = this.#log.endOffset
    this.counts.cuts++
  }

  #delete(): void {
    try {
      this.#log.deleteBefore(Math.max(this.#log.startOffset, this.#log.endOffset - 150))
      this.counts.deletions++
    } catch (error) {
      duringCut(error)
    }
  }

  #roll(): void {
    try {
      this.#log.roll()
      this.counts.rolls++
    } catch (error) {
      duringCut(error)
    }
  }

  #read(): void {
    // What a cut under way takes is gone before the end of the log says so.
    if (this.#isCutting) return
    assert.deepEqual(values(this.#log), this.model.slice(this.#log.startOffset))
  }

  async run(): Promise<void> {
    const log = this.#log
    await Promise.all([
      this.#until(() => this.#append(), 1),
      this.#until(() => this.#append(), 2),
      this.#until(() => this.#cut(), 40),
      this.#until(() => this.#delete(), 100),
      this.#until(() => this.#roll(), 30),
      this.#until(() => this.#read(), 50),
      this.#until(async () => {
        this.counts.flushes++
        await log.flush()
      }, 10),
      this.#until(async () => {
        this.counts.retentions += await log.deleteOldSegments(NOW, log.endOffset).catch((error) => {
          duringCut(error)
          return 0
        })
      }, 20),
    ])
  }
}

test('whatever runs at once, offsets are given once and what was told stands', async (t) => {
  const directory = temporaryDirectory(t)
  const options = { segmentBytes: 400, fileDeleteDelayMs: 1, retentionMs: 5000 }
  const log = await open(t, directory, options)
  const crowd = new Crowd(log, seeded(21))
  await crowd.run()
  const { counts, model } = crowd
  const smallest = Math.min(...Object.values(counts))
  assert.ok(smallest > 0, JSON.stringify(counts))
  const start = log.startOffset
  assert.deepEqual(values(log), model.slice(start))
  await log.close()
  const again = await open(t, directory, { ...options, clean: true, logStartOffset: start })
  assert.deepEqual([again.startOffset, again.endOffset], [start, model.length])
  assert.deepEqual(values(again), model.slice(start))
})
