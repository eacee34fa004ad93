/**
 * The bench: runs the suites that the command line names, all of them without a name. Exit codes:
 * 0 done, 1 a trial failed, 2 usage.
 */
import { writeFileSync } from 'node:fs'
import { type Arguments, parseArguments, usage } from './arguments.js'
import { machine } from './machine.js'
import { makeReport, type Report, reportLines } from './report.js'
import type { Suite } from './suite.js'

async function runOne(suite: Suite, { directory, quick }: Arguments): Promise<Report> {
  const startedAt = new Date().toISOString()
  const progress = (done: number, total: number) => {
    if (!process.stderr.isTTY) return
    process.stderr.write(done < total ? `\r${suite.name} ${done}/${total}` : '\r\x1b[K')
  }
  const context = suite.context(directory)
  const outcome = await suite.run({ quick, directory, progress })
  return makeReport(suite, outcome, { startedAt, quick, machine: machine(), context })
}

async function main(): Promise<number> {
  const parsed = parseArguments(process.argv.slice(2))
  if ('fault' in parsed) {
    process.stderr.write(`bench: ${parsed.fault}\n${usage()}`)
    return 2
  }
  if (parsed.help) {
    process.stdout.write(usage())
    return 0
  }
  // An interrupted bench must end through 'exit', which removes its files.
  process.once('SIGINT', () => process.exit(130))
  process.once('SIGTERM', () => process.exit(143))
  // Before the minutes that it takes.
  if (parsed.json !== undefined) writeFileSync(parsed.json, '', { flag: 'a' })
  const reports: Report[] = []
  for (const suite of parsed.chosen) {
    const report = await runOne(suite, parsed)
    process.stdout.write(`${reportLines(report).join('\n')}\n`)
    reports.push(report)
  }
  if (parsed.json !== undefined) {
    writeFileSync(parsed.json, `${JSON.stringify(reports, null, 2)}\n`)
  }
  return 0
}

try {
  process.exitCode = await main()
} catch (error) {
  process.stderr.write(`bench: ${error instanceof Error ? error.message : error}\n`)
  process.exitCode = 1
}
