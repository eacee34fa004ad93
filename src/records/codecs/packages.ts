/**
 * Loads the optional package of a codec on first use, and gives the errors that the codecs share.
 * A package that does not load for want of descriptors is not missing: that is TOO_MANY_FILES, and
 * the next call tries again.
 */
import { closeSync, openSync } from 'node:fs'
import { createRequire } from 'node:module'
import { devNull } from 'node:os'
import { SeglogError } from '../../errors.js'

const require = createRequire(import.meta.url)

/** Node's loader says that a file is not there where it could not be opened: so this asks. */
function outOfDescriptors(): boolean {
  try {
    closeSync(openSync(devNull, 'r'))
    return false
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    return code === 'EMFILE' || code === 'ENFILE'
  }
}

function notLoaded(name: string, codec: string, cause: unknown): SeglogError {
  if (outOfDescriptors()) {
    const what = `compression: no descriptor is left to load the npm package ${name} with`
    return new SeglogError('TOO_MANY_FILES', what, { cause })
  }
  const what = `compression: ${codec} needs the npm package ${name}, which is missing or does not`
  return new SeglogError('UNSUPPORTED_COMPRESSION', `${what} load here`, { cause })
}

/**
 * A package's export. Errors: UNSUPPORTED_COMPRESSION with the name of what to install,
 * TOO_MANY_FILES.
 */
export function loadPackage(name: string, codec: string, path = name): unknown {
  try {
    return require(path)
  } catch (cause) {
    throw notLoaded(name, codec, cause)
  }
}

/** Where a file of a package lies. */
export function packageFile(name: string, codec: string, path: string): string {
  try {
    return require.resolve(path)
  } catch (cause) {
    throw notLoaded(name, codec, cause)
  }
}

export function corrupt(codec: string, what: string, cause?: unknown): SeglogError {
  return new SeglogError('CORRUPT', `compression: ${codec}: ${what}`, { cause })
}

export function tooLarge(codec: string, maxOutputBytes: number): SeglogError {
  return new SeglogError(
    'TOO_LARGE',
    `compression: ${codec}: more than ${maxOutputBytes} bytes of records in one batch`,
  )
}

export function checkLevel(codec: string, level: number, min: number, max: number): void {
  if (!Number.isInteger(level) || level < min || level > max) {
    throw new SeglogError(
      'BAD_ARGUMENT',
      `compression: the level of ${codec} is a whole number from ${min} to ${max}`,
    )
  }
}
