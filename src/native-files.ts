/**
 * Small files and directories brought to the disk by the addon, one job of the pool each. A job
 * owns its descriptor, so that a worker that is terminated meanwhile leaves none open, which those
 * of Node's own file system do.
 */
import { closeSync, fsyncSync, openSync } from 'node:fs'
import { SeglogError } from './errors.js'
import { native, Status, statusError } from './native.js'

interface FileAddon {
  fileReplace(path: string, bytes: Uint8Array): Promise<void>
  pathSync(path: string): Promise<number>
}

const addon = native as unknown as FileAddon

/** What a job of the addon rejects with. */
interface JobError {
  status: number
  errno: number
}

/** That a directory is not there is no answer to any question here. */
function named(path: string, error: unknown): SeglogError {
  const { status, errno } = error as JobError
  return statusError(status === Status.NOT_FOUND ? Status.IO : status, path, errno)
}

/**
 * Writes `<path>.tmp`, syncs it, renames it to `path`, and syncs the directory; `bytes` may change
 * once the call returns. Where it fails, `<path>.tmp` is removed. Rejects with NO_SPACE,
 * TOO_MANY_FILES, IO.
 */
export async function replaceFile(path: string, bytes: Uint8Array): Promise<void> {
  try {
    await addon.fileReplace(path, bytes)
  } catch (error) {
    throw named(path, error)
  }
}

/**
 * Syncs a file or directory. Resolves with undefined, or with why it could not be opened, in which
 * case nothing is lost; rejects with IO or NO_SPACE where the sync failed.
 */
export async function syncPath(path: string): Promise<SeglogError | undefined> {
  let errno: number
  try {
    errno = await addon.pathSync(path)
  } catch (error) {
    throw named(path, error)
  }
  return errno === 0 ? undefined : unopened(path, errno)
}

/** As `syncPath`, before it returns. Throws what that rejects with. */
export function syncPathNow(path: string): SeglogError | undefined {
  let fd: number
  try {
    fd = openSync(path, 'r')
  } catch (error) {
    return unopened(path, -(error as NodeJS.ErrnoException).errno!)
  }
  try {
    fsyncSync(fd)
  } catch (error) {
    throw statusError(Status.IO, path, -(error as NodeJS.ErrnoException).errno!)
  } finally {
    closeSync(fd)
  }
  return undefined
}

function unopened(path: string, errno: number): SeglogError {
  const many = errno === 24 || errno === 23
  const text = `${path} cannot be opened for its sync`
  return new SeglogError(many ? 'TOO_MANY_FILES' : 'IO', text, { errno })
}
