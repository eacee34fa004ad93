/**
 * Checks of what a user passes in. A text names the field and what was given instead, since a wrong
 * type that is let through shows up much later, or never. Pure; every error is BAD_ARGUMENT.
 */
import { SeglogError } from './errors.js'

const TEXT_MAX = 40

/** What a value is, in few words, however large it is. */
export function given(value: unknown): string {
  if (value === null || value === undefined) return String(value)
  if (typeof value === 'string') {
    const text = value.length > TEXT_MAX ? `${value.slice(0, TEXT_MAX)}...` : value
    return `the text ${JSON.stringify(text)}`
  }
  if (typeof value === 'bigint') return `${value}n`
  if (typeof value === 'number' || typeof value === 'boolean') return String(value)
  if (Array.isArray(value)) return 'an array'
  if (typeof value !== 'object') return `a ${typeof value}`
  const name: unknown = Object.getPrototypeOf(value)?.constructor?.name
  return typeof name === 'string' && name !== 'Object' ? `a ${name}` : 'an object'
}

export function badArgument(message: string): never {
  throw new SeglogError('BAD_ARGUMENT', message)
}

/** An object of options with no other fields than `known`; undefined is none of them. */
export function checkOptions(name: string, options: unknown, known: readonly string[]): void {
  if (options === undefined) return
  if (typeof options !== 'object' || options === null || Array.isArray(options)) {
    badArgument(`${name} is an object of ${known.join(', ')}, not ${given(options)}`)
  }
  for (const field of Object.keys(options)) {
    if (known.includes(field)) continue
    badArgument(`${name} has no "${field}"; it takes ${known.join(', ')}`)
  }
}

/** A whole number in [min, max]. */
export function checkWhole(name: string, value: unknown, min: number, max: number): number {
  if (typeof value === 'number' && Number.isSafeInteger(value) && value >= min && value <= max) {
    return value
  }
  const bound =
    max === 2 ** 31 - 1 ? '2^31 - 1' : max === Number.MAX_SAFE_INTEGER ? '2^53 - 1' : max
  return badArgument(`${name} is a whole number from ${min} to ${bound}, not ${given(value)}`)
}

/** A number of bytes to read: whole or Infinity, at least 0. */
export function checkBytes(name: string, value: unknown): number {
  if (value === Infinity) return value
  if (typeof value === 'number' && Number.isSafeInteger(value) && value >= 0) return value
  return badArgument(`${name} is a whole number of bytes from 0, or Infinity, not ${given(value)}`)
}

export function checkBoolean(name: string, value: unknown): boolean {
  if (typeof value === 'boolean') return value
  return badArgument(`${name} is true or false, not ${given(value)}`)
}
