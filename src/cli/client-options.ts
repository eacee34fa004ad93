/**
 * What the subcommands that talk to a broker have in common: the option that names it, the client
 * that is closed whatever happens, and how their arguments are read.
 */
import { type ParseArgsConfig, parseArgs } from 'node:util'
import { commandLineFault, quoted } from '../arguments.js'
import { Cluster } from '../client/cluster.js'
import type { Address } from '../client/connection.js'
import { systemEnv } from '../env.js'
import { UsageError } from './usage.js'

export const DEFAULT_BOOTSTRAP = '127.0.0.1:9092'

/** Lines of a usage that are the same for all. */
export const COMMON_USAGE = `  --bootstrap-server  HOST:PORT of a broker, or several with commas;
                      default ${DEFAULT_BOOTSTRAP}
  --json              one JSON object a line
exit code: 0 done, 1 failed, 2 usage
`

const common = {
  'bootstrap-server': { type: 'string', default: DEFAULT_BOOTSTRAP },
  json: { type: 'boolean', default: false },
  help: { type: 'boolean', short: 'h', default: false },
} as const

type Options = NonNullable<ParseArgsConfig['options']>
type Parsed<O extends Options> = ReturnType<
  typeof parseArgs<{ args: string[]; allowPositionals: true; options: typeof common & O }>
>

/** Reads arguments against the common options and those of the subcommand. */
export function parseClient<const O extends Options>(
  args: string[],
  options: O,
  usage: string,
): Parsed<O> {
  try {
    const all = { ...common, ...options }
    return parseArgs({ args: withSigns(args, all), allowPositionals: true, options: all })
  } catch (error) {
    throw new UsageError(commandLineFault(error), usage)
  }
}

/** A number below 0 behind an option that takes text is its value, and no option. */
function withSigns(args: readonly string[], options: Options): string[] {
  const joined: string[] = []
  for (const [i, arg] of args.entries()) {
    const name = /^--([a-z-]+)$/.exec(args[i - 1] ?? '')?.[1]
    const isValue = name !== undefined && options[name]?.type === 'string' && /^-\d+$/.test(arg)
    if (isValue) joined[joined.length - 1] += `=${arg}`
    else joined.push(arg)
  }
  return joined
}

/** host:port, with IPv6 in brackets; several with commas. */
export function parseBootstrap(text: string, usage: string): Address[] {
  return text.split(',').map((each) => {
    const [, v6, host, port] =
      /^(?:\[([\da-fA-F:.]+)\]|([^\s:[\]]+)):(\d{1,5})$/.exec(each.trim()) ?? []
    const found = { host: v6 ?? host ?? '', port: Number(port) }
    if (found.host === '' || !(found.port >= 1 && found.port <= 65_535)) {
      throw new UsageError(`--bootstrap-server takes HOST:PORT, not ${quoted(each)}`, usage)
    }
    return found
  })
}

/** Runs `work` with a client, which is closed behind it. */
export async function withCluster<T>(
  bootstrap: readonly Address[],
  work: (cluster: Cluster) => Promise<T>,
): Promise<T> {
  const cluster = new Cluster({ bootstrap, clientId: 'seglog-cli', env: systemEnv })
  try {
    return await work(cluster)
  } finally {
    await cluster.close()
  }
}

/** A whole number of an option, or undefined where it was not given. */
export function wholeOption(
  name: string,
  text: string | undefined,
  { min, max, usage }: { min: number; max: number; usage: string },
): number | undefined {
  if (text === undefined) return undefined
  const value = /^-?\d{1,19}$/.test(text) ? Number(text) : Number.NaN
  if (Number.isSafeInteger(value) && value >= min && value <= max) return value
  const bound = max === Number.MAX_SAFE_INTEGER ? '2^53 - 1' : max
  const text_ = `--${name} takes a whole number from ${min} to ${bound}, not ${quoted(text)}`
  throw new UsageError(text_, usage)
}

/** KEY=VALUE of options that may be repeated. */
export function pairs(
  name: string,
  texts: readonly string[] | undefined,
  usage: string,
): [string, string][] {
  return (texts ?? []).map((text) => {
    const at = text.indexOf('=')
    if (at < 1) throw new UsageError(`--${name} takes KEY=VALUE, not ${quoted(text)}`, usage)
    return [text.slice(0, at).trim(), text.slice(at + 1)]
  })
}

/** The only positional argument behind an action, such as the name of a topic. */
export function onlyName(positionals: readonly string[], what: string, usage: string): string {
  const [name, ...more] = positionals
  if (name === undefined) throw new UsageError(`${what} is needed`, usage)
  if (more.length > 0) throw new UsageError(`only one ${what} can be given`, usage)
  return name
}

/** No positional argument is left. */
export function noMore(positionals: readonly string[], usage: string): void {
  if (positionals.length === 0) return
  throw new UsageError(`${quoted(positionals[0] ?? '')} is one argument too many`, usage)
}
