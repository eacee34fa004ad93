/**
 * What a suite of the bench is: one question, asked of contestants at several sizes. A suite only
 * says what to do; measure.ts takes the time of one trial in its own process, harness.ts lets
 * trials alternate, report.ts prints.
 */

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

export interface Suite {
  name: string
  /** The question, in one sentence. */
  question: string
  /** Bytes of one message or record. */
  sizes: readonly number[]
  contestants: readonly Contestant[]
  comparisons: readonly Comparison[]
  /** Lines about the machine that this question needs, above the table. */
  context(directory: string): string[]
}

/** The contestant of that name. A wrong name is a mistake in the suite. */
export function contestantOf(suite: Suite, name: string): Contestant {
  const found = suite.contestants.find((contestant) => contestant.name === name)
  if (!found) throw new Error(`the suite ${suite.name} has no contestant ${name}`)
  return found
}
