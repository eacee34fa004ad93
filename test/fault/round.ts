/**
 * One round of the torture of a log: a writer lives on a disk once or several times, is ended each
 * time, and every state that it left is judged, both as it lies there and after a loss of power.
 */
import { spawn } from 'node:child_process'
import { cpSync, existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { constants, tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type Random, seeded } from '../protocol/random.js'
import { check, freshFolder, type Loss } from './check.js'
import { readHistory } from './history.js'
import { losePower } from './power.js'
import { scenario } from './scenario.js'
import { countFaults, kinds, makeDisk, onDisk, type Plan } from './shim.js'

const writer = fileURLToPath(new URL('./writer.js', import.meta.url))

export interface Tally {
  rounds: number
  /** Processes that were ended from outside or in the middle of a call. */
  kills: number
  /** States that were judged as a crash of the process left them, and after a loss of power. */
  crashes: number
  powerCuts: number
  /** Calls that were made to fail. */
  faults: number
  acknowledged: number
  durable: number
  recordsRead: number
  tornTails: number
}

export const emptyTally = (): Tally => ({
  rounds: 0,
  kills: 0,
  crashes: 0,
  powerCuts: 0,
  faults: 0,
  acknowledged: 0,
  durable: 0,
  recordsRead: 0,
  tornTails: 0,
})

/** In memory where that may be: what is on trial is not the disk of this machine. */
export const scratch = () =>
  mkdtempSync(join(existsSync('/dev/shm') ? '/dev/shm' : tmpdir(), 'seglog-torture-'))

export interface RoundOptions {
  /** A snapshot before every event, of a short life. */
  thorough?: boolean
  /** Losses of power per state that is judged. */
  powerCuts?: number
  /** Is told of each fault that is found; without it the first one ends the round. */
  found?: (error: unknown, loss: Loss) => void
}

/** Throws what it found, with the disk left in `disk`, which is otherwise removed. */
export async function round(
  seed: number,
  disk: string,
  tally: Tally,
  options: RoundOptions = {},
): Promise<void> {
  const random = seeded(seed)
  makeDisk(disk, seed % 2 === 0 ? ['log-0'] : [])
  for (let lives = options.thorough ? 1 : 1 + random.below(3); lives > 0; lives--) {
    await live(disk, seed, random, tally, options)
    await judgeAll(disk, seed, random, tally, options)
    if (readHistory(join(disk, 'acks')).closed) break
  }
  const history = readHistory(join(disk, 'acks'))
  tally.acknowledged += history.acknowledged.at(-1)?.to ?? 0
  tally.durable += history.durable.at(-1)?.to ?? 0
  tally.faults += countFaults(disk)
  tally.rounds++
  rmSync(disk, { recursive: true })
}

const { EIO, ENOSPC, EMFILE } = constants.errno

function plan(random: Random, thorough: boolean): Plan {
  const seed = 1 + random.below(1 << 30)
  if (thorough) return { seed, snap: 1, rare: 1, snaps: 150 }
  const made: Plan = { seed, snap: 0.01, rare: 0.15, snaps: 12, delay: random.pick([0, 0, 2000]) }
  const how = random.below(10)
  if (how < 3) made.exit = 1 + random.below(random.pick([30, 300, 2000]))
  if (how >= 6) {
    const name = random.pick(['write', 'write', 'sync', 'sync', 'open', 'folder', ...kinds])
    made.kind = kinds.indexOf(name)
    made.at = 1 + random.below(random.pick([3, 10, name === 'write' ? 200 : 10]))
    made.times = random.pick([1, 1, 3, 1_000_000])
    made.errno = random.pick([EIO, ENOSPC, EMFILE])
    if (name === 'write' && random.chance(0.5)) made.errno = 0
  }
  return made
}

/** Resolves when the writer has ended, by its plan, by itself or from outside. */
async function live(
  disk: string,
  seed: number,
  random: Random,
  tally: Tally,
  { thorough = false }: RoundOptions,
): Promise<void> {
  const life = random.below(1 << 30)
  const child = spawn(process.execPath, [writer, disk, String(seed), String(life)], {
    env: onDisk(disk, plan(random, thorough)),
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  let complaint = ''
  child.stderr.on('data', (chunk) => {
    complaint += chunk
  })
  const patience = setTimeout(() => child.kill('SIGABRT'), 60_000)
  const soon = random.chance(thorough ? 0 : 0.3) ? 60 + random.below(200) : undefined
  const early = soon === undefined ? undefined : setTimeout(() => child.kill('SIGKILL'), soon)
  const [code, signal] = await new Promise<[number | null, string | null]>((resolve) => {
    child.on('close', (status, by) => resolve([status, by]))
  })
  clearTimeout(patience)
  clearTimeout(early)
  if (code !== 0 && code !== 99 && signal !== 'SIGKILL') {
    throw new Error(`the writer ended with ${code ?? signal}: ${complaint}`)
  }
  if (code !== 0) tally.kills++
}

async function judgeAll(
  disk: string,
  seed: number,
  random: Random,
  tally: Tally,
  options: RoundOptions,
): Promise<void> {
  const snaps = join(disk, 'snaps')
  for (const name of readdirSync(snaps).sort((a, b) => Number(a) - Number(b))) {
    const state = join(snaps, name)
    // The process was ended while this one was made.
    if (existsSync(join(state, 'ready'))) await judgeState(state, seed, random, tally, options)
    rmSync(state, { recursive: true })
  }
  await judgeState(disk, seed, random, tally, options)
}

/** Works on copies: the state itself may live on. */
async function judgeState(
  state: string,
  seed: number,
  random: Random,
  tally: Tally,
  { powerCuts = 1, found }: RoundOptions,
): Promise<void> {
  const chosen = scenario(seed)
  const history = readHistory(join(state, 'acks'))
  const judge = async (directory: string, loss: Loss) => {
    try {
      const { records, cut } = await check(directory, chosen, history, loss, random.chance(0.3))
      tally.recordsRead += records
      tally.tornTails += cut ? 1 : 0
      rmSync(directory, { recursive: true })
    } catch (error) {
      if (!found) throw error
      found(error, loss)
    }
  }
  const crashed = freshFolder(join(state, 'crashed'))
  cpSync(join(state, 'live'), crashed, { recursive: true })
  await judge(crashed, 'process')
  tally.crashes++
  for (let cuts = powerCuts; cuts > 0; cuts--) {
    const dark = freshFolder(join(state, 'dark'))
    losePower(state, dark, random)
    await judge(dark, 'power')
    tally.powerCuts++
  }
}
