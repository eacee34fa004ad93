/**
 * Compaction against a map of what each key should hold, through random appends, rolls, cuts,
 * starts, and readers that go on meanwhile. A seed that fails repeats its run.
 */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { Interrupted } from '../../../src/storage/compaction/compaction-state.js'
import type { Log } from '../../../src/storage/log.js'
import { type Random, seeded } from '../../protocol/random.js'
import { temporaryDirectory } from '../../support/tmp.js'
import { NOW, open, small } from '../log-fixture.js'
import { type Found, put, recordsOf, sorted } from './compaction-fixture.js'

const CODECS = ['none', 'gzip', 'snappy', 'lz4', 'zstd'] as const

class Run {
  readonly #t: TestContext
  readonly #random: Random
  readonly #directory: string
  /** Every record that was ever appended and not cut, by offset. */
  readonly #all = new Map<number, Found>()
  #log: Log
  #value = 0

  constructor(t: TestContext, random: Random, directory: string, log: Log) {
    this.#t = t
    this.#random = random
    this.#directory = directory
    this.#log = log
  }

  async step(): Promise<void> {
    const random = this.#random
    switch (random.below(12)) {
      case 0:
        return this.#log.roll()
      case 1:
        return this.#compact(() => {})
      case 2:
        return this.#compact(() => this.#append())
      case 3:
        if (random.chance(0.8)) return this.#append()
        return this.#cut()
      case 4:
        if (random.chance(0.8)) return this.#append()
        return this.#reopen()
      default:
        this.#append()
    }
  }

  #append(): void {
    const random = this.#random
    const count = 1 + random.below(5)
    const pairs = Array.from({ length: count }, () => {
      const key = `k${random.below(30)}`
      const value = random.chance(0.15) ? null : `${this.#value++}`.padEnd(random.below(60), '.')
      return [key, value] as const
    })
    const base = put(this.#log, pairs, { compression: random.pick(CODECS) })
    for (const [i, [key, value]] of pairs.entries()) {
      this.#all.set(base + i, { offset: base + i, key, value, timestamp: NOW })
    }
  }

  /** `meanwhile` is done while it runs, and so is a read of everything. */
  async #compact(meanwhile: () => void): Promise<void> {
    await this.#log.flush()
    const bufferBytes = this.#random.chance(0.3) ? 24 * 12 : 1 << 20
    const run = this.#log.compact({ limitOffset: this.#log.endOffset, bufferBytes })
    let isOver = false
    const over = run.finally(() => {
      isOver = true
    })
    over.catch(() => {})
    for (let turn = 0; !isOver && turn < 64; turn++) {
      if (turn % 16 === 0) {
        meanwhile()
        this.check()
      }
      await new Promise((resolve) => setImmediate(resolve))
    }
    const report = await run
    assert.equal(this.#log.cleanedOffset, report?.end ?? this.#log.cleanedOffset)
    this.check()
  }

  async #cut(): Promise<void> {
    const run = this.#log.compact({ limitOffset: this.#log.endOffset, bufferBytes: 1 << 20 })
    const over = run.catch((error) => assert.ok(error instanceof Interrupted, String(error)))
    const { startOffset, endOffset } = this.#log
    await this.#log.truncateTo(startOffset + this.#random.below(endOffset - startOffset + 1))
    await over
    assert.ok((this.#log.cleanedOffset ?? 0) <= this.#log.endOffset)
    for (const offset of [...this.#all.keys()]) {
      if (offset >= this.#log.endOffset) this.#all.delete(offset)
    }
    // The cut may lie in a gap, and a start knows the end of a log by its last batch.
    this.#append()
    // What superseded a record may be cut: from here on what the log holds is the truth.
    const left = new Set(recordsOf(this.#log).map(({ offset }) => offset))
    for (const offset of [...this.#all.keys()]) if (!left.has(offset)) this.#all.delete(offset)
  }

  async #reopen(): Promise<void> {
    const { cleanedOffset, recoveryPoint } = this.#log
    const run = this.#log.compact({ limitOffset: this.#log.endOffset, bufferBytes: 1 << 20 })
    const over = run.catch((error) => assert.ok(error instanceof Interrupted, String(error)))
    await this.#log.close()
    await over
    const clean = this.#random.chance(0.5)
    const options = { ...small, clean, recoveryPoint, cleanedOffset }
    this.#log = await open(this.#t, this.#directory, options)
    assert.deepEqual(this.#log.report.damages, [])
    assert.equal(this.#log.report.damage, undefined)
    this.check()
  }

  check(): void {
    const last = new Map<string, string>()
    const found = new Map<string, string>()
    for (const { key, value } of this.#all.values()) put1(last, key, value)
    for (const record of recordsOf(this.#log)) {
      assert.deepEqual(record, this.#all.get(record.offset), 'a record is as it was')
      put1(found, record.key, record.value)
    }
    assert.deepEqual(sorted(found), sorted(last))
  }
}

function put1(values: Map<string, string>, key: string | null, value: string | null): void {
  if (key === null) return
  if (value === null) values.delete(key)
  else values.set(key, value)
}

for (let seed = 1; seed <= 8; seed++) {
  test(`the last value of each key is there at any time, seed ${seed}`, async (t) => {
    const directory = temporaryDirectory(t)
    const log = await open(t, directory, { deleteRetentionMs: 0, fileDeleteDelayMs: 5 })
    const run = new Run(t, seeded(seed), directory, log)
    for (let i = 0; i < 60; i++) await run.step()
    run.check()
  })
}
