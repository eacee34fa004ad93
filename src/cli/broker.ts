/**
 * `seglog broker [server.properties] [--override key=value]...`: runs a broker until SIGTERM or
 * SIGINT. Prints one line on stdout when it serves; everything else goes to stderr.
 */
import { readFile } from 'node:fs/promises'
import { parseArgs } from 'node:util'
import { Broker } from '../broker.js'
import { SeglogError } from '../errors.js'
import { stderrLogger } from '../logger.js'
import { parseProperties } from '../properties.js'
import type { Io } from './main.js'

const DEFAULT_DATA = './data'

export async function run(args: string[], io: Io): Promise<number> {
  const config = await readConfig(args)
  if (!('log.dirs' in config) && !('log.dir' in config)) config['log.dirs'] = DEFAULT_DATA
  const stopped = stopSignal()
  const broker = await Broker.start({ config, logger: stderrLogger })
  const data = broker.dataDirs.join(',')
  const where = `(data: ${data}, coordination: ${broker.coordination})`
  io.stdout.write(`seglog broker ${broker.brokerId} ready on ${broker.bootstrap} ${where}\n`)
  stderrLogger.info(`${await stopped} received, stopping`)
  await broker.close()
  return 0
}

async function readConfig(args: string[]): Promise<Record<string, string>> {
  const { values, positionals } = parse(args)
  if (positionals.length > 1)
    throw new SeglogError('USAGE', 'only one properties file can be given')
  const config: Record<string, string> = {}
  const file = positionals[0]
  if (file !== undefined) Object.assign(config, Object.fromEntries(await readProperties(file)))
  for (const override of values.override ?? []) {
    const at = override.indexOf('=')
    if (at < 1) throw new SeglogError('USAGE', `--override takes key=value, not ${override}`)
    config[override.slice(0, at).trim()] = override.slice(at + 1).trim()
  }
  return config
}

function parse(args: string[]) {
  try {
    return parseArgs({
      args,
      allowPositionals: true,
      options: { override: { type: 'string', multiple: true } },
    })
  } catch (error) {
    throw new SeglogError('USAGE', (error as Error).message)
  }
}

async function readProperties(file: string) {
  try {
    return parseProperties(await readFile(file, 'utf8'), file)
  } catch (cause) {
    throw new SeglogError('INVALID_CONFIG', `${file} cannot be read: ${cause}`, { cause })
  }
}

/**
 * Resolves with the name of the first signal that asks to stop. A second one ends the process at
 * once.
 */
function stopSignal(): Promise<string> {
  return new Promise((resolve) => {
    let asked = false
    for (const signal of ['SIGTERM', 'SIGINT'] as const) {
      process.on(signal, () => {
        if (asked) process.exit(1)
        asked = true
        resolve(signal)
      })
    }
  })
}
