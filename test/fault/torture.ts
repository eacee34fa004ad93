/**
 * `npm run torture -- [--seconds N] [--seed S] [--rounds R] [--no-power] [--go-on]`: rounds of
 * torture with one seed after the other until the time is over. Prints what was done, and ends with
 * 1 at the first fault found, which it tells with its seed and the directory that shows it; with
 * --go-on it ends in time, and tells each kind of fault once, with the seeds that show it.
 */
import { rmSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { emptyTally, round, scratch } from './round.js'
import { shim } from './shim.js'

const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '30' },
    seed: { type: 'string' },
    rounds: { type: 'string' },
    'no-power': { type: 'boolean', default: false },
    'go-on': { type: 'boolean', default: false },
  },
})
const end = Date.now() + Number(values.seconds) * 1000
const first = Number(values.seed ?? Math.floor(Math.random() * 1_000_000_000))
const rounds = Number(values.rounds ?? (values.seed === undefined ? Infinity : 1))
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

/** Takes seeds until the time is over; what a writer is waited for, the other lanes use. */
async function lane(): Promise<void> {
  while (seed < first + rounds && Date.now() < end && !process.exitCode) {
    const own = seed++
    const disk = join(folder, String(own))
    const options = { powerCuts, thorough: own % 20 === 0 }
    const found = values['go-on'] ? { found: note(own) } : {}
    await round(own, disk, tally, { ...options, ...found }).catch((error) => {
      if (values['go-on']) return note(own)(error, 'writer')
      console.error(error)
      console.error(`\nfound with --seed ${own}; what shows it is in ${disk}`)
      process.exitCode = 1
    })
  }
}

console.log(`seeds from ${first}, ${folder}`)
shim()
await Promise.all(Array.from({ length: 1 + availableParallelism() }, lane))
for (const [name, value] of Object.entries(tally)) console.log(`${name}: ${value}`)
for (const [kind, seeds] of kindsFound) {
  console.log(`\n${kind}\n  seeds ${[...seeds].slice(0, 12).join(' ')}`)
  process.exitCode = 1
}
if (!process.exitCode) {
  rmSync(folder, { recursive: true })
  console.log('records lost: 0')
}
