/**
 * Tables of messages. A struct lists its fields, each with the versions that have it; a message
 * adds the range of versions and the first flexible one; an API is a request and a response. Types
 * follow from the tables.
 *
 * A table is compiled per version, once and on first use, into a codec that walks the fields of
 * that version only. Reading gives every field of the table: one that the version lacks has its
 * default. Writing takes an object in which fields with a version range or a default may be left
 * out; what the version lacks is not sent, whatever its value. Tagged fields go out in the order of
 * their tags, and only where they differ from their default; unknown ones are skipped (KIP-482).
 */
import { SeglogError } from '../errors.js'
import { malformed, type Reader, unwritable, Writer } from './bytes.js'
import { type Codec, type Context, codec, type Type } from './types.js'

/**
 * A field with versions or a default of its own. A bare type stands for a field of all versions
 * without one.
 */
export class Field<T, I = T> {
  constructor(
    readonly type: Type<T, I>,
    readonly from: number,
    /** The last version that has it; infinite while it lives on. */
    readonly to: number,
    readonly fallback: T,
    readonly tag?: number,
  ) {}
}

const OPEN = Number.POSITIVE_INFINITY

/** A field of version `from` and up. */
export function since<T, I>(
  from: number,
  type: Type<T, I>,
  fallback: NoInfer<T> = type.zero,
): Field<T, I> {
  return new Field(type, from, OPEN, fallback)
}

/** A field of the versions `from` to `to`, both included. */
export function between<T, I>(
  from: number,
  to: number,
  type: Type<T, I>,
  fallback: NoInfer<T> = type.zero,
): Field<T, I> {
  return new Field(type, from, to, fallback)
}

/** A tagged field of version `from` and up. */
export function tagged<T, I>(
  tag: number,
  from: number,
  type: Type<T, I>,
  fallback: NoInfer<T> = type.zero,
): Field<T, I> {
  return new Field(type, from, OPEN, fallback, tag)
}

/** The fields of a struct in the order of the wire. */
export type Spec = Readonly<Record<string, Type<unknown, unknown> | Field<unknown, unknown>>>

type Read<F> = F extends Field<infer T, infer _> ? T : F extends Type<infer T, infer _> ? T : never
type Written<F> =
  F extends Field<infer _, infer I> ? I : F extends Type<infer _, infer I> ? I : never

/** What reading a struct gives: every field. */
export type Decoded<S extends Spec> = { readonly [K in keyof S]: Read<S[K]> }
/** What writing a struct takes: fields with versions or a default may be left out. */
export type Input<S extends Spec> = {
  readonly [K in keyof S as S[K] extends Field<unknown, unknown> ? never : K]: Written<S[K]>
} & {
  readonly [K in keyof S as S[K] extends Field<unknown, unknown> ? K : never]?:
    | Written<S[K]>
    | undefined
}

interface Step {
  readonly name: string
  /** Null for a field that is not in its place in this version: absent, or among the tagged. */
  readonly codec: Codec<unknown> | null
  /** What reading gives where the field is absent. */
  readonly absent: unknown
  /** What is written where the caller left the field out; undefined where it may not. */
  readonly unset: unknown
}

interface Tag {
  readonly name: string
  readonly tag: number
  readonly field: Field<unknown, unknown>
  readonly codec: Codec<unknown>
}

type Values = Record<string, unknown>

/** A struct as a type of its own. */
export function struct<const S extends Spec>(spec: S): Type<Decoded<S>, Input<S>> {
  const required = new Set<string>()
  const fields = new Map<string, Field<unknown, unknown>>()
  for (const [name, entry] of Object.entries(spec)) {
    if (entry instanceof Field) {
      fields.set(name, entry)
    } else {
      fields.set(name, new Field(entry, 0, OPEN, entry.zero))
      required.add(name)
    }
  }
  const zero: Values = {}
  for (const [name, field] of fields) zero[name] = field.fallback
  Object.freeze(zero)
  return {
    kind: 'struct',
    zero: zero as Decoded<S>,
    plain: false,
    nullableFrom: OPEN,
    fields,
    compile: (context) => compileStruct(fields, required, context) as Codec<Decoded<S>, Input<S>>,
    isDefault: (value) => isDefaultStruct(fields, value as Values),
  }
}

function isDefaultStruct(fields: Map<string, Field<unknown, unknown>>, value: Values): boolean {
  for (const [name, field] of fields) {
    const given = value[name]
    if (given !== undefined && !field.type.isDefault(given, field.fallback)) return false
  }
  return true
}

/** Puts the name of a field before the message of an error that comes up through it. */
function located(error: unknown, name: string | undefined): unknown {
  if (error instanceof SeglogError && name !== undefined) {
    error.message = `${name}: ${error.message}`
  }
  return error
}

function compileStruct(
  fields: Map<string, Field<unknown, unknown>>,
  required: Set<string>,
  context: Context,
): Codec<unknown> {
  const steps: Step[] = []
  const tags: Tag[] = []
  let bytesMin = context.flexible ? 1 : 0
  for (const [name, field] of fields) {
    const present = context.version >= field.from && context.version <= field.to
    const each = present ? field.type.compile({ ...context, nullable: false }) : null
    const tag = field.tag
    if (each !== null && tag !== undefined) tags.push({ name, tag, field, codec: each })
    const inPlace = tag === undefined ? each : null
    bytesMin += inPlace?.bytesMin ?? 0
    const unset = required.has(name) ? undefined : field.fallback
    steps.push({ name, codec: inPlace, absent: field.fallback, unset })
  }
  tags.sort((a, b) => a.tag - b.tag)
  const body = codec(
    bytesMin,
    structReader(steps, tags, context.flexible),
    structWriter(steps, tags, context.flexible),
  )
  return context.nullable ? nullableStruct(body) : body
}

function structReader(steps: Step[], tags: Tag[], flexible: boolean): (reader: Reader) => Values {
  return (reader) => {
    const value: Values = {}
    let i = 0
    try {
      for (; i < steps.length; i++) {
        const step = steps[i]!
        value[step.name] = step.codec === null ? step.absent : step.codec.read(reader)
      }
    } catch (error) {
      throw located(error, steps[i]?.name)
    }
    if (flexible) readTags(reader, tags, value)
    return value
  }
}

function structWriter(
  steps: Step[],
  tags: Tag[],
  flexible: boolean,
): (writer: Writer, value: unknown) => void {
  const present = steps.filter((step) => step.codec !== null)
  return (writer, value) => {
    if (typeof value !== 'object' || value === null)
      throw unwritable(`${String(value)} is no object`)
    const values = value as Values
    let i = 0
    try {
      for (; i < present.length; i++) {
        const step = present[i]!
        const given = values[step.name]
        step.codec!.write(writer, given === undefined ? step.unset : given)
      }
    } catch (error) {
      throw located(error, present[i]?.name)
    }
    if (flexible) writeTags(writer, tags, values)
  }
}

/** A byte in front tells whether a struct follows: -1 for null (Kafka's form, KIP-893). */
function nullableStruct(body: Codec<unknown>): Codec<unknown> {
  return codec<unknown>(
    1,
    (reader) => (reader.int8() < 0 ? null : body.read(reader)),
    (writer, value) => {
      writer.int8(value === null ? -1 : 1)
      if (value !== null) body.write(writer, value)
    },
  )
}

function readTags(reader: Reader, tags: Tag[], value: Values): void {
  const count = reader.uvarint()
  for (let i = 0; i < count; i++) {
    const number = reader.uvarint()
    const length = reader.uvarint()
    if (length > reader.remaining)
      throw malformed(`a tagged field of ${length} bytes beyond the end`)
    const end = reader.at + length
    const tag = tags.find((each) => each.tag === number)
    if (tag !== undefined) {
      value[tag.name] = tag.codec.read(reader)
      if (reader.at > end) throw malformed(`${tag.name}: longer than its ${length} bytes`)
    }
    reader.skip(end - reader.at)
  }
}

function writeTags(writer: Writer, tags: Tag[], values: Values): void {
  let count = 0
  for (const tag of tags) if (isSent(tag, values)) count++
  writer.uvarint(count)
  if (count === 0) return
  for (const tag of tags) {
    if (!isSent(tag, values)) continue
    const content = new Writer(64)
    try {
      tag.codec.write(content, values[tag.name])
    } catch (error) {
      throw located(error, tag.name)
    }
    writer.uvarint(tag.tag)
    writer.uvarint(content.sizeBytes)
    writer.append(content)
  }
}

function isSent(tag: Tag, values: Values): boolean {
  const given = values[tag.name]
  return given !== undefined && !tag.field.type.isDefault(given, tag.field.fallback)
}

/**
 * A struct with versions: half of an API, or what Kafka keeps in records of its internal topics.
 */
export interface Message<T, I = T> {
  readonly name: string
  readonly versions: readonly [min: number, max: number]
  readonly type: Type<T, I>
  isFlexible(version: number): boolean
  /**
   * Reads a message and leaves what follows it unread. Errors: MALFORMED_FRAME; UNSUPPORTED_VERSION
   * outside `versions`.
   */
  read(reader: Reader, version: number): T
  /** Errors: BAD_ARGUMENT with the path of the field; UNSUPPORTED_VERSION outside `versions`. */
  write(writer: Writer, version: number, value: I): void
}

export interface MessageOptions<S extends Spec> {
  name: string
  versions: readonly [min: number, max: number]
  /** The first flexible version; none where it is left out. */
  flexible?: number
  fields: S
}

export function message<const S extends Spec>(
  options: MessageOptions<S>,
): Message<Decoded<S>, Input<S>> {
  const { name, versions, flexible = OPEN } = options
  const type = struct(options.fields)
  const codecs: Codec<Decoded<S>, Input<S>>[] = []
  const codecOf = (version: number) => {
    const known = codecs[version]
    if (known !== undefined) return known
    if (!Number.isInteger(version) || version < versions[0] || version > versions[1]) {
      throw new SeglogError('UNSUPPORTED_VERSION', `${name} has no version ${version}`)
    }
    const made = type.compile({ version, flexible: version >= flexible, nullable: false })
    codecs[version] = made
    return made
  }
  return {
    name,
    versions,
    type,
    isFlexible: (version) => version >= flexible,
    read(reader, version) {
      const each = codecOf(version)
      try {
        return each.read(reader)
      } catch (error) {
        throw located(error, `${name} v${version}`)
      }
    },
    write(writer, version, value) {
      const each = codecOf(version)
      try {
        each.write(writer, value)
      } catch (error) {
        throw located(error, `${name} v${version}`)
      }
    },
  }
}

/** One API of Kafka's: key, name, versions, and both directions. */
export interface Api<Q, QI = Q, S = unknown, SI = S> {
  readonly key: number
  /** Kafka's name without "Request". */
  readonly name: string
  readonly versions: readonly [min: number, max: number]
  readonly request: Message<Q, QI>
  readonly response: Message<S, SI>
}

export type AnyApi = Api<unknown, unknown, unknown, unknown>

/** What reading a request of an API gives. */
export type RequestOf<A> = A extends Api<infer Q, infer _QI, infer _S, infer _SI> ? Q : never
/** What writing a request of an API takes. */
export type RequestInput<A> = A extends Api<infer _Q, infer QI, infer _S, infer _SI> ? QI : never
/** What reading a response of an API gives. */
export type ResponseOf<A> = A extends Api<infer _Q, infer _QI, infer S, infer _SI> ? S : never
/** What writing a response of an API takes. */
export type ResponseInput<A> = A extends Api<infer _Q, infer _QI, infer _S, infer SI> ? SI : never

export interface ApiOptions<Q extends Spec, S extends Spec> {
  key: number
  name: string
  versions: readonly [min: number, max: number]
  /** The first flexible version of both directions; none where it is left out. */
  flexible?: number
  request: Q
  response: S
}

export function api<const Q extends Spec, const S extends Spec>(
  options: ApiOptions<Q, S>,
): Api<Decoded<Q>, Input<Q>, Decoded<S>, Input<S>> {
  const { key, name, versions, flexible = OPEN } = options
  return {
    key,
    name,
    versions,
    request: message({ name: `${name} request`, versions, flexible, fields: options.request }),
    response: message({ name: `${name} response`, versions, flexible, fields: options.response }),
  }
}
