/**
 * Run as a process of its own, on the disk of shim.h, until it ends or is ended. Argument 1 is the
 * disk, argument 2 the seed of the scenario, argument 3 the seed of this life on it, argument 4
 * changes of the scenario. Tells what it does to the file `acks`: see history.ts. Exit code 0
 * unless it met what no fault explains.
 */
import { appendFileSync, openSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { setImmediate as soon } from 'node:timers/promises'
import { inspect } from 'node:util'
import { SeglogError } from '../../src/errors.js'
import { type OpenLog, openLog } from '../../src/open-log.js'
import { seeded } from '../protocol/random.js'
import { readHistory } from './history.js'
import { recordsFrom, type Scenario, scenario } from './scenario.js'

const [, , disk = '', seed = '', life = '', changes = '{}'] = process.argv
const chosen: Scenario = { ...scenario(Number(seed)), ...JSON.parse(changes) }
const random = seeded(Number(life))
const acks = join(disk, 'acks')
const past = readHistory(acks)
appendFileSync(acks, '')
const told = openSync(acks, 'a')
const tell = (verb: string, word: unknown = '') => writeSync(told, `${verb} ${word}\n`)

let generation = past.generation
/** Waiting for their sync. */
const pending = new Set<Promise<void>>()
let fenced = false

/** The codes that a fault may bring. */
const expected = new Set(['IO', 'NO_SPACE', 'TOO_MANY_FILES', 'FENCED'])

function failed(error: unknown): void {
  if (!(error instanceof SeglogError) || !expected.has(error.code)) throw error
  if (error.code === 'FENCED' || error.code === 'IO') fenced = true
  tell('e', error.code)
}

/** The methods that not every version has. */
type Cutting = OpenLog & {
  truncate?(offset: bigint): Promise<void> | void
  deleteBefore?(offset: bigint): Promise<void> | void
}

function append(log: OpenLog, durable: boolean): void {
  const end = Number(log.endOffset)
  const records = recordsFrom(chosen, generation, end, random)
  tell('i', end + records.length)
  const options = { compression: random.pick(chosen.codecs) }
  if (!durable) {
    log.append(records, options)
    tell('a', end + records.length)
    return
  }
  const synced = log.appendDurable(records, options).then(({ lastOffset }) => {
    tell('d', lastOffset + 1n)
  }, failed)
  const settled = synced.catch((error) => fatal(error)).finally(() => pending.delete(settled))
  pending.add(settled)
  // It is in the page cache, and so acknowledged, where the log has grown.
  if (Number(log.endOffset) > end) tell('a', Number(log.endOffset))
}

async function flush(log: OpenLog): Promise<void> {
  const end = log.endOffset
  if (random.chance(0.4)) log.flushSync()
  else await log.flush()
  tell('d', end)
}

async function truncate(log: Cutting): Promise<void> {
  await Promise.all(pending)
  const [start, end] = [Number(log.startOffset), Number(log.endOffset)]
  const offset = start + random.below(end - start + 1)
  if (!log.truncate || offset === end) return
  tell('t', offset)
  generation++
  await log.truncate(BigInt(offset))
  tell('T', offset)
  tell('o', log.endOffset)
}

async function deleteBefore(log: Cutting): Promise<void> {
  if (!log.deleteBefore) return
  const [start, end] = [Number(log.startOffset), Number(log.endOffset)]
  const offset = start + random.below(Math.ceil((end - start) / 2) + 1)
  tell('s', offset)
  await log.deleteBefore(BigInt(offset))
  tell('S', offset)
}

/** What is read while all else goes on is what was written. */
async function readBack(log: OpenLog): Promise<void> {
  const [start, end] = [Number(log.startOffset), Number(log.endOffset)]
  let next = start + random.below(end - start + 1)
  for await (const { offset, key } of log.read({ from: next })) {
    const found = `${offset} ${String(key).split(':')[1]}`
    if (found !== `${next} ${next}`) throw new Error(`read ${found} in place of ${next}`)
    next++
  }
  if (next < end) throw new Error(`reading ended at ${next}, before ${end}`)
}

async function step(log: Cutting): Promise<void> {
  if (random.chance(0.05)) tell('d', log.recoveryPoint)
  if (random.chance(0.01)) await readBack(log)
  const { chances } = chosen
  let at = random.below(1_000_000) / 1_000_000
  const is = (chance: number) => {
    at -= chance
    return at < 0
  }
  if (is(chances.durable)) append(log, true)
  else if (is(chances.flush)) await flush(log)
  else if (is(chances.roll)) log.roll()
  else if (is(chances.pause)) await soon()
  else if (is(chances.truncate)) await truncate(log)
  else if (is(chances.deleteBefore)) await deleteBefore(log)
  else append(log, false)
  if (pending.size > random.below(8)) await Promise.race(pending)
}

function fatal(error: unknown): never {
  console.error(inspect(error, { depth: 12 }))
  process.exit(1)
}

async function run(): Promise<void> {
  const log = await openLog(join(disk, 'live', 'log-0'), chosen.options).catch(failed)
  if (!log) return
  tell('o', log.endOffset)
  let afterFence = 0
  for (let left = chosen.steps; left > 0 && afterFence < 5; left--) {
    if (fenced) afterFence++
    await step(log).catch(failed)
  }
  await Promise.all(pending)
  if (!chosen.closes) process.kill(process.pid, 'SIGKILL')
  const end = log.endOffset
  await log.close().then(() => {
    tell('d', end)
    tell('c')
  }, failed)
}

await run().catch(fatal)
