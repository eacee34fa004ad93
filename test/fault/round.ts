/**
 * One round of the torture of a log: a writer lives on a disk once or several times, is ended each
 * time, and every state that it left is judged, both as it lies there and after a loss of power.
 */
import { spawn } from 'node:child_process'
import { appendFileSync, cpSync, existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { constants, tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type Random, seeded } from '../protocol/random.js'
import { check, freshFolder, type Loss } from './check.js'
import { type History, readHistory } from './history.js'
import { losePower, restorePower } from './power.js'
import { type Scenario, scenario } from './scenario.js'
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
  /** Lives of a broker, and the records that it acknowledged after a sync. */
  brokers: number
  brokerAcknowledged: number
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
  brokers: 0,
  brokerAcknowledged: 0,
})

/** In memory where that may be: what is on trial is not the disk of this machine. */
export const scratch = () =>
  mkdtempSync(join(existsSync('/dev/shm') ? '/dev/shm' : tmpdir(), 'seglog-torture-'))

export interface RoundOptions {
  /** A snapshot before every event, of one life. */
  thorough?: boolean
  /** Losses of power per state that is judged. */
  powerCuts?: number
  /** In place of what the seed says. */
  changes?: Partial<Scenario>
  /** In place of what the seed says, in one life that nobody ends from outside. */
  plan?: Partial<Plan>
  /** Is told of each fault that is found; without it the first one ends the round. */
  found?: (error: unknown, loss: Loss) => void
}

const { EIO, ENOSPC, EMFILE } = constants.errno

function randomPlan(random: Random): Partial<Plan> {
  const made: Partial<Plan> = { delay: random.pick([0, 0, 2000]) }
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

class Round {
  readonly #disk: string
  readonly #tally: Tally
  readonly #options: RoundOptions
  readonly #chosen: Scenario
  readonly #random: Random

  constructor(seed: number, disk: string, tally: Tally, options: RoundOptions) {
    this.#disk = disk
    this.#tally = tally
    this.#options = options
    this.#chosen = { ...scenario(seed), ...options.changes }
    this.#random = seeded(seed)
  }

  async run(): Promise<History> {
    const { thorough, plan } = this.#options
    makeDisk(this.#disk, this.#chosen.seed % 2 === 0 ? ['log-0'] : [])
    for (let lives = thorough || plan ? 1 : 1 + this.#random.below(3); lives > 0; lives--) {
      const faults = countFaults(this.#disk)
      await this.#live()
      await this.#judgeAll()
      this.#tally.faults += countFaults(this.#disk) - faults
      const { closed, generation } = this.#history()
      if (closed) break
      // Where a truncation was undone, what was told is no longer what the log holds.
      const dark = this.#options.powerCuts !== 0 && generation === 0
      if (lives > 1 && dark && this.#random.chance(0.4)) this.#losePower()
    }
    return this.#history()
  }

  /** The next life is on what is left. */
  #losePower(): void {
    const dark = join(this.#disk, 'dark')
    losePower(this.#disk, freshFolder(dark), this.#random)
    restorePower(this.#disk, dark)
    appendFileSync(join(this.#disk, 'acks'), 'p\n')
  }

  #history(state = this.#disk): History {
    return readHistory(join(state, 'acks'))
  }

  #plan(): Plan {
    const { thorough, plan } = this.#options
    const seed = 1 + this.#random.below(1 << 30)
    if (thorough) return { seed, snap: 1, rare: 1, snaps: 150, ...plan }
    return { seed, snap: 0.01, rare: 0.15, snaps: 12, ...(plan ?? randomPlan(this.#random)) }
  }

  /** Resolves when the writer has ended, by its plan, by itself or from outside. */
  async #live(): Promise<void> {
    const { thorough, plan, changes = {} } = this.#options
    const life = String(this.#random.below(1 << 30))
    const words = [this.#disk, String(this.#chosen.seed), life, JSON.stringify(changes)]
    const child = spawn(process.execPath, [writer, ...words], {
      env: onDisk(this.#disk, this.#plan()),
      stdio: ['ignore', 'ignore', 'pipe'],
    })
    let complaint = ''
    child.stderr.on('data', (chunk) => {
      complaint += chunk
    })
    const patience = setTimeout(() => child.kill('SIGABRT'), 60_000)
    const early = this.#random.chance(thorough || plan ? 0 : 0.3)
    const end = early && setTimeout(() => child.kill('SIGKILL'), 60 + this.#random.below(200))
    const [code, signal] = await new Promise<[number | null, string | null]>((resolve) => {
      child.on('close', (status, by) => resolve([status, by]))
    })
    clearTimeout(patience)
    if (end) clearTimeout(end)
    if (code !== 0 && code !== 99 && signal !== 'SIGKILL') {
      throw new Error(`the writer ended with ${code ?? signal}: ${complaint}`)
    }
    if (code !== 0) this.#tally.kills++
  }

  async #judgeAll(): Promise<void> {
    const snaps = join(this.#disk, 'snaps')
    for (const name of readdirSync(snaps).sort((a, b) => Number(a) - Number(b))) {
      const state = join(snaps, name)
      // Without `ready` the process was ended while this one was made.
      if (existsSync(join(state, 'ready'))) await this.#judgeState(state)
      rmSync(state, { recursive: true })
    }
    await this.#judgeState(this.#disk)
  }

  /** Works on copies: the state itself may live on. */
  async #judgeState(state: string): Promise<void> {
    const history = this.#history(state)
    const crashed = freshFolder(join(state, 'crashed'))
    cpSync(join(state, 'live'), crashed, { recursive: true })
    await this.#judge(crashed, history, 'process')
    this.#tally.crashes++
    for (let cuts = this.#options.powerCuts ?? 1; cuts > 0; cuts--) {
      const dark = freshFolder(join(state, 'dark'))
      losePower(state, dark, this.#random)
      await this.#judge(dark, history, 'power')
      this.#tally.powerCuts++
    }
  }

  async #judge(directory: string, history: History, loss: Loss): Promise<void> {
    const again = this.#random.chance(0.3)
    try {
      const { records, cut } = await check(directory, this.#chosen, history, loss, again)
      this.#tally.recordsRead += records
      this.#tally.tornTails += cut ? 1 : 0
      rmSync(directory, { recursive: true })
    } catch (error) {
      if (!this.#options.found) throw error
      this.#options.found(error, loss)
    }
  }
}

/**
 * Throws what it found, with the disk left in `disk`, which is otherwise removed. Gives what the
 * writer told.
 */
export async function round(
  seed: number,
  disk: string,
  tally: Tally,
  options: RoundOptions = {},
): Promise<History> {
  const history = await new Round(seed, disk, tally, options).run()
  tally.acknowledged += history.acknowledged.at(-1)?.to ?? 0
  tally.durable += history.durable.at(-1)?.to ?? 0
  tally.rounds++
  rmSync(disk, { recursive: true })
  return history
}
