/**
 * `seglog consume TOPIC`: records to stdout, until there are enough, none comes for a while, the
 * end is reached, a signal asks to stop, or nobody reads any more.
 *
 * With --group it begins where the group has committed, and commits behind what it has written. It
 * does so from outside, as an operator does: it reads all partitions that it was told to, shares
 * them with nobody, and is refused while the group has members.
 */
import { quoted } from '../arguments.js'
import { systemEnv } from '../env.js'
import { ByteOutput } from './byte-output.js'
import {
  COMMON_USAGE,
  onlyName,
  parseBootstrap,
  parseClient,
  wholeOption,
  withCluster,
} from './client-options.js'
import type { ConsumeFormat } from './consume-format.js'
import { consume, type StartAt } from './consume-loop.js'
import { parseOffset } from './groups-reset.js'
import type { Io } from './output.js'
import { UsageError } from './usage.js'

const USAGE = `usage: seglog consume TOPIC [--partition N] [--from-beginning]
       [--offset N|earliest|latest] [--group GROUP] [--max-messages N] [--timeout-ms N] [--to-end]
       [--print-key] [--print-timestamp] [--print-headers] [--print-offset]
       [--print-partition] [--key-separator TEXT]
  --from-beginning    begins at the first record, else at the end; with --group,
                      where the group has no offset
  --offset            begins there; a number needs --partition
  --group             begins where the group has committed, and commits what was printed
  --max-messages      ends behind so many records
  --timeout-ms        ends when no record has come for so long
  --to-end            ends at what was the end when it began
  --key-separator     between the printed fields, default a tab
${COMMON_USAGE}`

const options = {
  partition: { type: 'string' },
  'from-beginning': { type: 'boolean', default: false },
  offset: { type: 'string' },
  group: { type: 'string' },
  'max-messages': { type: 'string' },
  'timeout-ms': { type: 'string' },
  'to-end': { type: 'boolean', default: false },
  'print-key': { type: 'boolean', default: false },
  'print-timestamp': { type: 'boolean', default: false },
  'print-headers': { type: 'boolean', default: false },
  'print-offset': { type: 'boolean', default: false },
  'print-partition': { type: 'boolean', default: false },
  'key-separator': { type: 'string', default: '\t' },
} as const

const INT32_MAX = 2 ** 31 - 1

type Values = ReturnType<typeof parseClient<typeof options>>['values']

/** Runs the subcommand with the arguments behind `consume` and returns its exit code. */
export async function run(args: string[], io: Io): Promise<number> {
  const { values, positionals } = parseClient(args, options, USAGE)
  if (values.help) {
    io.stdout.write(USAGE)
    return 0
  }
  const topic = onlyName(positionals, 'TOPIC', USAGE)
  const whole = (name: 'partition' | 'max-messages' | 'timeout-ms', min: number, max: number) =>
    wholeOption(name, values[name], { min, max, usage: USAGE })
  const partition = whole('partition', 0, INT32_MAX)
  const wish = {
    topic,
    partition,
    startAt: startOf(values, partition),
    group: values.group,
    messagesMax: whole('max-messages', 0, Number.MAX_SAFE_INTEGER) ?? Number.POSITIVE_INFINITY,
    timeoutMs: whole('timeout-ms', 0, INT32_MAX) ?? Number.POSITIVE_INFINITY,
    toEnd: values['to-end'],
    format: formatOf(values),
    note: (line: string) => void io.stderr.write(`seglog: ${line}\n`),
  }
  if (wish.group === '') throw new UsageError('--group is empty', USAGE)
  const bootstrap = parseBootstrap(values['bootstrap-server'], USAGE)
  const output = new ByteOutput(io.stdout)
  const stop = stopSignal()
  try {
    await withCluster(bootstrap, (cluster) =>
      consume(cluster, wish, output, stop.signal, systemEnv),
    )
  } finally {
    stop.release()
    await output.end()
  }
  return output.failed ? 1 : 0
}

function startOf(values: Values, partition: number | undefined): StartAt {
  const { offset } = values
  if (offset === undefined) return values['from-beginning'] ? 'earliest' : 'latest'
  if (values['from-beginning']) {
    throw new UsageError('--offset and --from-beginning exclude each other', USAGE)
  }
  if (values.group !== undefined) {
    throw new UsageError('--offset and --group exclude each other', USAGE)
  }
  if (offset === 'earliest' || offset === 'latest') return offset
  if (!/^\d+$/.test(offset)) {
    throw new UsageError(
      `--offset takes a number, earliest or latest, not ${quoted(offset)}`,
      USAGE,
    )
  }
  if (partition === undefined) throw new UsageError('--offset N needs --partition', USAGE)
  return { offset: parseOffset('offset', offset, USAGE) }
}

function formatOf(values: Values): ConsumeFormat {
  return {
    json: values.json,
    printKey: values['print-key'],
    printTimestamp: values['print-timestamp'],
    printHeaders: values['print-headers'],
    printOffset: values['print-offset'],
    printPartition: values['print-partition'],
    separator: values['key-separator'],
  }
}

/** Aborts at the first signal; a second one ends the process as it always does. */
function stopSignal(): { signal: AbortSignal; release(): void } {
  const controller = new AbortController()
  const abort = () => {
    controller.abort()
    release()
  }
  const names = ['SIGINT', 'SIGTERM'] as const
  const release = () => {
    for (const name of names) process.off(name, abort)
  }
  for (const name of names) process.on(name, abort)
  return { signal: controller.signal, release }
}
