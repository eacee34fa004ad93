/**
 * The command line of the bench: `npm run bench -- [SUITE] [--json FILE] [--dir DIR] [--quick]`.
 * Without a name all suites run. Exit codes: 0 done, 1 a trial failed, 2 usage.
 */
import { writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { parseArgs } from 'node:util'
import { runSuite } from './harness.js'
import { machine } from './machine.js'
import { makeReport, type Report, reportLines } from './report.js'
import type { Suite } from './suite.js'
import { suites } from './suites.js'

const FULL = { rounds: 4, seconds: 0.05 }
const QUICK = { rounds: 2, seconds: 0.02 }

function usage(): string {
  const names = [...suites.values()].map(({ name, question }) => `  ${name.padEnd(8)}${question}`)
  return [
    'usage: npm run bench -- [SUITE] [--json FILE] [--dir DIR] [--quick]',
    '',
    ...names,
    '',
    '  --json FILE  also write the results, with every trial, as JSON',
    '  --dir DIR    where files of the bench go, for a while (default: the temporary directory)',
    '  --quick      few and short trials: to see that it runs, not to quote',
    '',
  ].join('\n')
}

interface Arguments {
  chosen: Suite[]
  json?: string | undefined
  directory: string
  quick: boolean
  help: boolean
}

function parse(args: string[]): Arguments | undefined {
  try {
    const { values, positionals } = parseArgs({
      args,
      allowPositionals: true,
      options: {
        json: { type: 'string' },
        dir: { type: 'string' },
        quick: { type: 'boolean', default: false },
        help: { type: 'boolean', short: 'h', default: false },
      },
    })
    const names = positionals.length === 0 ? [...suites.keys()] : positionals
    const chosen = names.flatMap((name) => suites.get(name) ?? [])
    if (chosen.length !== names.length) return undefined
    const { json, dir: directory = tmpdir(), quick, help } = values
    return { chosen, json, directory, quick, help }
  } catch {
    return undefined
  }
}

async function runOne(suite: Suite, { directory, quick }: Arguments): Promise<Report> {
  const { rounds, seconds } = quick ? QUICK : FULL
  const startedAt = new Date().toISOString()
  const progress = (done: number, total: number) => {
    if (!process.stderr.isTTY) return
    process.stderr.write(done < total ? `\r${suite.name} ${done}/${total}` : '\r\x1b[K')
  }
  const comparisons = await runSuite(suite, { rounds, seconds, directory, progress })
  return makeReport(suite, comparisons, {
    startedAt,
    machine: machine(),
    context: suite.context(directory),
    rounds,
    secondsPerTrial: seconds,
  })
}

async function main(): Promise<number> {
  const parsed = parse(process.argv.slice(2))
  if (!parsed) {
    process.stderr.write(usage())
    return 2
  }
  if (parsed.help) {
    process.stdout.write(usage())
    return 0
  }
  // An interrupted bench must end through 'exit', which removes its files.
  process.once('SIGINT', () => process.exit(130))
  process.once('SIGTERM', () => process.exit(143))
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
