/**
 * Small files that are replaced as a whole: written beside, synced, renamed over the old one, and
 * the directory synced. After a crash at any point either the old or the new content is there in
 * full; a `.tmp` file left over is overwritten by the next write. The file's owner lets no two
 * writes of one path overlap.
 */
import { type FileHandle, mkdir, open, readdir, stat, unlink } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import { SeglogError } from './errors.js'
import { replaceFile, syncPath } from './native-files.js'

/** No file here is larger when it is sound; a larger one is not read into memory. */
const sizeBytesMax = 64 * 1024 * 1024

/**
 * Replaces `path` by `content`, on disk once the promise resolves. Errors: NO_SPACE,
 * TOO_MANY_FILES, IO.
 */
export async function writeAtomically(path: string, content: string | Uint8Array): Promise<void> {
  await replaceFile(path, typeof content === 'string' ? Buffer.from(content) : content)
}

/** Removes `path` where it is there, durably. Returns whether it was. Errors: IO. */
export async function removeDurably(path: string): Promise<boolean> {
  try {
    await unlink(path)
    await syncDirectory(dirname(path))
    return true
  } catch (error) {
    if (isMissing(error)) return false
    throw ioError(path, error)
  }
}

/**
 * The whole content, or undefined where there is no such file. Errors: TOO_LARGE, TOO_MANY_FILES,
 * IO.
 */
export async function readSmall(path: string): Promise<Buffer | undefined> {
  try {
    const found = await stat(path)
    // A pipe would keep the reader waiting for ever.
    if (!found.isFile()) throw new SeglogError('IO', `${path} is no regular file`)
    const { size } = found
    if (size > sizeBytesMax) throw new SeglogError('TOO_LARGE', `${path}: ${size} bytes`)
    return await withFile(await open(path, 'r'), (file) => file.readFile())
  } catch (error) {
    if (isMissing(error)) return undefined
    throw ioError(path, error)
  }
}

/** Makes the entries of a directory durable. */
export async function syncDirectory(path: string): Promise<void> {
  const unopened = await syncPath(path)
  if (unopened) throw unopened
}

async function withFile<T>(file: FileHandle, work: (file: FileHandle) => Promise<T>): Promise<T> {
  try {
    return await work(file)
  } finally {
    await file.close()
  }
}

function errorCode(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error ? String(error.code) : undefined
}

/** Whether a call of `node:fs` failed because there is no such file. */
export const isMissing = (error: unknown): boolean => errorCode(error) === 'ENOENT'

/**
 * Makes a directory and its parents where missing, and the entries of those that were made durable.
 * Errors: NO_SPACE, TOO_MANY_FILES, IO.
 */
export async function makeDirectory(path: string): Promise<void> {
  try {
    await makeWithParents(resolve(path))
  } catch (error) {
    throw ioError(path, error)
  }
}

/** Not Node's own recursion, which never ends under /proc. */
async function makeWithParents(path: string): Promise<void> {
  const missing: string[] = []
  let at = path
  while (!(await isDirectory(at))) {
    missing.push(at)
    at = dirname(at)
  }
  await settleEmpty(at)
  for (const each of missing.reverse()) {
    await mkdir(each).catch(async (error) => {
      // Another process, or another partition of the same start, may have been first.
      if (errorCode(error) !== 'EEXIST' || !(await isDirectory(each))) throw error
    })
    await syncDirectory(dirname(each))
  }
}

/**
 * An empty directory may be what an attempt left that ended before it could make the entry durable.
 * Where the parent may not be read, somebody else made it.
 */
async function settleEmpty(path: string): Promise<void> {
  const names = await readdir(path).catch((error) => {
    if (errorCode(error) === 'EMFILE' || errorCode(error) === 'ENFILE') throw error
    return undefined
  })
  if (names?.length !== 0 || path === dirname(path)) return
  const unopened = await syncPath(dirname(path))
  if (unopened?.code === 'TOO_MANY_FILES') throw unopened
}

/** False where there is nothing; anything else in its place is for mkdir to refuse. */
async function isDirectory(path: string): Promise<boolean> {
  try {
    return (await stat(path)).isDirectory() || path === dirname(path)
  } catch (error) {
    if (isMissing(error)) return false
    throw error
  }
}

const codes = {
  ENOSPC: 'NO_SPACE',
  EDQUOT: 'NO_SPACE',
  EMFILE: 'TOO_MANY_FILES',
  ENFILE: 'TOO_MANY_FILES',
} as const

/** What a failed operation of Node's file system is to us: NO_SPACE, TOO_MANY_FILES or IO. */
export function ioError(path: string, cause: unknown): SeglogError {
  if (cause instanceof SeglogError) return cause
  const code = codes[errorCode(cause) as keyof typeof codes] ?? 'IO'
  const errno = cause instanceof Error && 'errno' in cause ? Math.abs(Number(cause.errno)) : 0
  const text = cause instanceof Error ? cause.message : String(cause)
  return new SeglogError(code, `${path}: ${text}`, { cause, ...(errno ? { errno } : {}) })
}
