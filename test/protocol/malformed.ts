/** What every reading of hostile bytes must end in, and nothing else. */
import { SeglogError } from '../../src/errors.js'

export function isMalformed(error: unknown): boolean {
  return error instanceof SeglogError && error.code === 'MALFORMED_FRAME'
}

export function isBadArgument(error: unknown): boolean {
  return error instanceof SeglogError && error.code === 'BAD_ARGUMENT'
}
