/**
 * What a suite of the bench is: one question, and the trials that answer it. harness.ts lets trials
 * alternate, each in a process of its own; report.ts prints.
 */
import type { ComparisonResult } from './micro.js'
import type { RateTable } from './rates.js'

export interface RunOptions {
  /** Few and short trials: to see that it runs. */
  quick: boolean
  /** A directory of the bench is made in this one, and removed at the end. */
  directory: string
  /** Told before each trial. */
  progress(done: number, total: number): void
}

/** What was measured, and how often. */
export interface Outcome {
  rounds: number
  /** Seconds that are measured in one trial, or in one phase of it. */
  secondsPerTrial: number
  comparisons: ComparisonResult[]
  rates: RateTable[]
}

export interface Suite {
  name: string
  /** The question, in one sentence. */
  question: string
  /** Who takes part, what it does and what it leaves out: printed under the tables. */
  contestants: readonly { name: string; note: string }[]
  /** Lines about the machine that this question needs, above the tables. */
  context(directory: string): string[]
  /** Rejects when a trial fails. */
  run(options: RunOptions): Promise<Outcome>
}
