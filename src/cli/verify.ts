/**
 * `seglog verify PATH...`: reads everything that the files of logs hold, and names each fault with
 * its file, byte and offset. Goes on behind a fault. Only reads, in bounded memory, and takes no
 * lock: a directory in use may be verified, where the end of a log may be a write under way.
 *
 * PATH is a .log file, whose indexes are verified with it, another file of a log, a partition's
 * directory or a log directory.
 */
import { readdirSync, statSync } from 'node:fs'
import { basename } from 'node:path'
import { parseArgs } from 'node:util'
import { commandLineFault } from '../arguments.js'
import { segmentBaseOffset } from '../storage/log-files.js'
import { type Io, Output } from './output.js'
import { isSmallFile } from './small-files.js'
import { UsageError } from './usage.js'
import { verifyLogDirectory } from './verify-directory.js'
import { Findings, messageOf } from './verify-findings.js'
import { verifyPartition, verifySegment } from './verify-partition.js'
import { verifySmallFile } from './verify-small-files.js'
import { isLogDirectory, isPartition } from './verify-target.js'

const USAGE = `usage: seglog verify [--json] PATH...
  PATH    a .log file (its indexes are verified with it), a checkpoint or another small file of a
          log, a partition's directory, or a log directory with all its partitions
  --json  one JSON object a line
exit code: 0 all is sound, 1 faults were found or not all could be read, 2 usage
`

export const finishesUnread = true

/** Runs the subcommand with the arguments behind `verify` and returns its exit code. */
export async function run(args: string[], io: Io): Promise<number> {
  const { values, positionals } = parse(args)
  if (values.help) {
    io.stdout.write(USAGE)
    return 0
  }
  if (positionals.length === 0) throw new UsageError('a PATH is needed', USAGE)
  const output = new Output(io.stdout)
  const findings = new Findings(output, values.json === true)
  try {
    for (const path of positionals) await verifyPath(path, findings)
    findings.summary()
  } finally {
    await output.end()
  }
  return findings.faults > 0 || output.failed ? 1 : 0
}

function parse(args: string[]) {
  try {
    return parseArgs({
      args,
      allowPositionals: true,
      options: { json: { type: 'boolean' }, help: { type: 'boolean', short: 'h' } },
    })
  } catch (error) {
    throw new UsageError(commandLineFault(error), USAGE)
  }
}

async function verifyPath(path: string, findings: Findings): Promise<void> {
  let isDirectory: boolean
  try {
    isDirectory = statSync(path).isDirectory()
    if (isDirectory) readdirSync(path)
  } catch (error) {
    findings.fault(path, 'unreadable', messageOf(error))
    return
  }
  if (!isDirectory) return verifyFile(path, findings)
  if (isPartition(path)) {
    await verifyPartition(path, findings)
  } else if (isLogDirectory(path)) {
    await verifyLogDirectory(path, findings)
  } else {
    throw new UsageError(`${path} is neither a partition nor a log directory: no log in it`, USAGE)
  }
}

async function verifyFile(path: string, findings: Findings): Promise<void> {
  const name = basename(path)
  if (/\.log(\.[a-z]+)?$/.test(name)) {
    await verifySegment({ path, baseOffset: segmentBaseOffset(name) }, findings)
  } else if (isSmallFile(path)) {
    await verifySmallFile(path, findings)
  } else {
    throw new UsageError(`${path} is no file that can be verified by itself`, USAGE)
  }
}
