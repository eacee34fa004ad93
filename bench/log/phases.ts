/**
 * One trial of a store, in a fresh process: append, read, append durably, for one size of record
 * and one number of records per call. Each phase gives records per second.
 *
 * Appends fill a new store again and again, up to a bound of bytes: the first times are not
 * counted, and let later ones find compiled code and memory that the machine has at hand. Opening,
 * closing and removing are not counted. The read goes over the last store that was filled, which is
 * then in the page cache.
 */
import { mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import type { Store, StoreKind } from './store.js'

export const phases = ['append', 'read', 'durable', 'awaited', 'overlapping'] as const
export type Phase = (typeof phases)[number]

/** Records per second; a phase that the store has not is left out. */
export type Rates = { [phase in Phase]?: number }

export interface Case {
  sizeBytes: number
  perCall: number
}

/** Payload of one store at most. */
export const FILL_BYTES = 64 << 20
const FILL_RECORDS = 500_000
/** Values differ, and do not compress: LevelDB would write less than it was given. */
const DISTINCT_BYTES = 1 << 20
/** Filling that is not counted, by the time that a phase is measured. */
const WARM_UP = 2
const FILLS_MAX = 10
/** Calls that wait for the disk are few: more time, also to have the code compiled before. */
const DURABLE = 2
export const IN_FLIGHT = 64

/** Groups of values for one call each, used in turn. */
export function groupsOf({ sizeBytes, perCall }: Case): Buffer[][] {
  const count = Math.max(1, Math.min(64, Math.floor(DISTINCT_BYTES / (sizeBytes * perCall))))
  let state = 1
  return Array.from({ length: count }, () =>
    Array.from({ length: perCall }, () => {
      const value = Buffer.alloc(sizeBytes)
      // xorshift32: noise that is the same in every trial
      for (let at = 0; at < sizeBytes; at++) {
        state ^= state << 13
        state ^= state >>> 17
        state ^= state << 5
        value[at] = state
      }
      return value
    }),
  )
}

interface Work {
  store: Store
  groups: Buffer[][]
  /** Calls between two looks at the clock. */
  callsPerLook: number
}

/** Fills up to a number of calls or until the time is over. Returns calls and milliseconds. */
async function fill({ store, groups, callsPerLook }: Work, callsMax: number, limitMs: number) {
  const start = performance.now()
  let calls = 0
  let elapsedMs = 0
  do {
    for (let look = 0; look < callsPerLook; look++) {
      const done = store.append(groups[calls++ % groups.length]!)
      // A wait that is not needed would cost the stores that need none.
      if (done !== undefined) await done
    }
    elapsedMs = performance.now() - start
  } while (calls < callsMax && elapsedMs < limitMs)
  return { calls, elapsedMs }
}

/** Reads for about `limitMs`, from the start again and again. Returns records per second. */
async function readFor(store: Store, limitMs: number, appended: number): Promise<number> {
  let records = 0
  let sink = 0
  const start = performance.now()
  let more = true
  const visit = (value: Uint8Array): boolean => {
    sink += value[0]! + value[value.length - 1]! + value.length
    records++
    if ((records & 63) === 0) more = performance.now() - start < limitMs
    return more
  }
  while (more) {
    const before = records
    await store.read(visit)
    if (more && records - before !== appended) {
      throw new Error(`${records - before} records were read where ${appended} were appended`)
    }
    more = more && performance.now() - start < limitMs
  }
  const elapsedMs = performance.now() - start
  if (sink === 0) throw new Error('what was read is empty')
  return (records * 1000) / elapsedMs
}

type DurableAppend = Store['appendDurable']

async function durableFor(
  append: DurableAppend,
  groups: Buffer[][],
  inFlight: number,
  limitMs: number,
) {
  const start = performance.now()
  let calls = 0
  const lane = async () => {
    while (performance.now() - start < limitMs) {
      const done = append(groups[calls % groups.length]!)
      if (done !== undefined) await done
      calls++
    }
  }
  await Promise.all(Array.from({ length: inFlight }, lane))
  return (calls * groups[0]!.length * 1000) / (performance.now() - start)
}

class Trial {
  readonly #kind: StoreKind
  readonly #directory: string
  #stores = 0

  constructor(kind: StoreKind, directory: string) {
    this.#kind = kind
    this.#directory = directory
  }

  /** Opens a store in a folder of its own, and removes the folder afterwards. */
  async with<T>(durable: boolean, body: (store: Store) => Promise<T>): Promise<T> {
    const folder = join(this.#directory, String(this.#stores++))
    mkdirSync(folder)
    const store = await this.#kind.open(folder, durable)
    try {
      return await body(store)
    } finally {
      await store.close()
      rmSync(folder, { recursive: true, force: true })
    }
  }
}

async function appendAndRead(trial: Trial, { sizeBytes, perCall }: Case, phaseMs: number) {
  const groups = groupsOf({ sizeBytes, perCall })
  const callBytes = sizeBytes * perCall
  const callsMax = Math.floor(Math.min(FILL_BYTES / callBytes, FILL_RECORDS / perCall))
  const callsPerLook = Math.max(1, Math.min(64, Math.floor((1 << 20) / callBytes)))
  let calls = 0
  let elapsedMs = 0
  let read: number | undefined
  let coldMs = WARM_UP * phaseMs
  for (let fills = 0; read === undefined; ) {
    read = await trial.with(false, async (store) => {
      const work = { store, groups, callsPerLook }
      const isCold = coldMs > 0
      const filled = await fill(work, callsMax, isCold ? coldMs : phaseMs)
      if (isCold) {
        coldMs -= filled.elapsedMs
        return undefined
      }
      fills++
      calls += filled.calls
      elapsedMs += filled.elapsedMs
      if (elapsedMs < phaseMs && fills < FILLS_MAX) return undefined
      await readFor(store, phaseMs, filled.calls * perCall)
      return readFor(store, phaseMs, filled.calls * perCall)
    })
  }
  return { append: (calls * perCall * 1000) / elapsedMs, read }
}

/** Runs all phases; `phaseMs` is the time that each one is measured, about. */
export async function measureStore(
  kind: StoreKind,
  wanted: Case,
  directory: string,
  phaseMs: number,
): Promise<Rates> {
  const trial = new Trial(kind, directory)
  const rates: Rates = await appendAndRead(trial, wanted, phaseMs)
  const groups = groupsOf(wanted)
  await trial.with(true, async (store) => {
    const measure = async (append: DurableAppend, inFlight: number) => {
      await durableFor(append, groups, inFlight, phaseMs)
      return durableFor(append, groups, inFlight, DURABLE * phaseMs)
    }
    rates.durable = await measure((values) => store.appendDurable(values), 1)
    const { appendAwaited } = store
    if (appendAwaited === undefined) return
    rates.awaited = await measure(appendAwaited, 1)
    if (wanted.perCall === 1) rates.overlapping = await measure(appendAwaited, IN_FLIGHT)
  })
  return rates
}
