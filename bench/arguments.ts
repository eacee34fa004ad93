/** The command line of the bench: which suites, where, how long, and where the JSON goes. */
import { tmpdir } from 'node:os'
import { parseArgs } from 'node:util'
import { commandLineFault } from '../src/arguments.js'
import type { Suite } from './suite.js'
import { suites } from './suites.js'

export interface Arguments {
  chosen: Suite[]
  json: string | undefined
  directory: string
  quick: boolean
  help: boolean
}

export function usage(): string {
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

/** Where the command line is wrong: in what. */
export function parseArguments(args: string[]): Arguments | { fault: string } {
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
    const strange = names.find((name) => !suites.has(name))
    if (strange !== undefined) return { fault: `there is no suite ${strange}` }
    const chosen = names.flatMap((name) => suites.get(name) ?? [])
    const { json, dir: directory = tmpdir(), quick, help } = values
    return { chosen, json, directory, quick, help }
  } catch (error) {
    return { fault: commandLineFault(error) }
  }
}
