#!/usr/bin/env node
/**
 * `seglog SUBCOMMAND ...`: finds the file of the subcommand and runs it. Exit codes: 0 stopped or
 * done, 1 failed, 2 usage.
 */
import { SeglogError } from '../errors.js'

/** Where a subcommand writes. */
export interface Io {
  stdout: NodeJS.WritableStream
  stderr: NodeJS.WritableStream
}

interface Subcommand {
  run(args: string[], io: Io): Promise<number>
}

const subcommands = new Map<string, () => Promise<Subcommand>>([
  ['broker', () => import('./broker.js')],
  ['dump', () => import('./dump.js')],
])

const USAGE = `usage: seglog broker [server.properties] [--override KEY=VALUE]...
       seglog dump [--records] [--json] PATH...
`

async function main(args: string[], io: Io): Promise<number> {
  const [name = '', ...rest] = args
  if (name === '--help' || name === '-h' || name === 'help') {
    io.stdout.write(USAGE)
    return 0
  }
  const load = subcommands.get(name)
  if (!load) {
    io.stderr.write(name ? `seglog: there is no subcommand ${name}\n${USAGE}` : USAGE)
    return 2
  }
  try {
    const subcommand = await load()
    return await subcommand.run(rest, io)
  } catch (error) {
    const known = error instanceof SeglogError
    io.stderr.write(
      `seglog: ${known ? error.message : error instanceof Error ? error.stack : error}\n`,
    )
    return known && error.code === 'USAGE' ? 2 : 1
  }
}

// A reader that goes away, such as head, is no error of ours.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') process.exit(0)
})
process.exitCode = await main(process.argv.slice(2), process)
