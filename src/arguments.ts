/**
 * Checks of what a user passes in. A text names the field and what was given instead, since a wrong
 * type that is let through shows up much later, or never. Pure; every error is BAD_ARGUMENT.
 */
import { SeglogError } from './errors.js'

const TEXT_MAX = 40

/** The beginning of a text, in quotes and without what would steer a terminal. */
export function quoted(text: string): string {
  return JSON.stringify(text.length > TEXT_MAX ? `${text.slice(0, TEXT_MAX)}...` : text)
}

/** What a value is, in few words, however large it is. */
export function given(value: unknown): string {
  if (value === null || value === undefined) return String(value)
  if (typeof value === 'string') return `the text ${quoted(value)}`
  if (typeof value === 'bigint') return `${value}n`
  if (typeof value === 'number' || typeof value === 'boolean') return String(value)
  if (Array.isArray(value)) return 'an array'
  if (typeof value !== 'object') return `a ${typeof value}`
  const name: unknown = Object.getPrototypeOf(value)?.constructor?.name
  if (typeof name !== 'string' || name === 'Object') return 'an object'
  return `${/^[AEIO]/.test(name) ? 'an' : 'a'} ${name}`
}

export function badArgument(message: string): never {
  throw new SeglogError('BAD_ARGUMENT', message)
}

/** An object of options of `name` with no other fields than `known`; undefined is none of them. */
export function checkOptions(name: string, options: unknown, known: readonly string[]): void {
  if (options === undefined) return
  if (typeof options !== 'object' || options === null || Array.isArray(options)) {
    badArgument(`${name} takes an object of ${known.join(', ')}, not ${given(options)}`)
  }
  for (const field of Object.keys(options)) {
    if (known.includes(field)) continue
    badArgument(`${name} has no option "${field}"; it takes ${known.join(', ')}`)
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

/** What `parseArgs` of Node found wrong, without its advice on paths that begin with a dash. */
export function commandLineFault(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error)
  return text.replace(/\. To specify a positional argument .*$/s, '').replaceAll('\n', ' ')
}
