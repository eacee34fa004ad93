/**
 * Offsets as users write and get them. Outside they are bigint, and number and string are accepted
 * where they are exact; inside, a number is enough up to 2^53 - 1, and what is above is refused,
 * never rounded.
 */
import { badArgument, given } from './arguments.js'
import { SeglogError } from './errors.js'

export type Offset = bigint | number | string

/** The offset as a number. Errors: BAD_ARGUMENT (not a whole number from 0), OFFSET_TOO_LARGE. */
export function offsetNumber(offset: Offset, name: string): number {
  const value = exact(offset)
  if (value === undefined || value < 0n) {
    badArgument(`${name} is no offset (a whole number from 0): ${given(offset)}`)
  }
  if (value > BigInt(Number.MAX_SAFE_INTEGER)) {
    throw new SeglogError('OFFSET_TOO_LARGE', `${name} is above 2^53 - 1: ${value}`)
  }
  return Number(value)
}

function exact(offset: Offset): bigint | undefined {
  if (typeof offset === 'bigint') return offset
  if (typeof offset === 'number') return Number.isSafeInteger(offset) ? BigInt(offset) : undefined
  return typeof offset === 'string' && /^\d{1,20}$/.test(offset) ? BigInt(offset) : undefined
}
