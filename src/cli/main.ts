#!/usr/bin/env node
/**
 * `seglog SUBCOMMAND ...`: finds the file of the subcommand and runs it. Exit codes: 0 stopped or
 * done, 1 failed, 2 usage.
 */
import { readFileSync } from 'node:fs'
import { SeglogError } from '../errors.js'
import type { Io } from './output.js'
import { UsageError } from './usage.js'

interface Subcommand {
  run(args: string[], io: Io): Promise<number>
  /** It goes on where nobody reads its output any more: its exit code says something. */
  finishesUnread?: boolean
}

let finishesUnread = false
const endUnread = () => {
  if (!finishesUnread) process.exit(0)
}

const subcommands = new Map<string, () => Promise<Subcommand>>([
  ['broker', () => import('./broker.js')],
  ['dump', () => import('./dump.js')],
  ['verify', () => import('./verify.js')],
  ['repair', () => import('./repair.js')],
  ['topics', () => import('./topics.js')],
  ['produce', () => import('./produce.js')],
  ['consume', () => import('./consume.js')],
  ['groups', () => import('./groups.js')],
  ['configs', () => import('./configs.js')],
])

const USAGE = `usage: seglog broker [server.properties] [--override KEY=VALUE]...
       seglog dump [--records] [--print-data] [--json] PATH...
       seglog verify [--json] PATH...
       seglog repair [--dry-run] [--drop-damaged] [--backup DIR] [--json] PATH
       seglog topics list|describe|create|alter|delete [TOPIC]... [OPTION]...
       seglog produce TOPIC [OPTION]...
       seglog consume TOPIC [OPTION]...
       seglog groups list|describe|reset-offsets|delete [GROUP]... [OPTION]...
       seglog configs describe|alter topic|broker [NAME] [OPTION]...
       seglog SUBCOMMAND --help
       seglog --version
`

async function main(args: string[], io: Io): Promise<number> {
  // `help dump` asks for the same as `dump --help`.
  const isHelp = args[0] === 'help' && args.length > 1
  const [name = '', ...rest] = isHelp ? [args[1] ?? '', '--help'] : args
  if (name === '--help' || name === '-h' || name === 'help') {
    io.stdout.write(USAGE)
    return 0
  }
  if (name === '--version') {
    io.stdout.write(`${version()}\n`)
    return 0
  }
  const load = subcommands.get(name)
  if (!load) {
    const what = name.startsWith('-') ? 'option' : 'subcommand'
    io.stderr.write(name ? `${USAGE}seglog: there is no ${what} ${name}\n` : USAGE)
    return 2
  }
  try {
    const subcommand = await load()
    finishesUnread = subcommand.finishesUnread === true
    return await subcommand.run(rest, io)
  } catch (error) {
    // What was wrong comes last, where it is seen.
    if (error instanceof UsageError) io.stderr.write(error.usage)
    io.stderr.write(`seglog: ${textOf(error)}\n`)
    return error instanceof UsageError ? 2 : 1
  }
}

function version(): string {
  const file = new URL('../../../package.json', import.meta.url)
  const { version } = JSON.parse(readFileSync(file, 'utf8')) as { version: string }
  return version
}

/** What was foreseen, and what the system refused, need no stack. */
function textOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const foreseen = error instanceof SeglogError || 'syscall' in error
  return foreseen ? error.message : (error.stack ?? error.message)
}

// A reader that goes away, such as head, is no error of ours; a full disk is.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') return endUnread()
  process.stderr.write(`seglog: stdout cannot be written: ${error.message}\n`)
  process.exit(1)
})
process.stderr.on('error', () => {})
process.exitCode = await main(process.argv.slice(2), process)
