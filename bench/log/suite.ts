/**
 * What does a log of records cost, against the stores that a user of Node would take instead, and
 * against what this machine can do at all?
 */
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { batchOf } from '../batch.js'
import { runTrials, type Trial } from '../harness.js'
import { fileSystemOf, flagsOf } from '../machine.js'
import { type RateTable, rateTable } from '../rates.js'
import { sizeText } from '../report.js'
import type { RunOptions, Suite } from '../suite.js'
import { FILL_BYTES, IN_FLIGHT, type Phase, type Rates } from './phases.js'
import { missingStore, type StoreKind } from './store.js'
import { stores } from './stores.js'

const SIZES = [100, 1 << 10, 16 << 10]
const PER_CALL = [1, 100]
const NATIVE_SIZES = [100, 1 << 10, 16 << 10, 256 << 10, 1 << 20]
const FULL = { rounds: 4, seconds: 0.15, fillBytes: 64 << 20 }
const QUICK = { rounds: 1, seconds: 0.02, fillBytes: 4 << 20 }

const here = (file: string) => fileURLToPath(new URL(file, import.meta.url))
/** What `npm run bench` compiled of limit.cc; undefined where it did not. */
function limitProgram(): string | undefined {
  const path = process.env.SEGLOG_BENCH_LIMIT
  return path !== undefined && existsSync(path) ? path : undefined
}

/** A table for each phase and each number of records per call. */
const tables: { phase: Phase; perCall: number; title: string }[] = [
  { phase: 'append', perCall: 1, title: 'append, no sync, 1 record a call' },
  { phase: 'append', perCall: 100, title: 'append, no sync, 100 records a call' },
  { phase: 'read', perCall: 1, title: 'sequential read of what was appended 1 a call' },
  { phase: 'read', perCall: 100, title: 'sequential read of what was appended 100 a call' },
  { phase: 'durable', perCall: 1, title: 'durable append, 1 record a call, one call at a time' },
  { phase: 'durable', perCall: 100, title: 'durable append, 100 records a call, one at a time' },
  { phase: 'awaited', perCall: 1, title: 'the same awaited, the thread free: 1 record a call' },
  {
    phase: 'awaited',
    perCall: 100,
    title: 'the same awaited, the thread free: 100 records a call',
  },
  {
    phase: 'overlapping',
    perCall: 1,
    title: `durable append, 1 record a call, ${IN_FLIGHT} calls under way (shared syncs)`,
  },
]

const storeKey = (store: StoreKind, size: number, perCall: number) =>
  `${store.name}, ${size} B, ${perCall} a call`

function storeTrial(store: StoreKind, size: number, perCall: number, seconds: number): Trial {
  const numbers = [size, perCall, seconds * 1000].map(String)
  return {
    key: storeKey(store, size, perCall),
    command: process.execPath,
    args: [here('./trial.js'), store.name, ...numbers],
  }
}

function nativeTrials(size: number, seconds: number, fillBytes: number): Trial[] {
  const numbers = [fillBytes, seconds].map(String)
  const native = {
    key: `native ${size}`,
    command: process.execPath,
    args: [here('./native-trial.js'), String(size), ...numbers],
  }
  const command = limitProgram()
  if (command === undefined) return [native]
  const batchBytes = String(batchOf(size, 0).length)
  return [native, { key: `limit ${size}`, command, args: [batchBytes, ...numbers] }]
}

type Results = Map<string, unknown[]>

function storeTables(results: Results, present: readonly StoreKind[]): RateTable[] {
  return tables.map(({ phase, perCall, title }) => {
    const rows = present.map((store) => ({
      name: store.name,
      perSecond: SIZES.map((size) => {
        const trials = (results.get(storeKey(store, size, perCall)) ?? []) as Rates[]
        return trials.flatMap((rates) => rates[phase] ?? [])
      }),
    }))
    return rateTable(title, 'records', SIZES, rows)
  })
}

/** The better technique of the limit stands for it, in each round. */
function nativeTable(results: Results): RateTable {
  const ratesOf = (key: string) => (results.get(key) ?? []) as Record<string, number>[]
  const rows = [
    {
      name: 'native append',
      perSecond: NATIVE_SIZES.map((size) =>
        ratesOf(`native ${size}`).map((each) => each.perSecond!),
      ),
    },
    {
      name: 'C++ loop',
      perSecond: NATIVE_SIZES.map((size) =>
        ratesOf(`limit ${size}`).map(({ write, map }) => Math.max(write!, map!)),
      ),
    },
  ]
  return rateTable('the native append against the machine', 'batches', NATIVE_SIZES, rows)
}

async function run({ quick, directory, progress }: RunOptions) {
  const { rounds, seconds, fillBytes } = quick ? QUICK : FULL
  const present = stores.filter((store) => missingStore(store) === undefined)
  const groups = PER_CALL.flatMap((perCall) =>
    SIZES.map((size) => present.map((store) => storeTrial(store, size, perCall, seconds))),
  )
  const native = NATIVE_SIZES.map((size) => nativeTrials(size, seconds, fillBytes))
  const plan = { groups: [...groups, ...native], rounds, directory, progress }
  const results = await runTrials(plan)
  const rates = [...storeTables(results, present), nativeTable(results)]
  return { rounds, secondsPerTrial: seconds, comparisons: [], rates }
}

function context(directory: string): string[] {
  const fileSystem = fileSystemOf(directory)
  const { type, device, options } = fileSystem
  const lines = [
    `${type} on ${device} (${options})`,
    'durable: fdatasync, of seglog and plain fs; the other stores as they do it',
    `a store holds at most ${sizeText(FILL_BYTES)}, far less than memory: without a sync, append ` +
      'and read are of the page cache',
    'seglog and the native append reserve their space by fallocate, ahead; plain fs does not',
    ...flagsOf(fileSystem),
  ]
  for (const store of stores) {
    const missing = missingStore(store)
    if (missing !== undefined) lines.push(`NOTE: without ${store.name}: ${missing}`)
  }
  if (limitProgram() === undefined) {
    lines.push('NOTE: without the C++ loop: npm run bench -- log compiles it')
  }
  return lines
}

export const log: Suite = {
  name: 'log',
  question: 'what does a log cost, against other stores and against the machine?',
  contestants: [
    ...stores,
    {
      name: 'native append',
      note:
        'a finished batch of one record to native.segmentAppend, from JavaScript: CRC-32C and ' +
        'structure checked, offset and epoch stamped, indexes kept',
    },
    {
      name: 'C++ loop',
      note:
        'CRC-32C of the same bytes and their copy into a reserved file: by pwrite, or into a ' +
        'mapping on huge pages populated ahead by a second thread, whichever is faster; ' +
        'nothing else',
    },
  ],
  context,
  run,
}
