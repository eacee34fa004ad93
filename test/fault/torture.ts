/**
 * `npm run torture -- [--seconds N] [--seed S] [--rounds R] [--no-power] [--go-on]`: rounds of
 * torture with one seed after the other until the time is over. Prints what was done, and ends with
 * 1 at the first fault found, which it tells with its seed and the directory that shows it; with
 * --go-on it ends in time, and tells each kind of fault once, with the seeds that show it.
 */
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { emptyTally, round, scratch } from './round.js'

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

console.log(`seed ${first}, ${folder}`)
for (let seed = first; seed < first + rounds && Date.now() < end; seed++) {
  const disk = join(folder, String(seed))
  const started = Date.now()
  const options = { powerCuts, thorough: seed % 20 === 0 }
  const found = values['go-on'] ? { found: note(seed) } : {}
  await round(seed, disk, tally, { ...options, ...found }).catch((error) => {
    console.error(error)
    console.error(`\nfound with --seed ${seed}; what shows it is in ${disk}`)
    process.exitCode = 1
  })
  if (process.exitCode) break
  if (process.env.SEGLOG_TORTURE_TIMES) console.log(seed, Date.now() - started, tally)
}
for (const [name, value] of Object.entries(tally)) console.log(`${name}: ${value}`)
for (const [kind, seeds] of kindsFound) {
  console.log(`\n${kind}\n  seeds ${[...seeds].slice(0, 12).join(' ')}`)
  process.exitCode = 1
}
console.log(`records lost: ${process.exitCode ? 'see above' : 0}`)
