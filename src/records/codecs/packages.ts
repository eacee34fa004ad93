/**
 * Loads the optional package of a codec on first use, and gives the errors that the codecs share.
 */
import { createRequire } from 'node:module'
import { SeglogError } from '../../errors.js'

const require = createRequire(import.meta.url)

/** A package's export, or UNSUPPORTED_COMPRESSION with the name of what to install. */
export function loadPackage(name: string, codec: string, path = name): unknown {
  try {
    return require(path)
  } catch (cause) {
    throw new SeglogError(
      'UNSUPPORTED_COMPRESSION',
      `compression: ${codec} needs the npm package ${name}, which is missing or does not load here`,
      { cause },
    )
  }
}

/** Where a file of a package lies. */
export function packageFile(name: string, codec: string, path: string): string {
  try {
    return require.resolve(path)
  } catch (cause) {
    throw new SeglogError(
      'UNSUPPORTED_COMPRESSION',
      `compression: ${codec} needs the npm package ${name}, which is missing`,
      { cause },
    )
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
