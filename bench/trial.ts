/**
 * One trial of a micro-benchmark, in a process of its own:
 * `node trial.js SUITE CONTESTANT SIZE SECONDS DIRECTORY`. Prints a `TrialResult` as one line of
 * JSON.
 */
import { crcSuite } from './crc.js'
import { measure } from './measure.js'
import { contestantOf, type TrialResult } from './micro.js'
import { median } from './statistics.js'

const [name = '', contestant = '', size, seconds, directory = ''] = process.argv.slice(2)
const suite = [crcSuite].find((each) => each.name === name)
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
