/**
 * The few statistics of the bench. No mean: one trial that was disturbed must not move a result.
 */

export interface Spread {
  median: number
  min: number
  max: number
}

/** The middle of the values; of an even number the mean of the two middle ones. NaN for none. */
export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b)
  const middle = sorted.length >> 1
  const upper = sorted[middle] ?? Number.NaN
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? Number.NaN) + upper) / 2
}

export function spreadOf(values: readonly number[]): Spread {
  return { median: median(values), min: Math.min(...values), max: Math.max(...values) }
}

/**
 * How many times faster the candidate is than the baseline, from trials that ran side by side: one
 * ratio for each round. Both lists hold nanoseconds, in the order of rounds.
 */
export function ratiosOf(candidate: readonly number[], baseline: readonly number[]): number[] {
  return candidate.map((each, round) => (baseline[round] ?? Number.NaN) / each)
}
