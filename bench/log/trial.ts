/**
 * One trial, in a process of its own: `node trial.js STORE SIZE PER_CALL PHASE_MS DIRECTORY`.
 * Prints one line of JSON, the `Rates`. ../harness.ts starts it.
 */
import { measureStore } from './phases.js'
import { storeNamed } from './stores.js'

const [store = '', size, perCall, phaseMs, directory = ''] = process.argv.slice(2)
const rates = await measureStore(
  storeNamed(store),
  { sizeBytes: Number(size), perCall: Number(perCall) },
  directory,
  Number(phaseMs),
)
process.stdout.write(`${JSON.stringify(rates)}\n`)
