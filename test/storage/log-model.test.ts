/**
 * A log against an array of what it should hold, through random appends, rolls, cuts, deletions,
 * flushes, and starts after clean stops and kills. A seed that fails repeats its run.
 */
import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { buildBatch } from '../../src/records/encoder.js'
import type { Log } from '../../src/storage/log.js'
import { type Random, seeded } from '../protocol/random.js'
import { temporaryDirectory } from '../support/tmp.js'
import { until } from '../support/until.js'
import { crashCopy, NOW, open, small } from './log-fixture.js'

interface Model {
  start: number
  end: number
  /** In order, with gaps nowhere but below `start`. */
  batches: { base: number; last: number; epoch: number; value: string }[]
  epoch: number
}

class Run {
  readonly #t: TestContext
  readonly #random: Random
  readonly #model: Model = { start: 0, end: 0, batches: [], epoch: 0 }
  #directory: string
  #log: Log
  /** The last steps, for the text of a failure. */
  #last = ''

  constructor(t: TestContext, random: Random, directory: string, log: Log) {
    this.#t = t
    this.#random = random
    this.#directory = directory
    this.#log = log
  }

  async step(): Promise<void> {
    const { start, end } = this.#model
    const within = start + this.#random.below(end - start + 1)
    const choice = this.#random.below(14)
    this.#last = `${this.#last} ${choice}:${within}/${end}`.slice(-200)
    switch (choice) {
      case 0:
        return this.#log.roll()
      case 1:
        return this.#truncate(within)
      case 2:
        this.#log.deleteBefore(within)
        this.#model.start = within
        return
      case 3:
        await this.#log.flush()
        assert.equal(this.#log.recoveryPoint, end)
        return
      case 4:
        return this.#reopen(true)
      case 5:
        return this.#reopen(false)
      case 6:
        this.#model.epoch++
        return
      default:
        this.#append()
    }
  }

  #append(): void {
    const { epoch, batches, end } = this.#model
    const count = 1 + this.#random.below(4)
    const value = `${end}:`.padEnd(this.#random.below(200), 'v')
    const records = Array.from({ length: count }, () => ({ value, timestamp: NOW + end }))
    const batch = buildBatch(records)
    assert.equal(this.#log.appendFromClient(batch, 0, batch.length, epoch), end)
    batches.push({ base: end, last: end + count - 1, epoch, value })
    this.#model.end += count
  }

  async #truncate(offset: number): Promise<void> {
    await this.#log.truncateTo(offset)
    const kept = this.#model.batches.filter(({ last }) => last < offset)
    const cut = this.#model.batches.find(({ last }) => last >= offset)
    this.#model.batches = kept
    this.#model.end = Math.min(offset, cut?.base ?? offset)
    this.#model.start = Math.min(this.#model.start, this.#model.end)
  }

  async #reopen(clean: boolean): Promise<void> {
    const { recoveryPoint: killedAt, startOffset: logStartOffset } = this.#log
    if (clean) await this.#log.close()
    else {
      await until(() => this.#epochsAreWritten(), 'epochs are written')
      const copy = this.#copy()
      await this.#log.close()
      this.#directory = copy
    }
    const recoveryPoint = clean ? this.#model.end : killedAt
    const options = { ...small, clean, logStartOffset, recoveryPoint }
    this.#log = await open(this.#t, this.#directory, options)
    assert.deepEqual(this.#log.report.damages, [])
    if (clean) assert.equal(this.#log.report.rebuiltIndexes, 0)
    if (clean) assert.equal(this.#log.recoveryPoint, this.#model.end)
  }

  /** A copy is not made at one moment, as a kill would be: what is being written would differ. */
  #epochsAreWritten(): boolean {
    const { entries } = this.#log.epochs
    if (entries.length === 0) return true
    const path = join(this.#directory, 'leader-epoch-checkpoint')
    const lines = entries.map(({ epoch, startOffset }) => `${epoch} ${startOffset}\n`)
    return existsSync(path) && readFileSync(path, 'utf8').endsWith(lines.join(''))
  }

  /** Files of a deletion get their new names meanwhile: then it is begun again. */
  #copy(): string {
    for (let attempt = 0; ; attempt++) {
      try {
        return crashCopy(this.#directory, join(temporaryDirectory(this.#t), 't-0'))
      } catch (error) {
        if (attempt === 20) throw error
      }
    }
  }

  check(): void {
    const { start, end, batches } = this.#model
    assert.deepEqual([this.#log.startOffset, this.#log.endOffset], [start, end])
    const live = batches.filter(({ last }) => last >= start)
    const found: [number, number][] = []
    for (let next = start; next < end; ) {
      const bytes = this.#log.slice(next, 1)?.bytes()
      assert.ok(bytes, `offset ${next}`)
      const view = new DataView(bytes.buffer, bytes.byteOffset)
      found.push([Number(view.getBigInt64(0)), view.getInt32(12)])
      next = Number(view.getBigInt64(0)) + view.getInt32(23) + 1
    }
    assert.deepEqual(
      found,
      live.map(({ base, epoch }) => [base, epoch]),
    )
    assert.equal(this.#log.maxTimestamp, live.length > 0 ? NOW + live.at(-1)!.base : -1)
    for (const { base, epoch } of live) {
      assert.equal(this.#log.epochs.epochAt(Math.max(base, start)), epoch, this.#last)
    }
  }
}

for (const seed of [1, 2, 3, 4]) {
  test(`a log and its model agree after every step, seed ${seed}`, async (t) => {
    const directory = join(temporaryDirectory(t), 't-0')
    const run = new Run(t, seeded(seed), directory, await open(t, directory))
    for (let i = 0; i < 120; i++) {
      await run.step()
      run.check()
    }
  })
}
