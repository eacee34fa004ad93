/**
 * `seglog broker [server.properties] [--override key=value]...`: runs a broker until SIGTERM or
 * SIGINT. Prints one line on stdout when it serves; everything else goes to stderr.
 *
 * A signal that comes while the broker still starts is obeyed at once: what has started by then is
 * closed in order, and where that takes longer the process ends as it is, which leaves no mark of a
 * clean stop, so that the next start recovers.
 */
import type { EventEmitter } from 'node:events'
import { readFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { commandLineFault } from '../arguments.js'
import { Broker } from '../broker.js'
import { BrokerConfig } from '../config.js'
import { type Env, systemEnv } from '../env.js'
import { SeglogError } from '../errors.js'
import { type Logger, lineLogger } from '../logger.js'
import { parseProperties } from '../properties.js'
import type { Io } from './output.js'
import { UsageError } from './usage.js'

const USAGE = `usage: seglog broker [server.properties] [--override KEY=VALUE]...
  server.properties  Kafka's configuration; without it Kafka's defaults, and data in ./data
  --override         sets one key over the file, for instance --override num.partitions=4
exit code: 0 stopped by SIGTERM or SIGINT, 1 failed, 2 usage
`

const DEFAULT_DATA = './data'

/** A start that was told to stop gets this long to come to an end that can be closed, ms. */
const STARTING_MS = 2000

/** Ctrl-C reaches the broker twice where npm runs it: from the terminal, and passed on by npm. */
const REPEAT_MS = 1000

export async function run(args: string[], io: Io): Promise<number> {
  const { values, positionals } = parse(args)
  if (values.help) {
    io.stdout.write(USAGE)
    return 0
  }
  const config = readConfig(positionals, values.override ?? [])
  if (!('log.dirs' in config) && !('log.dir' in config)) config['log.dirs'] = DEFAULT_DATA
  const exit = (code: number) => process.exit(code)
  const logger = loggerOf(config)
  return serve(() => Broker.start({ config, logger }), {
    io,
    logger,
    signals: process,
    env: systemEnv,
    exit,
  })
}

/** As `log.level` and `log.format` say; what is wrong with the rest, the broker tells. */
function loggerOf(config: Readonly<Record<string, string>>): Logger {
  const parsed = BrokerConfig.parse(config, () => {})
  const { now } = systemEnv
  return lineLogger({ level: parsed.get('log.level'), format: parsed.get('log.format'), now })
}

/** What `serve` has to do with the process, so that a test can stand in for it. */
export interface Surroundings {
  io: Io
  logger: Logger
  /** Emits the signals. */
  signals: EventEmitter
  env: Env
  exit(code: number): void
}

/** Starts a broker and closes it when a signal asks for that. Resolves with the exit code. */
export async function serve(start: () => Promise<Broker>, around: Surroundings): Promise<number> {
  const { io, logger, env, exit } = around
  let asked = ''
  const stopped = stopSignal(around).then((signal) => {
    asked = signal
  })
  const starting = start()
  await Promise.race([starting, stopped])
  if (asked !== '') {
    logger.info(`${asked} received while starting, stopping`)
    const late = env.after(STARTING_MS, () => exit(0))
    const broker = await starting.finally(() => late.cancel())
    await broker.close()
    return 0
  }
  const broker = await starting
  const data = broker.dataDirs.join(',')
  const where = `(data: ${data}, coordination: ${broker.coordination})`
  io.stdout.write(`seglog broker ${broker.brokerId} ready on ${broker.bootstrap} ${where}\n`)
  await stopped
  logger.info(`${asked} received, stopping`)
  await broker.close()
  return 0
}

function parse(args: string[]) {
  try {
    const parsed = parseArgs({
      args,
      allowPositionals: true,
      options: {
        override: { type: 'string', multiple: true },
        help: { type: 'boolean', short: 'h' },
      },
    })
    if (parsed.positionals.length <= 1) return parsed
  } catch (error) {
    throw new UsageError(commandLineFault(error), USAGE)
  }
  throw new UsageError('only one properties file can be given', USAGE)
}

function readConfig(files: string[], overrides: string[]): Record<string, string> {
  const config: Record<string, string> = {}
  for (const file of files) Object.assign(config, Object.fromEntries(readProperties(file)))
  for (const override of overrides) {
    const at = override.indexOf('=')
    if (at < 1) throw new UsageError(`--override takes KEY=VALUE, not ${override}`, USAGE)
    config[override.slice(0, at).trim()] = override.slice(at + 1).trim()
  }
  return config
}

/** Read synchronously: until the broker starts, a signal may end the process as it always does. */
function readProperties(file: string): Map<string, string> {
  try {
    return parseProperties(readFileSync(file, 'utf8'), file)
  } catch (cause) {
    if (cause instanceof SeglogError) throw cause
    const text = cause instanceof Error ? cause.message : String(cause)
    throw new SeglogError('INVALID_CONFIG', `${file} cannot be read: ${text}`, { cause })
  }
}

/**
 * Resolves with the name of the first signal that asks to stop. A second one ends the process at
 * once, unless it is the same one within `REPEAT_MS`.
 */
function stopSignal({ signals, env, exit }: Surroundings): Promise<string> {
  return new Promise((resolve) => {
    let first: { signal: string; atMs: number } | undefined
    for (const signal of ['SIGTERM', 'SIGINT'] as const) {
      signals.on(signal, () => {
        const atMs = env.monotonic()
        if (!first) {
          first = { signal, atMs }
          resolve(signal)
        } else if (signal !== first.signal || atMs - first.atMs >= REPEAT_MS) {
          exit(1)
        }
      })
    }
  })
}
