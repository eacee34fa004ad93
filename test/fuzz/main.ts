/**
 * `npm run fuzz -- [--requests N] [--seconds S] [--seed X]`: the fuzzer of the broker over the
 * wire. Prints what was done, and ends with 1 where a fault was found.
 */
import { optionsOrExit, wholeOrExit } from '../support/options.js'
import { fuzzWire } from './wire.js'

const values = optionsOrExit({
  requests: { type: 'string', default: '1000000' },
  seconds: { type: 'string', default: '3600' },
  seed: { type: 'string' },
})
const chance = String(Math.floor(Math.random() * 1_000_000_000))
const seed = wholeOrExit('seed', values.seed ?? chance, 0)
console.log(`seed ${seed}`)
const report = await fuzzWire({
  seed,
  requests: wholeOrExit('requests', values.requests, 1),
  seconds: wholeOrExit('seconds', values.seconds, 1),
  tell: (line) => console.log(line),
})

const mib = (kib: number) => `${(kib / 1024).toFixed(0)} MiB`
const perSecond = Math.round((report.sent / report.elapsedMs) * 1000)
const seconds = (report.elapsedMs / 1000).toFixed(1)
console.log(`requests sent: ${report.sent} in ${seconds} s, ${perSecond} a second`)
console.log(`answered: ${report.answered}`)
console.log(`connections closed by the broker: ${report.closedByBroker}`)
console.log(`left while the broker rightly waited: ${report.leftWaiting}`)
console.log(`answers: ${mib(report.answerBytes / 1024)}, largest ${report.answerBytesMax} bytes`)
const { startKiB, peakKiB, endKiB, quartersKiB } = report
const onTheWay = quartersKiB.map(mib).join(', ')
console.log(
  `resident: start ${mib(startKiB)}, ${onTheWay}, end ${mib(endKiB)}, peak ${mib(peakKiB)}`,
)
console.log(
  `steady client: ${report.steadyRounds} rounds, slowest ${report.steadyMsMax.toFixed(0)} ms`,
)
console.log('complaints of the broker:')
const complaints = [...report.complaints].sort(([, a], [, b]) => b - a)
for (const [kind, count] of complaints.slice(0, 25)) console.log(`  ${count}  ${kind}`)
for (const fault of report.faults) console.log(`FAULT ${fault}`)
process.exit(report.faults.length === 0 ? 0 : 1)
