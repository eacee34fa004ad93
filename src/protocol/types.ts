/**
 * The types of which Kafka's messages are made, and how each is read and written.
 *
 * A type is a description; `compile` specialises it for one version of a message into a codec,
 * once. Nullability belongs to a version too and comes with the context: null where a version does
 * not know it is malformed on the way in and a bad argument on the way out. A negative length reads
 * as null wherever null is allowed, as in Kafka.
 *
 * In values: uuid is a string of 22 characters (base64url, as Kafka prints it) and compares with
 * ===; `bytes` are copied out of the frame, because members keep them; `records` are a view of the
 * frame, so that a produce copies nothing. Empty and null are never the same.
 */
import { malformed, type Reader, STRING_BYTES_MAX, unwritable, type Writer } from './bytes.js'
import type { Records } from './parts.js'

/** The uuid of 16 zero bytes: no topic, no directory. */
export const ZERO_UUID = 'AAAAAAAAAAAAAAAAAAAAAA'

/** For what a codec is made. */
export interface Context {
  readonly version: number
  /** Compact lengths and tagged fields (KIP-482). */
  readonly flexible: boolean
  readonly nullable: boolean
}

/** A type specialised for one version. */
export interface Codec<T, I = T> {
  /** The fewest bytes that a value takes. */
  readonly bytesMin: number
  read(reader: Reader): T
  write(writer: Writer, value: I): void
}

/** All codecs are made here and have one shape, which keeps their calls quick. */
export function codec<T, I = T>(
  bytesMin: number,
  read: (reader: Reader) => T,
  write: (writer: Writer, value: I) => void,
): Codec<T, I> {
  return { bytesMin, read, write }
}

/** What a type of a field is: T is what reading gives, I what writing takes. */
export interface Type<T, I = T> {
  /** Kafka's name for it: 'int32', 'string', '[]', 'struct' and so on. */
  readonly kind: string
  /** The value where a message has none. */
  readonly zero: T
  /** True for what needs no object of its own. */
  readonly plain: boolean
  /** The first version in which null is allowed. */
  readonly nullableFrom: number
  /** Of arrays. */
  readonly item?: Type<unknown, unknown>
  /** Of structs: the fields by name. */
  readonly fields?: ReadonlyMap<string, unknown>
  compile(context: Context): Codec<T, I>
  /** True where `value` need not be sent as a tagged field, being what a reader assumes anyway. */
  isDefault(value: I, fallback: unknown): boolean
}

const NEVER = Number.POSITIVE_INFINITY
const same = (value: unknown, fallback: unknown) => value === fallback

function plain<T>(
  kind: string,
  zero: T,
  bytesMin: number,
  read: (reader: Reader) => T,
  write: (writer: Writer, value: T) => void,
): Type<T> {
  const only = codec(bytesMin, read, write)
  return {
    kind,
    zero,
    plain: true,
    nullableFrom: NEVER,
    compile: () => only,
    isDefault: same,
  }
}

export const boolean: Type<boolean> = plain<boolean>(
  'bool',
  false,
  1,
  (r) => r.boolean(),
  (w, v) => w.boolean(v),
)
export const int8: Type<number> = plain(
  'int8',
  0,
  1,
  (r) => r.int8(),
  (w, v) => w.int8(v),
)
export const int16: Type<number> = plain(
  'int16',
  0,
  2,
  (r) => r.int16(),
  (w, v) => w.int16(v),
)
export const int32: Type<number> = plain(
  'int32',
  0,
  4,
  (r) => r.int32(),
  (w, v) => w.int32(v),
)
/** Within ±(2^53-1); beyond it, the message is malformed. For offsets, ids and epochs. */
export const int64: Type<number> = plain(
  'int64',
  0,
  8,
  (r) => r.int64(),
  (w, v) => w.int64(v),
)
/**
 * For times and sizes, and offsets for which Kafka defines Long.MAX_VALUE: ±(2^53-1) stands for all
 * beyond it, and is written as the largest or smallest 64-bit value.
 */
export const int64Clamped: Type<number> = plain(
  'int64',
  0,
  8,
  (r) => r.int64Clamped(),
  (w, v) => w.int64Clamped(v),
)
export const float64: Type<number> = plain(
  'float64',
  0,
  8,
  (r) => r.float64(),
  (w, v) => w.float64(v),
)
export const uuid: Type<string> = plain(
  'uuid',
  ZERO_UUID,
  16,
  (r) => r.uuid(),
  (w, v) => w.uuid(v),
)

function missing(): never {
  throw malformed('null where it is not allowed')
}

function refused(): never {
  throw unwritable('null where this version does not allow it')
}

/** A length of two bytes, or a compact one. Below 0: null. */
const length16 = (reader: Reader, flexible: boolean) =>
  flexible ? reader.uvarint() - 1 : reader.int16()
/** A length or count of four bytes, or a compact one. Below 0: null. */
const length32 = (reader: Reader, flexible: boolean) =>
  flexible ? reader.uvarint() - 1 : reader.int32()

function writeLength32(writer: Writer, length: number, flexible: boolean): void {
  if (flexible) writer.uvarint(length + 1)
  else writer.int32(length)
}

function writeNull(writer: Writer, flexible: boolean, nullable: boolean, lengthBytes: 2 | 4): void {
  if (!nullable) refused()
  if (flexible) writer.uvarint(0)
  else if (lengthBytes === 2) writer.int16(-1)
  else writer.int32(-1)
}

/** A type whose codecs know null. Its own declaration does not admit null: `nullable` lifts it. */
function lengthed<T, I = T>(
  kind: string,
  zero: T,
  compile: (context: Context) => Codec<T | null, I | null>,
): Type<T, I> {
  return {
    kind,
    zero,
    plain: false,
    nullableFrom: NEVER,
    compile: (context) => compile(context) as Codec<T, I>,
    isDefault: same,
  }
}

/** UTF-8, at most 32,767 bytes. */
export const string: Type<string> = lengthed('string', '', ({ flexible, nullable }) =>
  codec<string | null>(
    flexible ? 1 : 2,
    (reader) => {
      const length = length16(reader, flexible)
      if (length < 0) return nullable ? null : missing()
      if (length > STRING_BYTES_MAX) throw malformed(`a string of ${length} bytes`)
      return reader.utf8(length)
    },
    (writer, value) => {
      if (value === null) writeNull(writer, flexible, nullable, 2)
      else writer.string(value, flexible)
    },
  ),
)

function bytesCodec<R extends Uint8Array | Records>(
  { flexible, nullable }: Context,
  take: (reader: Reader, length: number) => Uint8Array,
): Codec<Uint8Array | null, R | null> {
  return codec<Uint8Array | null, R | null>(
    flexible ? 1 : 4,
    (reader) => {
      const length = length32(reader, flexible)
      if (length < 0) return nullable ? null : missing()
      return take(reader, length)
    },
    (writer, value) => {
      if (value === null) {
        writeNull(writer, flexible, nullable, 4)
        return
      }
      const length = value instanceof Uint8Array ? value.length : value?.sizeBytes
      if (length === undefined) throw unwritable(`${String(value)} is no bytes`)
      writeLength32(writer, length, flexible)
      writer.records(value)
    },
  )
}

const NO_BYTES = new Uint8Array(0)

export const bytes: Type<Uint8Array> = lengthed<Uint8Array>('bytes', NO_BYTES, (context) =>
  bytesCodec<Uint8Array>(context, (reader, length) => reader.view(length).slice()),
)

/**
 * Record batches: a view of the frame when read; bytes or a slice of a file when written. Null in
 * any version.
 */
export const records: Type<Uint8Array | null, Records | null> = {
  kind: 'records',
  zero: null,
  plain: false,
  nullableFrom: 0,
  compile: (context) =>
    bytesCodec<Records>({ ...context, nullable: true }, (reader, length) => reader.view(length)),
  isDefault: same,
}

/** A list of one type. Reading gives an array that is not to be changed; it may be shared. */
export function array<T, I>(item: Type<T, I>): Type<readonly T[], readonly I[]> {
  const zero: readonly T[] = Object.freeze([])
  const weight = item.plain ? 0 : 1
  const type = lengthed<readonly T[], readonly I[]>('[]', zero, (context) => {
    const { flexible, nullable } = context
    const each = item.compile({ ...context, nullable: false })
    const itemBytesMin = Math.max(each.bytesMin, 1)
    return codec<readonly T[] | null, readonly I[] | null>(
      flexible ? 1 : 4,
      (reader) => {
        const count = length32(reader, flexible)
        if (count < 0) return nullable ? null : missing()
        reader.claim(count, itemBytesMin, weight)
        const items = new Array<T>(count)
        for (let i = 0; i < count; i++) items[i] = each.read(reader)
        return items
      },
      (writer, items) => {
        if (items === null) {
          writeNull(writer, flexible, nullable, 4)
          return
        }
        if (!Array.isArray(items)) throw unwritable(`${String(items)} is no array`)
        writeLength32(writer, items.length, flexible)
        for (let i = 0; i < items.length; i++) each.write(writer, items[i])
      },
    )
  })
  return {
    ...type,
    item,
    isDefault: (value, fallback) =>
      value === fallback || (fallback !== null && value?.length === 0),
  }
}

/**
 * The same type with null allowed in versions from `from`. Structs too: they get a byte in front.
 */
export function nullableSince<T, I>(from: number, type: Type<T, I>): Type<T | null, I | null> {
  return {
    ...type,
    nullableFrom: from,
    compile: (context) =>
      type.compile({ ...context, nullable: context.version >= from }) as Codec<T | null, I | null>,
    isDefault: (value, fallback) =>
      value === null || fallback === null ? value === fallback : type.isDefault(value, fallback),
  }
}

/** The same type with null allowed in every version. */
export function nullable<T, I>(type: Type<T, I>): Type<T | null, I | null> {
  return nullableSince(0, type)
}
