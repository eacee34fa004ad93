/**
 * Runs a suite. Each trial of a contestant is a fresh process, so that no trial inherits compiled
 * code, heap or open files of another. In each round every contestant of a size has its turn, one
 * after the other and every other round backwards, so that whatever disturbs the machine for a
 * while disturbs them alike.
 */
import { spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { ratiosOf, type Spread, spreadOf } from './statistics.js'
import { type Contestant, contestantOf, type Suite } from './suite.js'
import type { TrialResult } from './trial.js'

export interface RunOptions {
  rounds: number
  /** Seconds of samples in one trial. */
  seconds: number
  /** A directory of the bench is made in this one, and removed at the end. */
  directory: string
  /** Told before each trial. */
  progress(done: number, total: number): void
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

const TRIAL_LIMIT_MS = 60_000
const trialModule = fileURLToPath(new URL('./trial.js', import.meta.url))

async function runTrial(args: string[]): Promise<TrialResult> {
  const child = spawn(process.execPath, [trialModule, ...args], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const timer = setTimeout(() => child.kill('SIGKILL'), TRIAL_LIMIT_MS)
  const code = new Promise<number | null>((resolve, reject) => {
    child.once('error', reject)
    child.once('close', resolve)
  })
  try {
    let output = ''
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      output += text
    })
    if ((await code) !== 0) throw new Error(`the trial ${args.slice(0, 3).join(' ')} failed`)
    return JSON.parse(output) as TrialResult
  } finally {
    clearTimeout(timer)
  }
}

class Trials {
  private readonly results = new Map<string, TrialResult[]>()

  add(size: number, contestant: string, result: TrialResult): void {
    const key = `${size} ${contestant}`
    this.results.set(key, [...(this.results.get(key) ?? []), result])
  }

  side(size: number, contestant: string): Side {
    const trials = this.results.get(`${size} ${contestant}`) ?? []
    const nsPerOperation = trials.map((trial) => trial.nsPerOperation)
    return {
      name: contestant,
      nsPerOperation,
      spread: spreadOf(nsPerOperation),
      bytesPerOperation: trials[0]?.bytesPerOperation ?? 0,
    }
  }
}

async function runTrials(
  suite: Suite,
  contestants: Contestant[],
  directory: string,
  options: RunOptions,
): Promise<Trials> {
  const trials = new Trials()
  const total = suite.sizes.length * options.rounds * contestants.length
  let done = 0
  for (const size of suite.sizes) {
    for (let round = 0; round < options.rounds; round++) {
      for (const { name } of round % 2 === 0 ? contestants : contestants.toReversed()) {
        options.progress(done++, total)
        const own = join(directory, String(done))
        mkdirSync(own)
        const args = [suite.name, name, String(size), String(options.seconds), own]
        trials.add(size, name, await runTrial(args))
        rmSync(own, { recursive: true, force: true })
      }
    }
  }
  options.progress(total, total)
  return trials
}

/** Runs all trials of a suite and compares. Rejects when a trial fails. */
export async function runSuite(suite: Suite, options: RunOptions): Promise<ComparisonResult[]> {
  const present = suite.contestants.filter((contestant) => !contestant.missing?.())
  const directory = mkdtempSync(join(options.directory, 'seglog-bench-'))
  const remove = () => rmSync(directory, { recursive: true, force: true })
  process.once('exit', remove)
  try {
    const trials = await runTrials(suite, present, directory, options)
    return suite.comparisons.map((comparison) => compare(suite, comparison, trials))
  } finally {
    remove()
    process.off('exit', remove)
  }
}

function compare(
  suite: Suite,
  names: { candidate: string; baseline: string },
  trials: Trials,
): ComparisonResult {
  const missing = [names.candidate, names.baseline]
    .map((name) => contestantOf(suite, name).missing?.())
    .find((reason) => reason !== undefined)
  if (missing !== undefined) return { ...names, missing, sizes: [] }
  const sizes = suite.sizes.map((size) => {
    const candidate = trials.side(size, names.candidate)
    const baseline = trials.side(size, names.baseline)
    const ratio = spreadOf(ratiosOf(candidate.nsPerOperation, baseline.nsPerOperation))
    return { size, candidate, baseline, ratio }
  })
  return { ...names, sizes }
}
