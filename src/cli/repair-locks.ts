/**
 * The locks that a repair holds, so that neither a broker nor a log that is open in a program works
 * on the same files: those that `openLog` and the broker take.
 */
import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { type DirectoryLock, lockExclusively, lockShared } from '../storage/directory-lock.js'

/** For a partition's directory. Errors: LOCKED, IO. */
export function lockPartition(directory: string): DirectoryLock[] {
  const locks = [lockExclusively(join(directory, '.lock'))]
  const parent = dirname(directory)
  try {
    if (existsSync(join(parent, 'meta.properties')) || existsSync(join(parent, '.lock'))) {
      locks.push(lockShared(join(parent, '.lock')))
    }
    return locks
  } catch (error) {
    release(locks)
    throw error
  }
}

/** For a log directory and those of its partitions that were opened by themselves before. */
export function lockLogDirectory(directory: string, partitions: readonly string[]) {
  const locks = [lockExclusively(join(directory, '.lock'))]
  try {
    for (const name of partitions) {
      const path = join(directory, name, '.lock')
      if (existsSync(path)) locks.push(lockExclusively(path))
    }
    return locks
  } catch (error) {
    release(locks)
    throw error
  }
}

export function release(locks: readonly DirectoryLock[]): void {
  for (const lock of locks) lock.release()
}
