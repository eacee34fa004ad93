/**
 * `seglog repair PATH`: verifies a partition's directory or a log directory, then mends what can be
 * mended without a loss, and with --drop-damaged the rest. What is changed is copied before, and
 * the copies stay.
 *
 * Holds the locks of the directory from before the first read to the end; a dry run takes none.
 */
import { readdirSync, statSync } from 'node:fs'
import { isAbsolute, join, relative, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { commandLineFault } from '../arguments.js'
import { systemEnv } from '../env.js'
import type { DirectoryLock } from '../storage/directory-lock.js'
import { parsePartitionDirectory } from '../storage/log-files.js'
import { counted, type Io, Output } from './output.js'
import { Backup } from './repair-backup.js'
import { lockLogDirectory, lockPartition, release } from './repair-locks.js'
import { PartitionRepair } from './repair-partition.js'
import { Actions } from './repair-report.js'
import { UsageError } from './usage.js'
import { verifyLogDirectory } from './verify-directory.js'
import { Findings } from './verify-findings.js'
import { type VerifiedLog, verifyPartition } from './verify-partition.js'
import { isLogDirectory, isPartition } from './verify-target.js'

const USAGE = `usage: seglog repair [--dry-run] [--drop-damaged] [--backup DIR] [--json] PATH
  PATH            a partition's directory, or a log directory with all its partitions
  --dry-run       say what would be done, and change nothing
  --drop-damaged  leave damaged batches out where sound ones follow; otherwise they are kept
  --backup        where the copies of changed files go; PATH.backup-TIME unless given, for a
                  partition in a log directory beside that directory
  --json          one JSON object a line
exit code: 0 all is sound now, 1 faults are left or it failed, 2 usage
`

interface Options {
  /** As it was given: what is printed begins with it. */
  path: string
  dryRun: boolean
  dropDamaged: boolean
  backup: string | undefined
  json: boolean
}

/** Runs the subcommand with the arguments behind `repair` and returns its exit code. */
export async function run(args: string[], io: Io): Promise<number> {
  const options = parse(args)
  if (options === undefined) {
    io.stdout.write(USAGE)
    return 0
  }
  const kind = kindOf(options.path)
  const backup = new Backup(resolve(options.path), options.backup, systemEnv.now())
  const output = new Output(io.stdout)
  const locks = options.dryRun ? [] : locksOf(resolve(options.path), kind)
  try {
    const findings = new Findings(output, options.json)
    const actions = new Actions(output, options)
    const logs = await verifyAll(options.path, kind, findings)
    findings.summary()
    // What was not read to its end is not to be judged.
    if (output.closed) return 1
    await repairAll(logs, new PartitionRepair(options, backup, actions))
    if (backup.isUsed) {
      const { directory } = backup
      const shown = isAbsolute(options.path) ? directory : relative('', directory)
      actions.say('backup', shown, 'copies of what was changed, as it was')
    }
    const unread = counted(findings.unreadable, 'file or folder', 'files or folders')
    if (findings.unreadable > 0) actions.kept(options.path, `${unread} cannot be read`)
    return actions.keptCount > 0 || (options.dryRun && findings.faults > 0) ? 1 : 0
  } finally {
    release(locks)
    await output.end()
  }
}

function parse(args: string[]): Options | undefined {
  try {
    const { values, positionals } = parseArgs({
      args,
      allowPositionals: true,
      options: {
        'dry-run': { type: 'boolean', default: false },
        'drop-damaged': { type: 'boolean', default: false },
        backup: { type: 'string' },
        json: { type: 'boolean', default: false },
        help: { type: 'boolean', short: 'h' },
      },
    })
    if (values.help) return undefined
    const [path] = positionals
    if (path !== undefined && positionals.length === 1) {
      return {
        path,
        dryRun: values['dry-run'],
        dropDamaged: values['drop-damaged'],
        backup: values.backup,
        json: values.json,
      }
    }
  } catch (error) {
    throw new UsageError(commandLineFault(error), USAGE)
  }
  throw new UsageError('one PATH is needed, the directory of a partition or a log directory', USAGE)
}

type Kind = 'partition' | 'log-directory'

function kindOf(path: string): Kind {
  if (statSync(path).isDirectory()) {
    if (isPartition(path)) return 'partition'
    if (isLogDirectory(path)) return 'log-directory'
  }
  throw new UsageError(`${path} is neither a partition's directory nor a log directory`, USAGE)
}

function locksOf(path: string, kind: Kind): DirectoryLock[] {
  if (kind === 'partition') return lockPartition(path)
  const partitions = readdirSync(path).filter((name) => parsePartitionDirectory(name))
  return lockLogDirectory(path, partitions)
}

async function verifyAll(path: string, kind: Kind, findings: Findings): Promise<VerifiedLog[]> {
  if (kind === 'partition') return [await verifyPartition(path, findings)]
  const { logs, faultyFiles } = await verifyLogDirectory(path, findings)
  return [...logs.values(), { segments: [], faultyFiles: faultyFiles.map((n) => join(path, n)) }]
}

async function repairAll(logs: readonly VerifiedLog[], repair: PartitionRepair): Promise<void> {
  for (const log of logs) await repair.run(log)
}
