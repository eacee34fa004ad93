/** Options of what `npm run torture` and `fuzz` start: a wrong one ends it with 2. */
import { type ParseArgsConfig, parseArgs } from 'node:util'

function exit(text: string): never {
  process.stderr.write(`${text}; --help says what there is\n`)
  process.exit(2)
}

type Options = NonNullable<ParseArgsConfig['options']>
type Values<O extends Options> = ReturnType<typeof parseArgs<{ options: O }>>['values']

export function optionsOrExit<const O extends Options>(options: O): Values<O> {
  try {
    return parseArgs({ options }).values
  } catch (error) {
    return exit(error instanceof Error ? error.message : String(error))
  }
}

/** A whole number from `min` to 2^53 - 1. */
export function wholeOrExit(name: string, text: string, min: number): number {
  const value = /^\d{1,16}$/.test(text) ? Number(text) : Number.NaN
  if (Number.isSafeInteger(value) && value >= min) return value
  return exit(`--${name} takes a whole number from ${min} on, not ${text}`)
}
