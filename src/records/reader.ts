/**
 * Records out of a batch of magic 2, and by message-set.ts out of a message of magic 0 or 1. Keys and values are views into the batch, or into the one
 * buffer that its records were decompressed to.
 *
 * Nothing of the bytes is trusted: counts and lengths are checked against what is left before
 * anything is made of them, and decompression stops at a bound. Offsets must rise and stay within
 * the header's last offset; gaps, as compaction leaves them, are allowed. Errors: CORRUPT (CRC,
 * compressed data), INVALID_RECORD, TOO_LARGE, UNSUPPORTED_COMPRESSION, and those of `batchAt`.
 */
import { SeglogError } from '../errors.js'
import { type Batch, batchAt, crcMatches } from './batch.js'
import { decompress, OUTPUT_BYTES_MAX_DEFAULT } from './compression.js'
import { HEADER_BYTES, RECORD_BYTES_MIN } from './format.js'
import { iterateMessageRecords } from './message-set.js'
import { isOldMagic } from './message-set-format.js'
import type { LogRecord, RecordHeader } from './record.js'
import { VarintReader } from './varint.js'

export interface ReadOptions {
  /** Compare the CRC first. Default true; false where it was checked before. */
  checkCrc?: boolean
  /** Bound of decompression in bytes; default 32 MiB. */
  maxOutputBytes?: number
}

const noHeaders: readonly RecordHeader[] = Object.freeze([])

function invalid(what: string): never {
  throw new SeglogError('INVALID_RECORD', `records: ${what}`)
}

function bytesOf(reader: VarintReader, what: string): Uint8Array | null {
  const length = reader.length(what)
  if (length < 0) return null
  const { bytes, position } = reader
  reader.position = position + length
  return new Uint8Array(bytes.buffer, bytes.byteOffset + position, length)
}

/** The headers of the record that `reader` stands in, which are its last part. */
export function headersOf(reader: VarintReader): readonly RecordHeader[] {
  const count = reader.varint()
  if (count === 0) return noHeaders
  // A header takes two bytes at least.
  if (count < 0 || count > (reader.end - reader.position) / 2) invalid(`${count} headers`)
  const headers: RecordHeader[] = []
  for (let index = 0; index < count; index++) {
    const key = bytesOf(reader, 'header key')
    if (key === null) invalid('a header without a key')
    const text = Buffer.from(key.buffer, key.byteOffset, key.length).toString('utf8')
    headers.push({ key: text, value: bytesOf(reader, 'header value') })
  }
  return headers
}

/** The bytes of the records, decompressed where they are compressed. */
function recordBytes(batch: Batch, maxOutputBytes: number): Uint8Array {
  const { bytes, header } = batch
  const stored = bytes.subarray(HEADER_BYTES)
  if (header.compression === 0 || header.count === 0) return stored
  return decompress(header.compression, stored, maxOutputBytes)
}

/**
 * Yields the records of a batch in order; control batches too, whose records are markers. Checks
 * as it goes: what was yielded before an error is what the bytes say.
 */
export function* iterateRecords(
  source: Batch | Uint8Array,
  options: ReadOptions = {},
): Generator<LogRecord, void, undefined> {
  const batch = source instanceof Uint8Array ? batchAt(source, 0) : source
  const { header } = batch
  if (isOldMagic(header.magic)) {
    yield* iterateMessageRecords(batch, options)
    return
  }
  if (options.checkCrc !== false && !crcMatches(batch)) {
    throw new SeglogError('CORRUPT', `batch of offset ${header.baseOffset}: the CRC does not match`)
  }
  const bytes = recordBytes(batch, options.maxOutputBytes ?? OUTPUT_BYTES_MAX_DEFAULT)
  const { count, baseOffset, baseTimestamp, lastOffset } = header
  if (count > bytes.length / RECORD_BYTES_MIN) invalid(`${count} in ${bytes.length} bytes`)
  const stamped = header.isLogAppendTime ? header.maxTimestamp : null
  const reader = new VarintReader(bytes, 0, bytes.length)
  let expected = baseOffset
  for (let index = 0; index < count; index++) {
    reader.end = bytes.length
    const length = reader.length('record')
    if (length < RECORD_BYTES_MIN - 1) invalid(`a record of ${length} bytes`)
    reader.end = reader.position + length
    reader.byte() // attributes of a record, of which none are defined
    const timestamp = baseTimestamp + reader.varlong()
    if (!Number.isSafeInteger(timestamp)) invalid('a timestamp beyond 2^53 - 1')
    const offset = baseOffset + reader.varint()
    if (offset < expected || offset > lastOffset) invalid(`offset ${offset} out of order`)
    expected = offset + 1
    const key = bytesOf(reader, 'key')
    const value = bytesOf(reader, 'value')
    const headers = headersOf(reader)
    if (reader.position !== reader.end) invalid('bytes behind the headers of a record')
    yield { offset, timestamp: stamped ?? timestamp, key, value, headers }
  }
  if (reader.position !== bytes.length) invalid('bytes behind the last record')
}
