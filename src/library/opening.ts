/**
 * Opens the log of a folder for its one writer: locks, what the folder remembers, and what is made
 * of it where it does not fit the segments.
 */
import { dirname, join } from 'node:path'
import { makeDirectory } from '../atomic-file.js'
import type { Env } from '../env.js'
import { SeglogError } from '../errors.js'
import { iterateBatches } from '../records/batch.js'
import { type DirectoryLock, lockExclusively, lockShared } from '../storage/directory-lock.js'
import { Log } from '../storage/log.js'
import { defaultLogOptions, type LogTuning } from '../storage/log-options.js'
import { FolderState, isDataDirectory, type Remembered } from './folder-state.js'

/** A log with the locks that go with it, all for the caller to let go of. */
export interface Opened {
  log: Log
  locks: readonly DirectoryLock[]
  folder: FolderState
}

/** Rejects with LOCKED, CORRUPT, TOO_MANY_FILES, NO_SPACE, IO; nothing is held then. */
export async function openForWriting(
  path: string,
  tuning: Partial<LogTuning>,
  env: Env,
): Promise<Opened> {
  await makeDirectory(path)
  const locks = takeLocks(path)
  try {
    const { known, state } = await FolderState.take(path, env)
    const log = await openAsRemembered(path, known, tuning, env)
    if (known.warning !== undefined) log.report.damage ??= known.warning
    state.attach(log)
    if (known.recoveryPoint === undefined) await begin(log, state)
    return { log, locks, folder: state }
  } catch (error) {
    for (const lock of locks) lock.release()
    throw error
  }
}

/**
 * Nothing said what of the log is on disk, so it was taken as it is. From now on the folder says
 * it: then what a loss of power tears is known to be new, and is cut.
 */
async function begin(log: Log, state: FolderState): Promise<void> {
  try {
    await log.flush()
    await state.begin()
  } catch (error) {
    // What is there already can be read on a full disk too, and the next sync tries again. A log
    // that is new has nothing to read, and what were written to it could not be told from what was.
    if (log.endOffset > log.startOffset) return
    await log.close().catch(() => {})
    throw error
  }
}

/**
 * The directory's own lock, and, in the data directory of a broker, the one that a broker would
 * take.
 */
function takeLocks(path: string): DirectoryLock[] {
  const own = lockExclusively(join(path, '.lock'))
  const parent = dirname(path)
  if (!isDataDirectory(parent)) return [own]
  try {
    return [own, lockShared(join(parent, '.lock'))]
  } catch (error) {
    own.release()
    throw error
  }
}

async function openAsRemembered(
  path: string,
  known: Remembered,
  tuning: Partial<LogTuning>,
  env: Env,
): Promise<Log> {
  const { clean, recoveryPoint, logStartOffset } = known
  const options = { ...defaultLogOptions, ...tuning, logStartOffset }
  if (!clean) return Log.open(path, { ...options, recoveryPoint }, env.now(), env)
  const log = await Log.open(path, { ...options, clean, recoveryPoint }, env.now(), env)
  if (isAsClosed(log, recoveryPoint)) return log
  // Somebody changed, cut or put back files since: what they remember is of another log.
  const found = `it was closed at ${recoveryPoint} and ends at ${log.endOffset}`
  await log.close()
  const again = await Log.open(path, { ...options, recoveryPoint }, env.now(), env)
  again.report.damage ??= `${path} was changed after it was closed (${found}); it was read anew`
  return again
}

/** Whether the log ends where it was closed, with a whole batch. */
function isAsClosed(log: Log, end: number | undefined): boolean {
  if (log.endOffset !== end || log.report.damage !== undefined) return false
  try {
    if (end > log.startOffset) log.slice(end - 1, 1)
    return true
  } catch (error) {
    if (error instanceof SeglogError && error.code === 'CORRUPT') return false
    throw error
  }
}

/** Where the batch begins that holds `offset`; the log's start where that cannot be told. */
export function batchBase(log: Log, offset: number): number {
  try {
    const bytes = log.slice(Math.max(offset, log.startOffset), 1)?.bytes()
    for (const { header } of iterateBatches(bytes ?? noBytes)) {
      return Math.min(offset, header.baseOffset)
    }
  } catch {
    // Damaged: the lowest is always right, and only costs a longer scan after a crash.
  }
  return Math.min(offset, log.startOffset)
}

const noBytes = new Uint8Array(0)
