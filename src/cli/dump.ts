/**
 * `seglog dump PATH...`: prints what the files of a log hold, as Kafka's DumpLogSegments does.
 *
 * PATH is a .log, .index or .timeindex file, a checkpoint or another small file beside them, or the
 * directory of a partition, whose logs are dumped in the order of their offsets. A file is dumped
 * up to the first damage, then the next follows. Files are only read, and large ones in pieces.
 *
 * Exit codes: 0 all is whole; 1 damage was found or a file could not be read; 2 usage.
 */
import { readdirSync, statSync } from 'node:fs'
import { basename, join } from 'node:path'
import { parseArgs } from 'node:util'
import { commandLineFault } from '../arguments.js'
import { SeglogError } from '../errors.js'
import { dumpOffsetIndex, dumpTimeIndex } from './dump-index.js'
import { dumpLog } from './dump-log.js'
import { jsonReport, type Report, textReport } from './dump-report.js'
import { dumpSmallFile } from './dump-small-files.js'
import { FileWindow } from './file-window.js'
import { type Io, Output } from './output.js'
import { isSmallFile } from './small-files.js'

const USAGE = `usage: seglog dump [--records] [--print-data] [--json] PATH...
  PATH          a .log, .index, .timeindex or .snapshot file, a checkpoint, meta.properties,
                partition.metadata, or the directory of a partition
  --records     print the records of each batch too
  --print-data  print their values as well (implies --records)
  --json        one JSON object a line
exit code: 0 all is whole, 1 damage was found or a file could not be read, 2 usage`

interface Options {
  records: boolean
  printData: boolean
  json: boolean
  help: boolean
  paths: string[]
}

type Kind = 'log' | 'index' | 'timeindex'

interface Target {
  path: string
  kind: Kind
  /** From the name, where it is one of Kafka's. */
  baseOffset: number | undefined
}

function parse(args: string[]): Options {
  const { values, positionals } = parseArgs({
    args,
    allowPositionals: true,
    options: {
      records: { type: 'boolean', default: false },
      'print-data': { type: 'boolean', default: false },
      json: { type: 'boolean', default: false },
      help: { type: 'boolean', short: 'h', default: false },
    },
  })
  const printData = values['print-data'] === true
  return {
    records: values.records === true || printData,
    printData,
    json: values.json === true,
    help: values.help === true,
    paths: positionals,
  }
}

/** What a file is by its name: `%020d.log` and the like, also with the suffix of a deleted one. */
function targetOf(path: string): Target {
  const match = /^(.*)\.(log|index|timeindex)(?:\.[a-z]+)?$/.exec(basename(path))
  const [, stem = '', kind] = match ?? []
  if (kind !== 'log' && kind !== 'index' && kind !== 'timeindex') {
    throw new SeglogError('USAGE', 'neither a file of a log that is known nor a directory')
  }
  const number = /^\d{20}$/.test(stem) ? Number(stem) : undefined
  const baseOffset = Number.isSafeInteger(number) ? number : undefined
  if (baseOffset === undefined && kind !== 'log') {
    throw new SeglogError('USAGE', 'the name of an index must be its base offset in 20 digits')
  }
  return { path, kind, baseOffset }
}

function targetsOf(path: string): Target[] {
  if (!statSync(path).isDirectory()) return [targetOf(path)]
  const logs = readdirSync(path).filter((name) => /^\d{20}\.log$/.test(name))
  if (logs.length === 0) throw new SeglogError('NOT_FOUND', 'a directory without a .log file')
  return logs.sort().map((name) => targetOf(join(path, name)))
}

async function dumpTarget(
  target: Target,
  options: Options,
  report: Report,
  output: Output,
): Promise<boolean> {
  const file = new FileWindow(target.path)
  try {
    report.file(target.path, target.baseOffset)
    if (target.kind === 'log')
      return await dumpLog(file, target.baseOffset, options, report, output)
    const dumpIndex = target.kind === 'index' ? dumpOffsetIndex : dumpTimeIndex
    return await dumpIndex(file, target.baseOffset ?? 0, report, output)
  } finally {
    file.close()
  }
}

async function dumpPath(
  path: string,
  options: Options,
  report: Report,
  output: Output,
): Promise<boolean> {
  let damaged = false
  if (isSmallFile(path)) return dumpSmallFile(path, report, output)
  for (const target of targetsOf(path)) {
    if (output.closed) break
    if (await dumpTarget(target, options, report, output)) damaged = true
  }
  return damaged
}

/** Runs the subcommand with the arguments behind `dump` and returns its exit code. */
export async function run(args: string[], io: Io): Promise<number> {
  let options: Options
  try {
    options = parse(args)
  } catch (error) {
    io.stderr.write(`${USAGE}\nseglog: ${commandLineFault(error)}\n`)
    return 2
  }
  if (options.help) {
    io.stdout.write(`${USAGE}\n`)
    return 0
  }
  if (options.paths.length === 0) {
    io.stderr.write(`${USAGE}\n`)
    return 2
  }
  const output = new Output(io.stdout)
  const report = (options.json ? jsonReport : textReport)(output, options.printData)
  let exitCode = 0
  for (const path of options.paths) {
    try {
      if (await dumpPath(path, options, report, output)) exitCode = Math.max(exitCode, 1)
    } catch (error) {
      await output.flush()
      io.stderr.write(`seglog dump: ${path}: ${(error as Error).message}\n`)
      const isUsage = error instanceof SeglogError && error.code === 'USAGE'
      exitCode = Math.max(exitCode, isUsage ? 2 : 1)
    }
  }
  await output.end()
  return output.failed ? 1 : exitCode
}
