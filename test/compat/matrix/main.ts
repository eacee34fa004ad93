/**
 * `npm run compat -- [--only NAME]... [--list] [--steps]`: the matrix. Each client is installed
 * where it is missing, put through the scenario on a broker of its own, and told in one line. Ends
 * with 1 where one failed; one that cannot be installed has failed.
 */
import { parseArgs } from 'node:util'
import { type Client, clients } from './clients.js'
import { Scenario } from './scenario.js'

const { values } = parseArgs({
  options: {
    only: { type: 'string', multiple: true },
    list: { type: 'boolean', default: false },
    steps: { type: 'boolean', default: false },
  },
})

process.once('SIGINT', () => process.exit(130))
process.once('SIGTERM', () => process.exit(143))

const seconds = (ms: number) => `${(ms / 1000).toFixed(1)} s`

/** Puts a client through the scenario; gives the steps that it passed, and how it failed. */
async function steps(client: Client): Promise<{ passed: string[]; failure?: string }> {
  const passed: string[] = []
  let step = 'install'
  let scenario: Scenario | undefined
  try {
    const command = client.install()
    step = 'start'
    scenario = await Scenario.begin(client, command)
    for (const [name, act] of scenario.steps()) {
      step = name
      const began = performance.now()
      await act()
      passed.push(name === 'produce' ? `produce (${client.codecs.join(', ')})` : name)
      if (values.steps) console.log(`        ${name}: ${seconds(performance.now() - began)}`)
    }
    return { passed }
  } catch (error) {
    const text = error instanceof Error ? error.message : String(error)
    return { passed, failure: `at ${step}: ${text}\n${scenario?.noise() ?? ''}` }
  } finally {
    await scenario?.end()
  }
}

async function judge(client: Client): Promise<boolean> {
  const began = performance.now()
  const { passed, failure } = await steps(client)
  const time = seconds(performance.now() - began)
  const verdict = failure === undefined ? 'passed' : 'FAILED'
  console.log(`${verdict}  ${client.name}: ${passed.join(', ')} (${time})`)
  if (failure !== undefined) console.log(`        ${failure.replaceAll('\n', '\n        ')}`)
  return failure === undefined
}

const wanted = clients.filter(
  ({ name }) => values.only === undefined || values.only.some((part) => name.includes(part)),
)
if (values.list) {
  for (const { name } of wanted) console.log(name)
  process.exit(0)
}
if (wanted.length === 0) {
  console.error('no client has such a name; --list names them')
  process.exit(2)
}
const began = performance.now()
const failed: string[] = []
for (const client of wanted) if (!(await judge(client))) failed.push(client.name)
const count = `${wanted.length - failed.length} of ${wanted.length} clients passed`
console.log(`${count} in ${seconds(performance.now() - began)}`)
if (failed.length > 0) console.log(`failed: ${failed.join(', ')}`)
process.exit(failed.length > 0 ? 1 : 0)
