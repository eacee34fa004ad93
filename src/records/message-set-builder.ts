/**
 * Builds message sets of magic 0 and 1, for clients that know no batches. One buffer grows and
 * takes message after message; a wrapper is laid out as a plain set first, which its compressed
 * form then replaces.
 *
 * Offsets inside a wrapper are absolute in magic 0, which several clients rely on, and relative to
 * the first in magic 1. Headers, producer ids and sequences have no place in these formats.
 */
import { SeglogError } from '../errors.js'
import { native } from '../native.js'
import { codecOf } from './compression.js'
import { Attribute, LENGTH_OVERHEAD_BYTES, NONE } from './format.js'
import { KEY_AT, MESSAGE_BYTES_MIN, MessageField, type OldMagic } from './message-set-format.js'
import { oldChecksum } from './message-set-lz4.js'
import type { LogRecord } from './record.js'

const INITIAL_BYTES = 16 * 1024
const SET_BYTES_MAX = 0x7fffffff
const TWO_32 = 2 ** 32
const LZ4 = 3

type Fields = Pick<LogRecord, 'timestamp' | 'key' | 'value'>

export class MessageSetBuilder {
  readonly magic: OldMagic
  #bytes = Buffer.allocUnsafe(INITIAL_BYTES)
  #size = 0

  constructor(magic: OldMagic) {
    this.magic = magic
  }

  /** Bytes so far. */
  get sizeBytes(): number {
    return this.#size
  }

  /** The set; a view that lasts until something is added. */
  get bytes(): Uint8Array {
    return this.#bytes.subarray(0, this.#size)
  }

  /** Takes messages that are laid out already, of this magic or an older one. */
  copy(messages: Uint8Array): void {
    this.#room(messages.length)
    this.#bytes.set(messages, this.#size)
    this.#size += messages.length
  }

  /** Takes one record as a message. `isLogAppendTime`: the broker set its time (KIP-32). */
  add(record: LogRecord, isLogAppendTime = false): void {
    this.#message(record.offset, this.#attributes(isLogAppendTime), record)
  }

  /**
   * Takes records as one message that wraps them; none add nothing. Errors:
   * UNSUPPORTED_COMPRESSION.
   */
  wrap(records: Iterable<LogRecord>, codecId: number, isLogAppendTime = false): void {
    const codec = codecOf(codecId)
    if (codec === undefined) {
      throw new SeglogError('UNSUPPORTED_COMPRESSION', `compression: there is no codec ${codecId}`)
    }
    const start = this.#size
    const attributes = this.#attributes(isLogAppendTime)
    let last = NONE
    let timestamp = NONE
    let packed: Uint8Array
    try {
      let first = NONE
      for (const record of records) {
        if (first === NONE) first = record.offset
        last = record.offset
        timestamp = Math.max(timestamp, record.timestamp)
        this.#message(this.magic === 0 ? last : last - first, attributes, record)
      }
      if (last === NONE) return
      packed = codec.compress(this.#bytes.subarray(start, this.#size))
    } finally {
      // What was laid out is either replaced or, where the records are damaged, not wanted.
      this.#size = start
    }
    const value = codecId === LZ4 && this.magic === 0 ? oldChecksum(packed) : packed
    this.#message(last, attributes | codecId, { timestamp, key: null, value })
  }

  #attributes(isLogAppendTime: boolean): number {
    return isLogAppendTime && this.magic === 1 ? Attribute.LOG_APPEND_TIME : 0
  }

  #message(offset: number, attributes: number, { timestamp, key, value }: Fields): void {
    const size = MESSAGE_BYTES_MIN[this.magic] + (key?.length ?? 0) + (value?.length ?? 0)
    this.#room(size)
    const start = this.#size
    const bytes = this.#bytes
    this.#int64(start + MessageField.OFFSET, offset)
    bytes.writeInt32BE(size - LENGTH_OVERHEAD_BYTES, start + MessageField.SIZE)
    bytes[start + MessageField.MAGIC] = this.magic
    bytes[start + MessageField.ATTRIBUTES] = attributes
    if (this.magic === 1) this.#int64(start + MessageField.TIMESTAMP, timestamp)
    this.#size = start + KEY_AT[this.magic]
    this.#field(key)
    this.#field(value)
    const summed = start + MessageField.MAGIC
    const crc = native.crc32(bytes, summed, this.#size - summed, 0)
    bytes.writeUInt32BE(crc, start + MessageField.CRC)
  }

  #field(field: Uint8Array | null): void {
    this.#bytes.writeInt32BE(field === null ? -1 : field.length, this.#size)
    this.#size += 4
    if (field === null) return
    this.#bytes.set(field, this.#size)
    this.#size += field.length
  }

  #int64(at: number, value: number): void {
    this.#bytes.writeInt32BE(Math.floor(value / TWO_32), at)
    this.#bytes.writeUInt32BE(value >>> 0, at + 4)
  }

  #room(wanted: number): void {
    const needed = this.#size + wanted
    if (needed <= this.#bytes.length) return
    if (needed > SET_BYTES_MAX) {
      throw new SeglogError('TOO_LARGE', `a message set of more than ${SET_BYTES_MAX} bytes`)
    }
    const grown = Buffer.allocUnsafe(Math.min(Math.max(needed, 2 * this.#bytes.length), 2 ** 31))
    this.#bytes.copy(grown, 0, 0, this.#size)
    this.#bytes = grown
  }
}
