/**
 * Variable-length integers as record batches have them: zigzag, seven bits a byte, lowest first
 * (Protocol Buffers' sint32 and sint64). At most 5 bytes for 32 bits and 10 for 64; more, or bits
 * above, are malformed.
 *
 * Numbers of 64 bits are handled as two halves, without BigInt. REQUIRES of every write: room in
 * `bytes`.
 */
import { SeglogError } from '../errors.js'

const TWO_32 = 2 ** 32

/** Bytes that `writeVarint` takes for a 32-bit integer. */
export function varintBytes(value: number): number {
  const zigzag = ((value << 1) ^ (value >> 31)) >>> 0
  if (zigzag < 0x80) return 1
  if (zigzag < 0x4000) return 2
  if (zigzag < 0x200000) return 3
  return zigzag < 0x10000000 ? 4 : 5
}

/** Writes a 32-bit integer and returns the position behind it. */
export function writeVarint(bytes: Uint8Array, position: number, value: number): number {
  let zigzag = ((value << 1) ^ (value >> 31)) >>> 0
  while (zigzag > 0x7f) {
    bytes[position++] = (zigzag & 0x7f) | 0x80
    zigzag >>>= 7
  }
  bytes[position++] = zigzag
  return position
}

/** True for what both `writeVarint` and `writeVarlong` write alike. */
function fits32(value: number): boolean {
  return value === (value | 0)
}

/** Bytes that `writeVarlong` takes for an integer of at most 2^53 either way. */
export function varlongBytes(value: number): number {
  if (fits32(value)) return varintBytes(value)
  // Zigzag of a 64-bit value is 2v or -2v - 1; its number of bits decides, and Math.abs is exact
  // here.
  const magnitude = value >= 0 ? value : -value - 1
  let limit = 2 ** 34 // 2v below 2^35 takes five bytes
  let size = 5
  while (magnitude >= limit) {
    limit *= 128
    size++
  }
  return size
}

/** Writes an integer of at most 2^53 either way and returns the position behind it. */
export function writeVarlong(bytes: Uint8Array, position: number, value: number): number {
  if (fits32(value)) return writeVarint(bytes, position, value)
  const high = Math.floor(value / TWO_32)
  const low = value >>> 0
  const sign = high >> 31
  let zigzagHigh = (((high << 1) | (low >>> 31)) ^ sign) >>> 0
  let zigzagLow = ((low << 1) ^ sign) >>> 0
  while (zigzagHigh !== 0 || zigzagLow > 0x7f) {
    bytes[position++] = (zigzagLow & 0x7f) | 0x80
    zigzagLow = ((zigzagLow >>> 7) | (zigzagHigh << 25)) >>> 0
    zigzagHigh >>>= 7
  }
  bytes[position++] = zigzagLow
  return position
}

function malformed(what: string): never {
  throw new SeglogError('INVALID_RECORD', `records: ${what}`)
}

/** Reads what a range of bytes holds, and never beyond `end`. Every error is INVALID_RECORD. */
export class VarintReader {
  readonly bytes: Uint8Array
  position: number
  end: number

  constructor(bytes: Uint8Array, position: number, end: number) {
    this.bytes = bytes
    this.position = position
    this.end = end
  }

  byte(): number {
    if (this.position >= this.end) malformed('a record ends early')
    return this.bytes[this.position++] as number
  }

  varint(): number {
    const first = this.byte()
    if (first < 0x80) return (first >>> 1) ^ -(first & 1)
    let zigzag = first & 0x7f
    for (let shift = 7; shift <= 28; shift += 7) {
      const byte = this.byte()
      if (shift === 28 && byte > 0x0f) malformed('a varint of more than 32 bits')
      zigzag |= (byte & 0x7f) << shift
      if (byte < 0x80) break
    }
    return (zigzag >>> 1) ^ -(zigzag & 1)
  }

  /** A 64-bit integer; beyond 2^53 - 1 either way is an error, never rounded. */
  varlong(): number {
    const start = this.position
    let low = 0
    for (let shift = 0; shift <= 21; shift += 7) {
      const byte = this.byte()
      low |= (byte & 0x7f) << shift
      if (byte < 0x80) return (low >>> 1) ^ -(low & 1)
    }
    // From here `low` holds 28 bits and `high` counts in units of 2^28.
    let high = 0
    let unit = 1
    for (;;) {
      const byte = this.byte()
      const length = this.position - start
      if (length > 10 || (length === 10 && byte > 1)) malformed('a varlong of more than 64 bits')
      high += (byte & 0x7f) * unit
      unit *= 128
      if (byte < 0x80) break
    }
    const magnitude = high * 2 ** 27 + (low >>> 1)
    const value = low & 1 ? -magnitude - 1 : magnitude
    if (!Number.isSafeInteger(value)) malformed('an integer beyond 2^53 - 1')
    return value
  }

  /** A length: -1 is null; anything that does not fit what is left is malformed. */
  length(what: string): number {
    const length = this.varint()
    if (length < -1 || length > this.end - this.position) malformed(`a ${what} of ${length} bytes`)
    return length
  }
}
