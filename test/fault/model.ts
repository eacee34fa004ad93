/**
 * A log beside an array that says what it holds: random acts on both, and after each the answers of
 * the log compared with those of the array.
 */
import assert from 'node:assert/strict'
import { type OpenLog, openLog } from '../../src/open-log.js'
import type { RecordInput } from '../../src/records/record.js'
import { type Random, seeded } from '../protocol/random.js'
import { recordAt, recordsFrom, type Scenario, scenario } from './scenario.js'

interface Stored {
  key: string
  timestamp: number
}

/** The methods that not every version has. */
type Cutting = OpenLog & {
  truncate?(offset: bigint): Promise<void> | void
  deleteBefore?(offset: bigint): Promise<void> | void
}

export class Model {
  readonly #directory: string
  readonly #chosen: Scenario
  readonly #random: Random
  #log: Cutting
  #records: (Stored | undefined)[] = []
  #start = 0
  #generation = 0

  private constructor(directory: string, seed: number, log: OpenLog, chosen: Scenario) {
    this.#directory = directory
    this.#chosen = chosen
    this.#random = seeded(seed)
    this.#log = log
  }

  static async open(directory: string, seed: number): Promise<Model> {
    const chosen = scenario(seed)
    return new Model(directory, seed, await openLog(directory, chosen.options), chosen)
  }

  async close(): Promise<void> {
    await this.#log.close()
  }

  /** One act, and what can be seen of it. */
  async step(): Promise<void> {
    const act = this.#random.below(20)
    if (act < 8) this.#append()
    else if (act === 8) this.#log.roll()
    else if (act === 9) await this.#flush()
    else if (act === 10) await this.#reopen()
    else if (act === 11) await this.#truncate()
    else if (act === 12) await this.#deleteBefore()
    else if (act < 16) await this.#read()
    else if (act < 18) this.#lookUp()
    else await this.#appendDurable()
    assert.equal(Number(this.#log.endOffset), this.#end)
    assert.ok(Number(this.#log.startOffset) <= this.#start)
    assert.ok(this.#log.recoveryPoint <= this.#log.endOffset)
  }

  get #end(): number {
    return this.#records.length
  }

  #nextRecords(): RecordInput[] {
    return recordsFrom(this.#chosen, this.#generation, this.#end, this.#random)
  }

  #note(count: number): void {
    for (; count > 0; count--) {
      const { timestamp } = recordAt(this.#chosen, this.#generation, this.#end)
      this.#records.push({ key: `${this.#generation}:${this.#end}`, timestamp })
    }
  }

  #append(): void {
    const records = this.#nextRecords()
    const compression = this.#random.pick(this.#chosen.codecs)
    const { baseOffset, lastOffset } = this.#log.append(records, { compression })
    assert.equal(Number(baseOffset), this.#end)
    assert.equal(Number(lastOffset), this.#end + records.length - 1)
    this.#note(records.length)
  }

  async #appendDurable(): Promise<void> {
    const records = this.#nextRecords()
    const appended = this.#log.appendDurable(records)
    this.#note(records.length)
    const { lastOffset } = await appended
    assert.equal(Number(lastOffset), this.#end - 1)
    assert.equal(Number(this.#log.recoveryPoint), this.#end)
  }

  async #flush(): Promise<void> {
    await this.#log.flush()
    assert.equal(Number(this.#log.recoveryPoint), this.#end)
  }

  async #reopen(): Promise<void> {
    await this.#log.close()
    this.#log = await openLog(this.#directory, this.#chosen.options)
    assert.equal(this.#log.report.damage, undefined)
  }

  async #truncate(): Promise<void> {
    if (!this.#log.truncate) return
    const from = Number(this.#log.startOffset)
    const offset = from + this.#random.below(this.#end - from + 1)
    await this.#log.truncate(BigInt(offset))
    const end = Number(this.#log.endOffset)
    // A batch goes as a whole.
    assert.ok(end <= offset && end > offset - this.#chosen.recordsMax, `${end} after ${offset}`)
    this.#records.length = end
    this.#generation++
  }

  async #deleteBefore(): Promise<void> {
    if (!this.#log.deleteBefore) return
    const offset = this.#start + this.#random.below(this.#end - this.#start + 1)
    await this.#log.deleteBefore(BigInt(offset))
    this.#start = offset
  }

  async #read(): Promise<void> {
    const begin = Number(this.#log.startOffset)
    const from = begin + this.#random.below(this.#end - begin + 1)
    const to = from + this.#random.below(this.#end - from + 1)
    const limited = this.#random.chance(0.3)
    const maxBytes = limited ? this.#random.below(3000) : Infinity
    let next = from
    for await (const { offset, key, timestamp } of this.#log.read({ from, to, maxBytes })) {
      assert.equal(Number(offset), next)
      assert.deepEqual({ key: String(key), timestamp }, this.#records[next])
      next++
    }
    if (!limited) assert.equal(next, to, `read ${from} to ${to}`)
    if (limited && maxBytes > 0 && to > from) assert.ok(next > from)
  }

  #lookUp(): void {
    const begin = Number(this.#log.startOffset)
    if (begin === this.#end) return
    const offset = begin + this.#random.below(this.#end - begin)
    const timestamp = this.#records[offset]!.timestamp + this.#random.pick([0, 0, 1, -1])
    const expected = this.#records.findIndex((record, i) => {
      return i >= begin && record !== undefined && record.timestamp >= timestamp
    })
    const found = this.#log.offsetForTimestamp(timestamp)
    assert.equal(found, expected < 0 ? undefined : BigInt(expected))
  }
}
