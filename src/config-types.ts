/**
 * Kinds of configuration values: how one is read from text, which values are allowed, and how that
 * is said to people. `config-keys.ts` builds its table of these; `config.ts` reads whole
 * configurations with it.
 */

/**
 * Whether setting a key changes anything: it does; it is checked but has no effect yet; it never
 * will have one.
 */
export type Effect = 'yes' | 'not yet' | 'none'

export type TypeName =
  | 'int'
  | 'short'
  | 'long'
  | 'double'
  | 'boolean'
  | 'string'
  | 'list'
  | 'class'
  | 'password'

/** Another name that a key may be given under. */
export interface Alias {
  name: string
  /** What the value under this name is multiplied by, for example 60,000 for minutes. */
  factor?: number
  /**
   * What it is described with while it is not given, null where Kafka leaves it unset. Without one
   * it is the same key under another name.
   */
  defaultText?: string | null
}

export interface Key<T> {
  readonly type: TypeName
  /** As one would write it into server.properties. */
  readonly defaultText: string
  /** The allowed values, for people. */
  readonly range: string
  /** One or two sentences. */
  readonly text: string
  readonly effect: Effect
  /** Earlier ones win over later ones. */
  readonly aliases: readonly Alias[]
  /** Kafka leaves the key itself unset, and another one of its keys gives the default. */
  readonly isUnset: boolean
  /** Whether it can be changed while a broker runs (KIP-226). */
  readonly isDynamic: boolean
  /** The value of a text, or undefined where it is not allowed. */
  read(text: string): T | undefined
}

export interface KeyOptions {
  effect?: Effect
  aliases?: readonly Alias[]
  isUnset?: boolean
  isDynamic?: boolean
}

interface Bounds extends KeyOptions {
  min?: number
  max?: number
}

const int32Max = 2147483647
const int64Max = 9223372036854775807n

const shared = (text: string, options: KeyOptions) => ({
  text,
  effect: options.effect ?? 'yes',
  aliases: options.aliases ?? [],
  isUnset: options.isUnset ?? false,
  isDynamic: options.isDynamic ?? false,
})

/** A whole number of 32 bits. */
export function int(value: number, text: string, options: Bounds = {}): Key<number> {
  const { min = -int32Max - 1, max = int32Max } = options
  return {
    type: 'int',
    defaultText: String(value),
    range: `${min} to ${max}`,
    ...shared(text, options),
    read: (written) => {
      const number = wholeNumber(written)
      return number !== undefined && number >= min && number <= max ? Number(number) : undefined
    },
  }
}

/** A whole number of 16 bits. */
export function short(value: number, text: string, options: Bounds = {}): Key<number> {
  return { ...int(value, text, { min: -32_768, max: 32_767, ...options }), type: 'short' }
}

/**
 * A whole number of 64 bits. One above 2^53-1, which Kafka's own default for "never" is, reads as
 * Infinity: such a value serves as a bound to compare with, and no timer is set for it.
 */
export function long(value: number | bigint, text: string, options: Bounds = {}): Key<number> {
  const { min, max = int64Max } = options
  return {
    type: 'long',
    defaultText: String(value),
    range: min === undefined ? 'any' : max === int64Max ? `${min} or more` : `${min} to ${max}`,
    ...shared(text, options),
    read: (written) => {
      const number = wholeNumber(written)
      if (number === undefined || number > max) return undefined
      if (number < (min ?? -int64Max - 1n)) return undefined
      const exact = Number(number)
      if (Number.isSafeInteger(exact)) return exact
      return number > 0n ? Number.POSITIVE_INFINITY : Number.NEGATIVE_INFINITY
    },
  }
}

/** `never` of Kafka: the largest 64-bit number. */
export const never = int64Max

export function double(
  value: number,
  text: string,
  { min = 0, max = 1, ...options }: Bounds,
): Key<number> {
  return {
    type: 'double',
    defaultText: String(value),
    range: `${min} to ${max}`,
    ...shared(text, options),
    read: (written) => {
      const number = /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(written) ? Number(written) : NaN
      return number >= min && number <= max ? number : undefined
    },
  }
}

export function boolean(value: boolean, text: string, options: KeyOptions = {}): Key<boolean> {
  return {
    type: 'boolean',
    defaultText: String(value),
    range: 'true, false',
    ...shared(text, options),
    read: (written) => {
      const word = written.toLowerCase()
      return word === 'true' || word === 'false' ? word === 'true' : undefined
    },
  }
}

export function string(value: string, text: string, options: KeyOptions = {}): Key<string> {
  return {
    type: 'string',
    defaultText: value,
    range: 'any',
    ...shared(text, options),
    read: (written) => written,
  }
}

/** The name of a class of Kafka's plugins, which there are none of here. */
export function className(value: string, text: string, options: KeyOptions = {}): Key<string> {
  return { ...string(value, text, options), type: 'class' }
}

/** A text that is told to nobody. */
export function password(text: string, options: KeyOptions = {}): Key<string> {
  return { ...string('', text, { isUnset: true, ...options }), type: 'password' }
}

/** One of some words. */
export function choice<const T extends string>(
  value: T,
  choices: readonly T[],
  text: string,
  options: KeyOptions = {},
): Key<T> {
  return {
    type: 'string',
    defaultText: value,
    range: choices.join(', '),
    ...shared(text, options),
    read: (written) => choices.find((word) => word === written),
  }
}

interface ListOptions extends KeyOptions {
  /** What an entry is, for people. */
  of?: string
  /** Whether there may be none. */
  empty?: boolean
  /** Whether one entry is allowed. */
  check?: (entry: string) => boolean
}

/** Values separated by commas. */
export function list(
  value: string,
  text: string,
  { of = 'any', empty = true, check = () => true, ...options }: ListOptions = {},
): Key<readonly string[]> {
  return {
    type: 'list',
    defaultText: value,
    range: of === 'any' ? 'any' : `a list of ${of}`,
    ...shared(text, options),
    read: (written) => {
      const entries = written === '' ? [] : written.split(',').map((entry) => entry.trim())
      if (entries.length === 0) return empty ? entries : undefined
      return entries.every((entry) => entry !== '' && check(entry)) ? entries : undefined
    },
  }
}

function wholeNumber(written: string): bigint | undefined {
  return /^[+-]?\d{1,20}$/.test(written) ? BigInt(written.replace('+', '')) : undefined
}

/** Keys of parts that this broker does not have: checked, kept and described. */
export function inert(
  keys: Readonly<Record<string, Key<unknown>>>,
  isDynamic = false,
): Record<string, Key<unknown>> {
  const entries = Object.entries(keys)
  return Object.fromEntries(
    entries.map(([name, key]) => [name, { ...key, effect: 'none', isDynamic }]),
  )
}
