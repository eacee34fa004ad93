/**
 * `npm run compat -- [--only NAME]... [--jobs N] [--list] [--steps]`: the matrix. What is missing
 * is installed first; then each client is put through the scenario on a broker of its own, some at
 * the same time, and told in one line. Ends with 1 where one failed; one that cannot be installed
 * has failed.
 */
import { parseArgs } from 'node:util'
import { type Client, clients } from './clients.js'
import type { Command } from './driver.js'
import { Scenario } from './scenario.js'

function usage(text: string): never {
  console.error(`${text}; npm run compat -- --help tells the options`)
  process.exit(2)
}

function options() {
  const known = {
    only: { type: 'string', multiple: true },
    // Most of the time of a client goes by in waiting for sessions to end.
    jobs: { type: 'string', default: '2' },
    list: { type: 'boolean', default: false },
    steps: { type: 'boolean', default: false },
  } as const
  try {
    return parseArgs({ options: known }).values
  } catch (error) {
    return usage(textOf(error))
  }
}

process.once('SIGINT', () => process.exit(130))
process.once('SIGTERM', () => process.exit(143))

const textOf = (error: unknown) => (error instanceof Error ? error.message : String(error))
const values = options()
const seconds = (sinceMs: number) => `${((performance.now() - sinceMs) / 1000).toFixed(1)} s`

/** Puts a client through the scenario; gives the steps that it passed, and how it failed. */
async function steps(
  client: Client,
  command: Command,
): Promise<{ passed: string[]; failure?: string }> {
  const passed: string[] = []
  let step = 'start'
  let scenario: Scenario | undefined
  try {
    scenario = await Scenario.begin(client, command)
    for (const [name, act] of scenario.steps()) {
      step = name
      const began = performance.now()
      await act()
      passed.push(name === 'produce' ? `produce (${client.codecs.join(', ')})` : name)
      if (values.steps) console.log(`        ${client.name}: ${name}: ${seconds(began)}`)
    }
    return { passed }
  } catch (error) {
    return { passed, failure: `at ${step}: ${textOf(error)}\n${scenario?.noise() ?? ''}` }
  } finally {
    await scenario?.end()
  }
}

const failed: string[] = []

function fail(client: Client, what: string, text: string): void {
  failed.push(client.name)
  console.log(`FAILED  ${client.name}: ${what}`)
  console.log(`        ${text.trim().replaceAll('\n', '\n        ')}`)
}

async function judge(client: Client, command: Command): Promise<void> {
  const began = performance.now()
  const { passed, failure } = await steps(client, command)
  const what = `${passed.join(', ')} (${seconds(began)})`
  if (failure !== undefined) fail(client, what, failure)
  else console.log(`passed  ${client.name}: ${what}`)
}

const wanted = clients.filter(({ name, onlyWhenNamed }) =>
  values.only === undefined ? !onlyWhenNamed : values.only.some((part) => name.includes(part)),
)
if (values.list) {
  for (const { name } of clients) console.log(name)
  process.exit(0)
}
const jobs = Number(values.jobs)
if (wanted.length === 0) usage('no client has such a name')
if (!(jobs >= 1)) usage('--jobs takes a number from 1 on')

const began = performance.now()
// Before anything runs that is measured in time: it keeps this thread.
const ready: [Client, Command][] = []
for (const client of wanted) {
  try {
    ready.push([client, client.install()])
  } catch (error) {
    fail(client, 'not installed', textOf(error))
  }
}

async function lane(): Promise<void> {
  for (let next = ready.shift(); next !== undefined; next = ready.shift()) await judge(...next)
}

await Promise.all(Array.from({ length: jobs }, lane))
const count = `${wanted.length - failed.length} of ${wanted.length} clients passed`
console.log(`${count} in ${seconds(began)}`)
if (failed.length > 0) console.log(`failed: ${failed.join(', ')}`)
process.exit(failed.length > 0 ? 1 : 0)
