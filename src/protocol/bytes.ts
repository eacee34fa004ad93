/**
 * Reads and writes the primitive values of Kafka's wire protocol.
 *
 * Reader walks one message. Every read is checked against the bytes that are left, and a count is
 * checked before anything is made for it (`claim`), so that a message costs no more than a small
 * multiple of its own size. Whatever is wrong with it is a `SeglogError` MALFORMED_FRAME; nothing
 * else is thrown. Views that it gives out share the memory of the frame.
 *
 * Writer gathers a message as parts: chunks of bytes, never copied a second time when the message
 * grows, and slices of files between them. A value that does not fit its type is a `SeglogError`
 * BAD_ARGUMENT.
 *
 * A 64-bit value is a number. One beyond ±(2^53-1) is refused, never rounded; the clamped variant
 * is for times and sizes, in which clients say "for ever" with the largest value there is.
 */
import { SeglogError } from '../errors.js'
import type { Part, Records } from './parts.js'

/**
 * Structs and strings that one message may hold. A message of 100 MiB could else ask for gigabytes
 * of objects.
 */
export const ITEMS_MAX = 1 << 20
/** Bytes of a string at most, as Kafka has it, also where the length is a varint. */
export const STRING_BYTES_MAX = 0x7fff

const INT64_MAX = 0x7fffffffffffffffn
const INT64_MIN = -0x8000000000000000n
const TWO_32 = 0x100000000

/** Where a message breaks a rule of the protocol. */
export function malformed(message: string): SeglogError {
  return new SeglogError('MALFORMED_FRAME', message)
}

/** Where a caller gives what cannot be written. */
export function unwritable(message: string): SeglogError {
  return new SeglogError('BAD_ARGUMENT', message)
}

export class Reader {
  /** Where the next value is read, in bytes from the start of `bytes`. */
  at: number
  /** Where the message ends. */
  readonly end: number
  private readonly bytes: Buffer
  private itemsLeft = ITEMS_MAX

  constructor(bytes: Uint8Array) {
    this.bytes = Buffer.isBuffer(bytes)
      ? bytes
      : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    this.at = 0
    this.end = bytes.length
  }

  get remaining(): number {
    return this.end - this.at
  }

  int8(): number {
    const at = this.take(1)
    return (this.bytes[at]! << 24) >> 24
  }

  int16(): number {
    const at = this.take(2)
    const bytes = this.bytes
    return (((bytes[at]! << 8) | bytes[at + 1]!) << 16) >> 16
  }

  int32(): number {
    const at = this.take(4)
    const bytes = this.bytes
    return (bytes[at]! << 24) | (bytes[at + 1]! << 16) | (bytes[at + 2]! << 8) | bytes[at + 3]!
  }

  /** A 64-bit value within ±(2^53-1). */
  int64(): number {
    const value = this.int32() * TWO_32 + (this.int32() >>> 0)
    if (!Number.isSafeInteger(value)) {
      throw malformed(`a 64-bit value beyond ±(2^53-1) at byte ${this.at - 8}`)
    }
    return value
  }

  /** A 64-bit value; one beyond ±(2^53-1) reads as that bound. */
  int64Clamped(): number {
    const value = this.int32() * TWO_32 + (this.int32() >>> 0)
    return Math.min(Math.max(value, Number.MIN_SAFE_INTEGER), Number.MAX_SAFE_INTEGER)
  }

  float64(): number {
    const at = this.take(8)
    return new DataView(this.bytes.buffer, this.bytes.byteOffset + at, 8).getFloat64(0)
  }

  boolean(): boolean {
    return this.bytes[this.take(1)] !== 0
  }

  /** An unsigned varint of at most five bytes and 31 bits. */
  uvarint(): number {
    const first = this.bytes[this.take(1)]!
    if (first < 0x80) return first
    let value = first & 0x7f
    for (let shift = 7; shift < 35; shift += 7) {
      const byte = this.bytes[this.take(1)]!
      if (shift === 28 && byte > 0x07) break
      value |= (byte & 0x7f) << shift
      if (byte < 0x80) return value
    }
    throw malformed(`a varint of more than 31 bits before byte ${this.at}`)
  }

  /** `length` bytes as UTF-8; what is not valid UTF-8 becomes U+FFFD. */
  utf8(length: number): string {
    const at = this.take(length)
    return this.bytes.toString('utf8', at, at + length)
  }

  /** A view of `length` bytes. */
  view(length: number): Uint8Array {
    const at = this.take(length)
    return new Uint8Array(this.bytes.buffer, this.bytes.byteOffset + at, length)
  }

  /** 16 bytes as Kafka prints a uuid: base64url without padding. */
  uuid(): string {
    const at = this.take(16)
    return this.bytes.toString('base64url', at, at + 16)
  }

  skip(length: number): void {
    this.take(length)
  }

  /**
   * Refuses `count` items that cannot be there; `weight` 0 is for numbers, which need no object.
   */
  claim(count: number, itemBytesMin: number, weight: 0 | 1): void {
    if (count * itemBytesMin > this.end - this.at) {
      throw malformed(`${count} items in the ${this.remaining} bytes left at byte ${this.at}`)
    }
    this.itemsLeft -= count * weight
    if (this.itemsLeft < 0) throw malformed(`more than ${ITEMS_MAX} items in one message`)
  }

  private take(length: number): number {
    const at = this.at
    if (length > this.end - at) {
      throw malformed(`${length} bytes wanted where ${this.end - at} are left at byte ${at}`)
    }
    this.at = at + length
    return at
  }
}

/** The first chunk holds most answers whole; later ones double up to the largest. */
const CHUNK_BYTES = 1024
const CHUNK_BYTES_MAX = 64 * 1024
/** Below this, one more part costs the kernel more than the copy does. */
const COPY_BYTES_MAX = 16 * 1024
/** A string this short takes at most 126 bytes, so that its compact length is one byte. */
const SHORT_CHARS = 42

export class Writer {
  private readonly parts: Part[] = []
  private readonly head: Buffer
  private buffer: Buffer
  private start = 0
  private at = 0
  private closedBytes = 0

  constructor(capacity = CHUNK_BYTES) {
    this.head = Buffer.allocUnsafe(capacity)
    this.buffer = this.head
  }

  /** Bytes written so far, slices included. */
  get sizeBytes(): number {
    return this.closedBytes + this.at - this.start
  }

  int8(value: number): void {
    if ((value << 24) >> 24 !== value) throw unwritable(`${value} is no int8`)
    this.need(1)
    this.buffer[this.at++] = value
  }

  int16(value: number): void {
    if ((value << 16) >> 16 !== value) throw unwritable(`${value} is no int16`)
    this.need(2)
    this.buffer[this.at++] = value >> 8
    this.buffer[this.at++] = value
  }

  int32(value: number): void {
    if ((value | 0) !== value) throw unwritable(`${value} is no int32`)
    this.need(4)
    this.put32(value)
  }

  int64(value: number): void {
    if (!Number.isSafeInteger(value)) throw unwritable(`${value} is no integer within ±(2^53-1)`)
    this.need(8)
    this.put32(Math.floor(value / TWO_32))
    this.put32(value)
  }

  /**
   * As `int64`, but the two bounds stand for all beyond them, as they do in `Reader.int64Clamped`.
   */
  int64Clamped(value: number): void {
    if (Math.abs(value) !== Number.MAX_SAFE_INTEGER) {
      this.int64(value)
      return
    }
    this.need(8)
    this.at = this.buffer.writeBigInt64BE(value > 0 ? INT64_MAX : INT64_MIN, this.at)
  }

  float64(value: number): void {
    if (typeof value !== 'number') throw unwritable(`${String(value)} is no number`)
    this.need(8)
    this.at = this.buffer.writeDoubleBE(value, this.at)
  }

  boolean(value: boolean): void {
    if (typeof value !== 'boolean') throw unwritable(`${String(value)} is no boolean`)
    this.need(1)
    this.buffer[this.at++] = value ? 1 : 0
  }

  uvarint(value: number): void {
    if ((value | 0) !== value || value < 0) throw unwritable(`${value} is no length`)
    this.need(5)
    while (value > 0x7f) {
      this.buffer[this.at++] = (value & 0x7f) | 0x80
      value >>>= 7
    }
    this.buffer[this.at++] = value
  }

  /** A string behind its length: as int16, or where `compact` one above it as a varint. */
  string(value: string, compact: boolean): void {
    if (typeof value !== 'string') throw unwritable(`${String(value)} is no string`)
    if (value.length > SHORT_CHARS) this.longString(value, compact)
    else this.shortString(value, compact)
  }

  private shortString(value: string, compact: boolean): void {
    this.need(2 + SHORT_CHARS * 3)
    const body = this.at + (compact ? 1 : 2)
    const length = this.shortText(value, body)
    if (compact) this.buffer[this.at] = length + 1
    else this.buffer.writeInt16BE(length, this.at)
    this.at = body + length
  }

  uuid(value: string): void {
    this.need(16)
    const right = typeof value === 'string' && value.length === 22
    if (!right || this.buffer.write(value, this.at, 16, 'base64url') !== 16) {
      throw unwritable(`${String(value)} is no uuid of 22 characters of base64url`)
    }
    this.at += 16
  }

  /**
   * Copies `bytes`, or where they are many makes them a part of their own: leave them alone until
   * it is sent.
   */
  raw(bytes: Uint8Array): void {
    const length = bytes.length
    if (length >= COPY_BYTES_MAX) {
      this.part(bytes, length)
      return
    }
    this.need(length)
    this.buffer.set(bytes, this.at)
    this.at += length
  }

  records(records: Records): void {
    if (records instanceof Uint8Array) this.raw(records)
    else this.part(records, records.sizeBytes)
  }

  /** Takes over what another writer gathered. REQUIRES: that one is not used again. */
  append(other: Writer): void {
    for (const part of other.finish()) this.records(part)
  }

  /** What was written, in order. The writer is done with. */
  finish(): Part[] {
    this.close()
    return this.parts
  }

  /** Leaves room for the length at the front of a frame. REQUIRES: nothing was written yet. */
  beginFrame(): void {
    this.at = 4
  }

  /** As `finish`, with the length put in front. REQUIRES: `beginFrame` came first. */
  finishFrame(): Part[] {
    const size = this.sizeBytes - 4
    if (size > 0x7fffffff) {
      throw new SeglogError('TOO_LARGE', `a message of ${size} bytes does not fit a frame`)
    }
    this.head.writeInt32BE(size, 0)
    return this.finish()
  }

  private put32(value: number): void {
    const buffer = this.buffer
    buffer[this.at++] = value >>> 24
    buffer[this.at++] = value >>> 16
    buffer[this.at++] = value >>> 8
    buffer[this.at++] = value
  }

  /** The text of a short string at `at`. A loop over ASCII is quicker than a call into Node. */
  private shortText(value: string, at: number): number {
    const buffer = this.buffer
    for (let i = 0; i < value.length; i++) {
      const code = value.charCodeAt(i)
      if (code > 0x7f) return buffer.write(value, at, 'utf8')
      buffer[at + i] = code
    }
    return value.length
  }

  private longString(value: string, compact: boolean): void {
    const length = Buffer.byteLength(value, 'utf8')
    if (length > STRING_BYTES_MAX) throw unwritable(`a string of ${length} bytes is too long`)
    if (compact) this.uvarint(length + 1)
    else this.int16(length)
    this.need(length)
    this.at += this.buffer.write(value, this.at, 'utf8')
  }

  private part(part: Part, length: number): void {
    if (!Number.isSafeInteger(length) || length < 0) throw unwritable(`${length} is no length`)
    this.close()
    if (length === 0) return
    this.parts.push(part)
    this.closedBytes += length
  }

  private need(length: number): void {
    if (this.buffer.length - this.at >= length) return
    this.close()
    const doubled = Math.min(this.buffer.length * 2, CHUNK_BYTES_MAX)
    this.buffer = Buffer.allocUnsafe(Math.max(doubled, length))
    this.start = 0
    this.at = 0
  }

  private close(): void {
    const length = this.at - this.start
    if (length === 0) return
    const { buffer, byteOffset } = this.buffer
    this.parts.push(new Uint8Array(buffer, byteOffset + this.start, length))
    this.closedBytes += length
    this.start = this.at
  }
}
