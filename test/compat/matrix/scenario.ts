/**
 * What each client is put through, on a broker that nobody used before. A step that goes wrong
 * rejects with what was expected and what came.
 */
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { type Admin, Kafka, logLevel } from 'kafkajs'
import { main, run, sleep, startBroker, type TestBroker, until } from '../programs.js'
import type { Client } from './clients.js'
import { type Command, Driver, keyOf, partitionCount, type Told, textOf } from './driver.js'

const topic = 'work'
const partitions = Array.from({ length: partitionCount }, (_, index) => index)
const config = { 'num.partitions': partitionCount }
const BATCH = 40
const REBALANCE_MS = 60_000
const DOWN_MS = 500
/** Of a stream through crashes: calls of the producer, and records in each. */
const ROUNDS = 8
const ROUND = 2000

const numberOf = ({ key }: Told) => Number(key.slice(1))
const same = (a: readonly number[], b: readonly number[]) =>
  [...a].sort().join() === [...b].sort().join()

export class Scenario {
  readonly #client: Client
  readonly #command: Command
  readonly #quick: boolean
  readonly #drivers: Driver[] = []
  /** Codec of each record by its number. */
  readonly #sent: string[] = []
  #broker: TestBroker
  #main: Driver
  #member: Driver | undefined
  #group = ''

  private constructor(client: Client, command: Command, broker: TestBroker, quick: boolean) {
    this.#quick = quick
    this.#client = client
    this.#command = command
    this.#broker = broker
    this.#main = this.#start()
  }

  static async begin(client: Client, command: Command, quick = false): Promise<Scenario> {
    const broker = await startBroker({ config })
    return new Scenario(client, command, broker, quick)
  }

  /** The steps in their order, by name; those of which the client knows nothing are left out. */
  steps(): [string, () => Promise<void>][] {
    const { assignors, lacks } = this.#client
    const groups = assignors
      .slice(0, this.#quick ? 1 : undefined)
      .map((each): [string, () => Promise<void>] => [`group (${each})`, () => this.#share(each)])
    return [
      ['create', () => this.#create()],
      ['produce', () => this.#produceAll()],
      ['consume', () => this.#consume()],
      ...groups,
      [groups.length > 0 ? 'commit' : 'store', () => this.#commit()],
      ['restart', () => this.#restart(() => this.#broker.stop())],
      ['crash', () => this.#restart(() => this.#broker.kill())],
      ...(this.#client.idempotent && !this.#quick ? [this.#once()] : []),
      [lacks.includes('delete') ? 'delete by kafkajs' : 'delete', () => this.#delete()],
      ['quit', () => this.#quit()],
    ]
  }

  /** What the drivers and the broker wrote, for the report of a failure. */
  noise(): string {
    return [...this.#drivers.map(({ noise }) => noise), this.#broker.stderr().slice(-2000)]
      .filter((text) => text !== '')
      .join('---\n')
  }

  async end(): Promise<void> {
    await Promise.all(this.#drivers.map((driver) => driver.kill()))
    await this.#broker.kill()
  }

  #start(): Driver {
    const driver = new Driver(this.#command, this.#broker.bootstrap)
    this.#drivers.push(driver)
    return driver
  }

  async #create(): Promise<void> {
    await this.#main.ask(`create ${topic} ${partitionCount}`)
    assert.ok((await this.#main.ask('topics')).includes(topic), 'the new topic is not listed')
  }

  async #produce(codec: string, count = BATCH): Promise<number[]> {
    const first = this.#sent.length
    await this.#main.ask(`produce ${topic} ${codec} ${first} ${count}`)
    for (let each = 0; each < count; each += 1) this.#sent.push(codec)
    return Array.from({ length: count }, (_, index) => first + index)
  }

  /** Each codec must have reached the disk: a client that falls back to none shows nothing. */
  async #produceAll(): Promise<void> {
    for (const codec of this.#client.codecs) await this.#produce(codec)
    const file = join(this.#broker.dataDir, `${topic}-0`)
    const { text } = await run(process.execPath, [main, 'dump', '--json', file])
    const found = [...text.matchAll(/"compresscodec":"(\w+)"/g)].map(([, codec]) => codec)
    assert.deepEqual([...new Set(found)], this.#client.codecs, 'codecs in the order of batches')
  }

  /** Every record once, whole, in the order of its partition, with offsets without a gap. */
  async #consume(): Promise<void> {
    this.#main.records = []
    await this.#main.ask(`consume ${topic} ${partitionCount}`)
    const told = this.#main.records.sort((a, b) => numberOf(a) - numberOf(b))
    const expected = this.#sent.map((codec, number) => ({
      partition: number % partitionCount,
      offset: Math.floor(number / partitionCount),
      key: keyOf(number),
      value: textOf(codec, number),
    }))
    const wrong = told.findIndex((each, at) => !isDeepStrictEqual(each, expected[at]))
    if (wrong >= 0) assert.deepEqual(told[wrong], expected[wrong], 'the first that is wrong')
    assert.equal(told.length, expected.length)
  }

  async #join(): Promise<Driver> {
    const member = this.#start()
    const assignor = this.#group.replace('group-', '')
    await member.ask(`join ${this.#group} ${topic} ${assignor}`)
    return member
  }

  #owns(member: Driver): Promise<void> {
    const all = () => same(member.assigned ?? [], partitions)
    return until('assignment of all partitions', all, REBALANCE_MS)
  }

  /**
   * A group of two, of which one is killed; the other one goes on with everything. In a quick run
   * it leaves, which need not wait for the end of its session.
   */
  async #share(assignor: string): Promise<void> {
    await this.#leave()
    this.#group = `group-${assignor}`
    const first = await this.#join()
    this.#member = first
    await this.#owns(first)
    const second = await this.#join()
    const shares = () => [first.assigned ?? [], second.assigned ?? []] as const
    const shared = () =>
      same(shares().flat(), partitions) && shares().every(({ length }) => length > 0)
    await until('assignment that two share', shared, REBALANCE_MS)
    await this.#each(await this.#produce('none'), first, second)
    if (this.#quick) await second.quit()
    else await second.kill()
    await this.#owns(first)
    await this.#each(await this.#produce('none'), first)
  }

  /** Waits until the members have told these records, and holds them against their shares. */
  async #each(numbers: number[], ...members: Driver[]): Promise<void> {
    const wanted = new Set(numbers)
    const of = (member: Driver) => member.records.filter((told) => wanted.has(numberOf(told)))
    const seen = () => new Set(members.flatMap(of).map(numberOf)).size
    await until('delivery of what was produced', () => seen() === wanted.size, 30_000)
    assert.deepEqual(members.flatMap(of).map(numberOf).sort(), numbers.sort(), 'each one once')
    for (const member of members) {
      for (const { partition } of of(member)) assert.ok(member.assigned?.includes(partition))
    }
  }

  /** The end of each partition, by what was sent. */
  #ends(): number[] {
    return partitions.map((index) => Math.ceil((this.#sent.length - index) / partitionCount))
  }

  /** The committed offsets, as the client and as another one reads them. */
  async #committed(): Promise<number[][]> {
    const { lacks } = this.#client
    const found: number[][] = []
    if (!lacks.includes('committed')) {
      const own = await this.#main.ask(`committed ${this.#group} ${topic} ${partitionCount}`)
      found.push(own.map(Number))
    }
    if (!lacks.includes('group offsets')) found.push(await this.#offsets())
    return found
  }

  /** What another client sees or does. */
  async #judge<T>(act: (admin: Admin) => Promise<T>): Promise<T> {
    const brokers = [this.#broker.bootstrap]
    const admin = new Kafka({ brokers, logLevel: logLevel.NOTHING }).admin()
    await admin.connect()
    try {
      return await act(admin)
    } finally {
      await admin.disconnect()
    }
  }

  #offsets(): Promise<number[]> {
    return this.#judge(async (admin) => {
      const [found] = await admin.fetchOffsets({ groupId: this.#group, topics: [topic] })
      const by = new Map(found?.partitions.map(({ partition, offset }) => [partition, offset]))
      return partitions.map((partition) => Number(by.get(partition) ?? -1))
    })
  }

  async #commit(): Promise<void> {
    if (this.#member) {
      await this.#member.ask('commit')
    } else {
      this.#group = 'group-of-nobody'
      await this.#main.ask(`store ${this.#group} ${topic} ${this.#ends().join(' ')}`)
    }
    for (const offsets of await this.#committed()) assert.deepEqual(offsets, this.#ends())
  }

  /**
   * All is there behind it, and who was connected goes on, member of the group and producer, which
   * is given new records while there is no broker. Some members commit by themselves: at least what
   * was committed before must be there then.
   */
  async #restart(end: () => Promise<unknown>): Promise<void> {
    const { dataDir, port } = this.#broker
    const before = this.#ends()
    await end()
    const producing = this.#produce('none')
    // Its failure is seen below, and must not end the process while the broker starts.
    producing.catch(() => {})
    await Promise.race([producing, sleep(DOWN_MS)])
    this.#broker = await startBroker({ dataDir, port, config })
    const numbers = await producing
    for (const offsets of await this.#committed()) {
      const least = offsets.map((offset, index) => Math.min(offset, before[index] ?? 0))
      assert.deepEqual(least, before, `committed: ${offsets}`)
    }
    if (this.#member) await this.#each(numbers, this.#member)
    await this.#commit()
    await this.#consume()
  }

  /** The step in which the broker is killed thrice while an idempotent producer sends. */
  #once(): [string, () => Promise<void>] {
    const stream = async () => {
      for (let round = 0; round < ROUNDS; round += 1) await this.#produce('none', ROUND)
    }
    const act = async () => {
      await this.#leave()
      let sending = true
      const sent = stream().finally(() => {
        sending = false
      })
      sent.catch(() => {})
      for (let kill = 0; kill < 3 && sending; kill += 1) {
        await sleep(50 + Math.random() * 250)
        const { dataDir, port } = this.#broker
        await this.#broker.kill()
        this.#broker = await startBroker({ dataDir, port, config })
      }
      await sent
      await this.#consume()
    }
    return ['exactly once', act]
  }

  async #leave(): Promise<void> {
    await this.#member?.ask('leave')
    await this.#member?.quit()
    this.#member = undefined
  }

  async #delete(): Promise<void> {
    await this.#leave()
    if (this.#client.lacks.includes('delete')) {
      await this.#judge((admin) => admin.deleteTopics({ topics: [topic] }))
    } else {
      await this.#main.ask(`delete ${topic}`)
    }
    const gone = async () => !(await this.#main.ask('topics')).includes(topic)
    await until('deletion of the topic', gone)
  }

  async #quit(): Promise<void> {
    await this.#main.quit()
  }
}
