/**
 * Walks the records of one batch, decompressed, one after the other, and says where each of them
 * has its parts. Nothing is made per record: whoever wants a key or a value takes a view.
 *
 * Nothing of the bytes is trusted: counts and lengths are checked against what is left. Offsets
 * must rise and stay within the header's last offset; gaps, as compaction leaves them, are allowed.
 * Every error is INVALID_RECORD.
 */
import { SeglogError } from '../errors.js'
import type { BatchHeader } from './batch.js'
import { RECORD_BYTES_MIN } from './format.js'
import { VarintReader } from './varint.js'

export interface HeaderView {
  key: string
  value: Buffer | null
}

export function invalid(what: string): never {
  throw new SeglogError('INVALID_RECORD', `records: ${what}`)
}

export class RecordCursor extends VarintReader {
  offset = 0
  /** ms since 1970, or -1; where the batch says LogAppendTime, the time of the append (KIP-32). */
  timestamp = 0
  keyStart = 0
  /** -1 is null. */
  keyLength = 0
  valueStart = 0
  /** -1 is null. */
  valueLength = 0
  headerCount = 0
  headersStart = 0
  readonly #to: number
  readonly #header: BatchHeader
  #left: number
  #expected: number

  /** The records of `header` lie in [from, to) of `bytes`, decompressed. */
  constructor(bytes: Uint8Array, from: number, to: number, header: BatchHeader) {
    super(bytes, from, to)
    const { count } = header
    if (count > (to - from) / RECORD_BYTES_MIN) invalid(`${count} in ${to - from} bytes`)
    this.#to = to
    this.#header = header
    this.#left = count
    this.#expected = header.baseOffset
  }

  /** Goes to the next record; false behind the last one, which must end the bytes. */
  next(): boolean {
    const to = this.#to
    if (this.#left === 0) {
      if (this.position !== to) invalid('bytes behind the last record')
      return false
    }
    this.#left--
    this.end = to
    const length = this.length('record')
    if (length < RECORD_BYTES_MIN - 1) invalid(`a record of ${length} bytes`)
    const end = this.position + length
    this.end = end
    this.position++ // attributes of a record, of which none are defined
    const { baseOffset, lastOffset, baseTimestamp, isLogAppendTime, maxTimestamp } = this.#header
    const timestamp = baseTimestamp + this.varlong()
    if (!Number.isSafeInteger(timestamp)) invalid('a timestamp beyond 2^53 - 1')
    const offset = baseOffset + this.varint()
    if (offset < this.#expected || offset > lastOffset) invalid(`offset ${offset} out of order`)
    this.#expected = offset + 1
    this.offset = offset
    this.timestamp = isLogAppendTime ? maxTimestamp : timestamp
    const keyLength = this.length('key')
    this.keyStart = this.position
    this.keyLength = keyLength
    if (keyLength > 0) this.position += keyLength
    const valueLength = this.length('value')
    this.valueStart = this.position
    this.valueLength = valueLength
    if (valueLength > 0) this.position += valueLength
    this.headerCount = this.varint()
    this.headersStart = this.position
    if (this.headerCount !== 0) this.#passHeaders()
    if (this.position !== end) invalid('bytes behind the headers of a record')
    return true
  }

  #passHeaders(): void {
    const count = this.headerCount
    // A header takes two bytes at least.
    if (count < 0 || count > (this.end - this.position) / 2) invalid(`${count} headers`)
    for (let index = 0; index < count; index++) {
      const keyLength = this.length('header key')
      if (keyLength < 0) invalid('a header without a key')
      this.position += keyLength
      const valueLength = this.length('header value')
      if (valueLength > 0) this.position += valueLength
    }
  }
}

/** `count` headers at `start`, which a cursor has passed. Their values are views. */
export function headersAt(bytes: Buffer, start: number, count: number): HeaderView[] {
  const reader = new VarintReader(bytes, start, bytes.length)
  const take = (what: string): Buffer | null => {
    const length = reader.length(what)
    if (length < 0) return null
    reader.position += length
    return bytes.subarray(reader.position - length, reader.position)
  }
  return Array.from({ length: count }, () => {
    const key = take('header key')
    if (key === null) invalid('a header without a key')
    return { key: key.toString('utf8'), value: take('header value') }
  })
}
