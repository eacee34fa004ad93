/**
 * Records as the library gives them to its users, straight out of a chunk of a log: one loop over
 * batches and records, without an object in between. `iterateRecords` is the general way; what is
 * compressed goes through it.
 *
 * Keys and values are views of the chunk, which is nobody else's. Checks and errors are those of
 * `iterateBatches` and `iterateRecords`: nothing of the bytes is trusted.
 */
import { SeglogError } from '../errors.js'
import { native } from '../native.js'
import { type BatchHeader, batchAt, batchBytes, parseBatchHeader } from './batch.js'
import { BatchField, HEADER_BYTES, RECORD_BYTES_MIN } from './format.js'
import { headersOf, iterateRecords } from './reader.js'
import type { RecordHeader } from './record.js'
import { VarintReader } from './varint.js'

export interface StoredHeader {
  key: string
  value: Buffer | null
}

/** A record of the log. `JSON.stringify` gives its offset as text. */
export class StoredRecord {
  constructor(
    readonly offset: bigint,
    /** ms since 1970, or -1 where there is none. */
    readonly timestamp: number,
    readonly key: Buffer | null,
    readonly value: Buffer | null,
    readonly headers: readonly StoredHeader[],
  ) {}

  toJSON() {
    return { ...this, offset: String(this.offset) }
  }
}

const noHeaders: readonly StoredHeader[] = Object.freeze([])

/** Where a reader is, and where it stops. */
export interface StoredRange {
  /** Records below are left out. Afterwards: the offset behind the last batch that was read. */
  next: number
  /** Records from here on are left out, and nothing behind them is looked at. */
  end: number
  /** Bytes of batches that may be read; the batch that passes it is read whole. */
  leftBytes: number
}

function invalid(what: string): never {
  throw new SeglogError('INVALID_RECORD', `records: ${what}`)
}

/** The same bytes with the methods that Node's users know. */
function buffer(bytes: Uint8Array | null): Buffer | null {
  return bytes && Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)
}

function named(headers: readonly RecordHeader[]): readonly StoredHeader[] {
  if (headers.length === 0) return noHeaders
  return headers.map(({ key, value }) => ({ key, value: buffer(value) }))
}

function field(chunk: Buffer, reader: VarintReader, what: string): Buffer | null {
  const length = reader.length(what)
  if (length < 0) return null
  const start = reader.position
  reader.position = start + length
  return chunk.subarray(start, start + length)
}

function readPlain(
  chunk: Buffer,
  header: BatchHeader,
  at: number,
  range: StoredRange,
  records: StoredRecord[],
): void {
  const batchEnd = at + header.sizeBytes
  const { count, baseOffset, baseTimestamp, lastOffset } = header
  const bytes = header.sizeBytes - HEADER_BYTES
  if (count > bytes / RECORD_BYTES_MIN) invalid(`${count} in ${bytes} bytes`)
  const reader = new VarintReader(chunk, at + HEADER_BYTES, batchEnd)
  let expected = baseOffset
  for (let index = 0; index < count; index++) {
    reader.end = batchEnd
    const length = reader.length('record')
    if (length < RECORD_BYTES_MIN - 1) invalid(`a record of ${length} bytes`)
    const recordEnd = reader.position + length
    reader.end = recordEnd
    reader.byte() // attributes of a record, of which none are defined
    const own = baseTimestamp + reader.varlong()
    if (!Number.isSafeInteger(own)) invalid('a timestamp beyond 2^53 - 1')
    const offset = baseOffset + reader.varint()
    if (offset < expected || offset > lastOffset) invalid(`offset ${offset} out of order`)
    expected = offset + 1
    if (offset >= range.end) return
    const key = field(chunk, reader, 'key')
    const value = field(chunk, reader, 'value')
    const headers = named(headersOf(reader))
    if (reader.position !== recordEnd) invalid('bytes behind the headers of a record')
    if (offset < range.next) continue
    const timestamp = header.isLogAppendTime ? header.maxTimestamp : own
    records.push(new StoredRecord(BigInt(offset), timestamp, key, value, headers))
  }
  if (reader.position !== batchEnd) invalid('bytes behind the last record')
}

function readCompressed(
  chunk: Buffer,
  at: number,
  range: StoredRange,
  records: StoredRecord[],
): void {
  for (const record of iterateRecords(batchAt(chunk, at), { checkCrc: false })) {
    const { offset, timestamp, key, value, headers } = record
    if (offset >= range.end) return
    if (offset < range.next) continue
    records.push(
      new StoredRecord(BigInt(offset), timestamp, buffer(key), buffer(value), named(headers)),
    )
  }
}

/**
 * Reads the whole batches of a chunk within `range`, which moves on. Before an error is thrown,
 * `records` has what was read before the batch that it is about, or part of it.
 */
export function readStored(chunk: Buffer, range: StoredRange, records: StoredRecord[]): void {
  let at = 0
  while (chunk.length - at >= HEADER_BYTES && range.next < range.end && range.leftBytes > 0) {
    if (batchBytes(chunk, at) > chunk.length - at) return
    const header = parseBatchHeader(chunk, at)
    const { baseOffset, sizeBytes, lastOffset } = header
    if (baseOffset >= range.end) {
      range.next = range.end
      return
    }
    const sum = native.crc32c(chunk, at + BatchField.CRC + 4, sizeBytes - BatchField.ATTRIBUTES, 0)
    if (sum !== header.crc) {
      throw new SeglogError('CORRUPT', `batch of offset ${baseOffset}: the CRC does not match`)
    }
    if (header.compression === 0) readPlain(chunk, header, at, range, records)
    else readCompressed(chunk, at, range, records)
    at += sizeBytes
    range.next = Math.max(range.next, lastOffset + 1)
    range.leftBytes -= sizeBytes
  }
}
