/**
 * A suite of micro-benchmarks: contestants that do the same small operation, at several sizes.
 * measure.ts takes the time of one trial in its own process, trial.ts.
 */
import { fileURLToPath } from 'node:url'
import { runTrials, type Trial } from './harness.js'
import { ratiosOf, type Spread, spreadOf } from './statistics.js'
import type { RunOptions, Suite } from './suite.js'

/** What a trial repeats. */
export interface Workload {
  /** Operations that one call of `run` does. */
  operations: number
  /** Bytes that one operation handles. */
  bytes: number
  /** True where `run` returns a promise, which is waited for before the next call. */
  deferred: boolean
  run(): void | Promise<void>
  /** Lets go of what `prepare` opened. Its time is not counted. */
  close?(): void | Promise<void>
}

export interface Contestant {
  name: string
  /** What it does and what it leaves out, in a few words: printed under the table. */
  note: string
  /** Why this one cannot run here. It is then left out, and the report says so. */
  missing?(): string | undefined
  /** Called in the process of the trial. `directory` is empty, and removed afterwards. */
  prepare(size: number, directory: string): Workload | Promise<Workload>
}

export interface Comparison {
  candidate: string
  baseline: string
}

export interface MicroSuite {
  name: string
  question: string
  /** Bytes of one message. */
  sizes: readonly number[]
  contestants: readonly Contestant[]
  comparisons: readonly Comparison[]
  context(directory: string): string[]
}

/** What a trial prints. */
export interface TrialResult {
  /** Median over the samples of this trial. */
  nsPerOperation: number
  bytesPerOperation: number
  samples: number
}

export interface Side {
  name: string
  /** One number for each round. */
  nsPerOperation: number[]
  spread: Spread
  bytesPerOperation: number
}

export interface SizeResult {
  size: number
  candidate: Side
  baseline: Side
  /** Times faster than the baseline, a ratio for each round. Above 1: the candidate is faster. */
  ratio: Spread
}

export interface ComparisonResult {
  candidate: string
  baseline: string
  /** Why it was not run; `sizes` is empty then. */
  missing?: string
  sizes: SizeResult[]
}

const FULL = { rounds: 4, seconds: 0.05 }
const QUICK = { rounds: 2, seconds: 0.02 }

const trialModule = fileURLToPath(new URL('./trial.js', import.meta.url))

/** The contestant of that name. A wrong name is a mistake in the suite. */
export function contestantOf(suite: MicroSuite, name: string): Contestant {
  const found = suite.contestants.find((contestant) => contestant.name === name)
  if (!found) throw new Error(`the suite ${suite.name} has no contestant ${name}`)
  return found
}

const keyOf = (size: number, contestant: string) => `${size} ${contestant}`

function sideOf(results: Map<string, unknown[]>, size: number, name: string): Side {
  const trials = (results.get(keyOf(size, name)) ?? []) as TrialResult[]
  const nsPerOperation = trials.map((trial) => trial.nsPerOperation)
  const bytesPerOperation = trials[0]?.bytesPerOperation ?? 0
  return { name, nsPerOperation, spread: spreadOf(nsPerOperation), bytesPerOperation }
}

function compare(
  suite: MicroSuite,
  names: Comparison,
  results: Map<string, unknown[]>,
): ComparisonResult {
  const missing = [names.candidate, names.baseline]
    .map((name) => contestantOf(suite, name).missing?.())
    .find((reason) => reason !== undefined)
  if (missing !== undefined) return { ...names, missing, sizes: [] }
  const sizes = suite.sizes.map((size) => {
    const candidate = sideOf(results, size, names.candidate)
    const baseline = sideOf(results, size, names.baseline)
    const ratio = spreadOf(ratiosOf(candidate.nsPerOperation, baseline.nsPerOperation))
    return { size, candidate, baseline, ratio }
  })
  return { ...names, sizes }
}

/** The suite as the bench runs it. */
export function microSuite(suite: MicroSuite): Suite {
  const { name, question, contestants } = suite
  const run = async ({ quick, directory, progress }: RunOptions) => {
    const { rounds, seconds } = quick ? QUICK : FULL
    const present = contestants.filter((contestant) => !contestant.missing?.())
    const groups = suite.sizes.map((size) =>
      present.map(
        (contestant): Trial => ({
          key: keyOf(size, contestant.name),
          command: process.execPath,
          args: [trialModule, name, contestant.name, String(size), String(seconds)],
        }),
      ),
    )
    const results = await runTrials({ groups, rounds, directory, progress })
    const comparisons = suite.comparisons.map((each) => compare(suite, each, results))
    return { rounds, secondsPerTrial: seconds, comparisons, rates: [] }
  }
  const context = (directory: string) => suite.context(directory)
  return { name, question, contestants, context, run }
}
