/**
 * Values that fit a table: made at random, and turned into and out of the JSON that Kafka's own
 * converters read (bytes as base64, everything else as it is).
 */
import { Field } from '../../src/protocol/schema.js'
import type { Type } from '../../src/protocol/types.js'
import type { Random } from '../protocol/random.js'

type AnyType = Type<unknown, unknown>
export type Values = Record<string, unknown>

/** The fields of a struct that a version has, in the order of the wire. */
export function fieldsOf(type: AnyType, version: number): [string, Field<unknown, unknown>][] {
  const fields: [string, Field<unknown, unknown>][] = []
  for (const [name, field] of type.fields ?? []) {
    if (!(field instanceof Field)) throw new Error(`${name} is no field`)
    if (version >= field.from && version <= field.to) fields.push([name, field])
  }
  return fields
}

const INT64 = [
  0,
  -1,
  1,
  0x7fffffff,
  0x80000000,
  0x100000000,
  -0x100000001,
  2 ** 53 - 1,
  1 - 2 ** 53,
]
const STRINGS = [
  '',
  'orders',
  'a.b_c-9',
  'żółw 🐢',
  'x'.repeat(42),
  'é'.repeat(43),
  'y'.repeat(300),
]

/** A random value of a type; what it is made of covers the bounds of each type. */
export function generate(type: AnyType, version: number, random: Random): unknown {
  if (version >= type.nullableFrom && random.chance(0.2)) return null
  switch (type.kind) {
    case 'bool':
      return random.chance(0.5)
    case 'int8':
      return random.pick([0, 1, -1, 127, -128])
    case 'int16':
      return random.pick([0, 1, -1, 0x7fff, -0x8000, 300])
    case 'int32':
      return random.pick([0, 1, -1, 0x7fffffff, -0x80000000, 70_000])
    case 'int64':
      return random.pick(INT64)
    case 'float64':
      return random.pick([0, -1.5, 1e300, 2 ** -40])
    case 'uuid':
      return Buffer.from(random.bytes(16)).toString('base64url')
    case 'string':
      return random.pick(STRINGS)
    case 'bytes':
    case 'records':
      return random.bytes(random.pick([0, 1, 40, 126, 127, 20_000]))
    case '[]':
      return Array.from({ length: random.below(4) }, () => generate(type.item!, version, random))
    case 'struct':
      return generateStruct(type, version, random)
    default:
      throw new Error(`no values for ${type.kind}`)
  }
}

/** A struct with every field of the version, tagged ones only now and then. */
export function generateStruct(type: AnyType, version: number, random: Random): Values {
  const value: Values = {}
  for (const [name, field] of fieldsOf(type, version)) {
    if (field.tag !== undefined && random.chance(0.5)) continue
    value[name] = generate(field.type, version, random)
  }
  return value
}

/**
 * What reading `value` back gives: fields that were left out, or that the version lacks, have their
 * default.
 */
export function completed(type: AnyType, value: unknown, version: number): unknown {
  if (value === null) return null
  if (type.kind === '[]') {
    return (value as unknown[]).map((item) => completed(type.item!, item, version))
  }
  if (type.kind !== 'struct') return value
  const present = new Set(fieldsOf(type, version).map(([name]) => name))
  const whole: Values = {}
  for (const [name, field] of type.fields ?? []) {
    const { type: inner, fallback } = field as Field<unknown, unknown>
    const given = present.has(name) ? (value as Values)[name] : undefined
    whole[name] = given === undefined ? fallback : completed(inner, given, version)
  }
  return whole
}

/** The same value with bytes as base64. */
export function toJson(type: AnyType, value: unknown): unknown {
  return converted(type, value, (bytes) => Buffer.from(bytes as Uint8Array).toString('base64'))
}

/** The same value with bytes out of base64. */
export function fromJson(type: AnyType, value: unknown): unknown {
  return converted(type, value, (text) => new Uint8Array(Buffer.from(text as string, 'base64')))
}

function converted(type: AnyType, value: unknown, bytes: (value: unknown) => unknown): unknown {
  if (value === null) return null
  if (type.kind === 'bytes' || type.kind === 'records') return bytes(value)
  if (type.kind === '[]') {
    return (value as unknown[]).map((item) => converted(type.item!, item, bytes))
  }
  if (type.kind !== 'struct') return value
  const result: Values = {}
  for (const [name, item] of Object.entries(value as Values)) {
    const field = type.fields?.get(name) as Field<unknown, unknown>
    result[name] = converted(field.type, item, bytes)
  }
  return result
}
