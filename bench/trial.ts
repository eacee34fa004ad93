/**
 * One trial, in a process of its own: `node trial.js SUITE CONTESTANT SIZE SECONDS DIRECTORY`.
 * Prints one line of JSON, a `TrialResult`. harness.ts starts it.
 */
import { measure } from './measure.js'
import { median } from './statistics.js'
import { contestantOf } from './suite.js'
import { suites } from './suites.js'

export interface TrialResult {
  /** Median over the samples of this trial. */
  nsPerOperation: number
  bytesPerOperation: number
  samples: number
}

const [name = '', contestant = '', size, seconds, directory = ''] = process.argv.slice(2)
const suite = suites.get(name)
if (!suite) throw new Error(`no suite ${name}`)
const workload = await contestantOf(suite, contestant).prepare(Number(size), directory)
const samples = await measure(workload, Number(seconds))
await workload.close?.()
const result: TrialResult = {
  nsPerOperation: median(samples),
  bytesPerOperation: workload.bytes,
  samples: samples.length,
}
process.stdout.write(`${JSON.stringify(result)}\n`)
