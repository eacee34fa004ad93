/**
 * `npm run torture -- [--seconds N] [--seed S] [--rounds R] [--no-power] [--go-on]`: rounds of
 * torture with one seed after the other until the time is over, then the fuzzers. Prints what was
 * done, and ends with 1 at the first fault found, which it tells with its seed and the directory
 * that shows it; with --go-on it ends in time, and tells each kind of fault once, with the seeds
 * that show it. With --seed alone one round, without --rounds.
 */
import { spawnSync } from 'node:child_process'
import { rmSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { fuzzRecords } from '../fuzz/records.js'
import { compileAll, program } from '../native/compile.js'
import { optionsOrExit, wholeOrExit } from '../support/options.js'
import { brokerRound } from './broker-round.js'
import { emptyTally, round, scratch } from './round.js'
import { shim } from './shim.js'

const values = optionsOrExit({
  seconds: { type: 'string', default: '30' },
  seed: { type: 'string' },
  rounds: { type: 'string' },
  'no-power': { type: 'boolean', default: false },
  'go-on': { type: 'boolean', default: false },
})
const totalMs = wholeOrExit('seconds', values.seconds, 1) * 1000
const repeats = values.seed !== undefined
const chance = String(Math.floor(Math.random() * 1_000_000_000))
const first = wholeOrExit('seed', values.seed ?? chance, 0)
const isBounded = values.rounds !== undefined || repeats
const rounds = isBounded ? wholeOrExit('rounds', values.rounds ?? '1', 1) : Infinity
const tally = emptyTally()
const folder = scratch()
const powerCuts = values['no-power'] ? 0 : 2

/** Kinds of faults, numbers left out, and the seeds that brought them about. */
const kindsFound = new Map<string, Set<number>>()
const note = (seed: number) => (error: unknown, loss: string) => {
  const text = error instanceof Error ? String(error.stack).split('\n    at ') : [String(error)]
  const kind = `${loss}: ${[text[0], text[1]].join(' at ').replace(/\/\S*-\w{6}\S*|\d+/g, '#')}`
  kindsFound.set(kind, (kindsFound.get(kind) ?? new Set()).add(seed))
}

let seed = first

/** Every tenth seed is a broker's, where power is part of it. */
const isBroker = (own: number) => powerCuts > 0 && own % 10 === 5

async function ofBroker(own: number, disk: string): Promise<void> {
  const acknowledged = await brokerRound(own, disk, powerCuts)
  tally.brokers++
  tally.kills++
  tally.brokerAcknowledged += acknowledged
}

/** Takes seeds until the time is over; what a writer is waited for, the other lanes use. */
async function lane(): Promise<void> {
  while (seed < first + rounds && Date.now() < end && !process.exitCode) {
    const own = seed++
    const disk = join(folder, String(own))
    const options = { powerCuts, thorough: own % 20 === 0 }
    const found = values['go-on'] ? { found: note(own) } : {}
    const torturing = isBroker(own)
      ? ofBroker(own, disk)
      : round(own, disk, tally, { ...options, ...found })
    await torturing.catch((error) => {
      if (values['go-on']) return note(own)(error, isBroker(own) ? 'broker' : 'writer')
      console.error(error)
      console.error(`\nfound with --seed ${own}; what shows it is in ${disk}`)
      process.exitCode = 1
    })
  }
}

console.log(`seeds from ${first}, ${folder}`)
shim()
if (!repeats) await compileAll()
// What is compiled first takes a while that is not counted.
const end = Date.now() + totalMs * (repeats ? 1 : 0.7)
await Promise.all(Array.from({ length: 1 + availableParallelism() }, lane))

function fuzz(): void {
  let fuzzed = first
  for (const until = Date.now() + totalMs * 0.1; Date.now() < until; fuzzed++) fuzzRecords(fuzzed)
  console.log(`fuzzed records and codecs: ${2 * (fuzzed - first)}`)
  const seconds = String((totalMs / 1000) * 0.04)
  const env = { SEGLOG_FUZZ_SECONDS: seconds, SEGLOG_FUZZ_SEED: String(first), TMPDIR: folder }
  const run = spawnSync(program, ['Fuzz'], { env: { ...process.env, ...env }, stdio: 'inherit' })
  if (run.status !== 0) process.exitCode = 1
}

for (const [name, value] of Object.entries(tally)) console.log(`${name}: ${value}`)
for (const [kind, seeds] of kindsFound) {
  console.log(`\n${kind}\n  seeds ${[...seeds].slice(0, 12).join(' ')}`)
  process.exitCode = 1
}
if (!repeats && (!process.exitCode || values['go-on'])) fuzz()
if (!process.exitCode) {
  rmSync(folder, { recursive: true })
  console.log('records lost: 0')
}
