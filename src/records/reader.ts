/**
 * Records out of a batch of magic 2, and by message-set.ts out of a message of magic 0 or 1. Keys
 * and values are views into the batch, or into the one buffer that its records were decompressed
 * to.
 *
 * Nothing of the bytes is trusted: counts and lengths are checked against what is left before
 * anything is made of them, and decompression stops at a bound. Offsets must rise and stay within
 * the header's last offset; gaps, as compaction leaves them, are allowed. Errors: CORRUPT (CRC,
 * compressed data), INVALID_RECORD, TOO_LARGE, UNSUPPORTED_COMPRESSION, and those of `batchAt`.
 */
import { SeglogError } from '../errors.js'
import { type Batch, batchAt, crcMatches } from './batch.js'
import { decompress, OUTPUT_BYTES_MAX_DEFAULT } from './compression.js'
import { headersAt, RecordCursor } from './cursor.js'
import { HEADER_BYTES } from './format.js'
import { iterateMessageRecords } from './message-set.js'
import { isOldMagic } from './message-set-format.js'
import type { LogRecord, RecordHeader } from './record.js'

export interface ReadOptions {
  /** Compare the CRC first. Default true; false where it was checked before. */
  checkCrc?: boolean
  /** Bound of decompression in bytes; default `OUTPUT_BYTES_MAX_DEFAULT`. */
  maxOutputBytes?: number
}

const noHeaders: readonly RecordHeader[] = Object.freeze([])

/** A view, or null for a length below 0. */
function part(bytes: Buffer, start: number, length: number): Buffer | null {
  return length < 0 ? null : bytes.subarray(start, start + length)
}

/** The bytes of the records, decompressed where they are compressed. */
function recordBytes(batch: Batch, maxOutputBytes: number): Buffer {
  const { bytes, header } = batch
  const stored = bytes.subarray(HEADER_BYTES)
  const isPlain = header.compression === 0 || header.count === 0
  const plain = isPlain ? stored : decompress(header.compression, stored, maxOutputBytes)
  return Buffer.from(plain.buffer, plain.byteOffset, plain.length)
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
  const cursor = new RecordCursor(bytes, 0, bytes.length, header)
  while (cursor.next()) {
    const { offset, timestamp, headerCount, headersStart } = cursor
    yield {
      offset,
      timestamp,
      key: part(bytes, cursor.keyStart, cursor.keyLength),
      value: part(bytes, cursor.valueStart, cursor.valueLength),
      headers: headerCount === 0 ? noHeaders : headersAt(bytes, headersStart, headerCount),
    }
  }
}
