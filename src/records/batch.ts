/**
 * The header of a record batch, and the batches of a buffer. Nothing is copied: a batch is a view
 * into the bytes that it was found in. A message of magic 0 or 1, as logs of before Kafka 0.11 hold
 * them, counts as a batch too, a compressed one with all that is in it: see message-set-format.ts.
 *
 * Every number is checked before use; what is wrong is a SeglogError: SHORT (the bytes end before
 * the batch does), BAD_MAGIC, CORRUPT (lengths, counts, CRC), OFFSET_TOO_LARGE (an offset above
 * 2^53 - 1). A batch may be empty: compaction keeps the header of one whose records are gone.
 */
import { SeglogError } from '../errors.js'
import { native } from '../native.js'
import {
  Attribute,
  BATCH_BYTES_MAX,
  BatchField,
  HEADER_BYTES,
  LENGTH_OVERHEAD_BYTES,
  MAGIC,
} from './format.js'
import { isOldMagic, MESSAGE_BYTES_MIN, parseMessageHeader } from './message-set-format.js'

const TWO_32 = 2 ** 32

export interface BatchHeader {
  /**
   * Of a compressed message of magic 0 or 1, its last offset: which is the first it does not say.
   */
  baseOffset: number
  /** Of the whole batch with its header. */
  sizeBytes: number
  leaderEpoch: number
  magic: number
  /** As stored, unsigned: CRC-32C, in magic 0 and 1 CRC-32. */
  crc: number
  attributes: number
  /** Codec id: see compression.ts; 5 to 7 are unknown. */
  compression: number
  isLogAppendTime: boolean
  isTransactional: boolean
  isControl: boolean
  lastOffset: number
  /** ms since 1970, or -1. Where a delete horizon is set, that horizon (KIP-534). */
  baseTimestamp: number
  hasDeleteHorizon: boolean
  maxTimestamp: number
  producerId: number
  producerEpoch: number
  baseSequence: number
  /** Records that the batch says it holds; 1 for a message of magic 0 or 1. */
  count: number
}

/** A whole batch, and where it lies in the bytes that were given. */
export interface Batch {
  header: BatchHeader
  bytes: Uint8Array
  position: number
}

function corrupt(position: number, what: string): never {
  throw new SeglogError('CORRUPT', `batch at ${position}: ${what}`)
}

function int64(view: DataView, at: number): number {
  return view.getInt32(at) * TWO_32 + view.getUint32(at + 4)
}

/** A 64-bit field that must be exact as a number. */
function exact(view: DataView, at: number, position: number, what: string): number {
  const value = int64(view, at)
  if (!Number.isSafeInteger(value)) corrupt(position, `${what} beyond 2^53 - 1`)
  return value
}

/** Least size of what has this magic, or of anything where the bytes end before it. */
function bytesMin(magic: number | undefined): number {
  if (magic === undefined) return MESSAGE_BYTES_MIN[0]
  return isOldMagic(magic) ? MESSAGE_BYTES_MIN[magic] : HEADER_BYTES
}

/**
 * Bytes of the batch at `at`, of which only the first 12 bytes need to be there. Errors: SHORT,
 * CORRUPT (a length too small for a header).
 */
export function batchBytes(bytes: Uint8Array, at: number, origin = 0): number {
  if (at < 0 || bytes.length - at < LENGTH_OVERHEAD_BYTES) {
    throw new SeglogError('SHORT', `batch at ${origin + at}: the bytes end in its header`)
  }
  const view = new DataView(bytes.buffer, bytes.byteOffset + at, LENGTH_OVERHEAD_BYTES)
  const length = view.getInt32(BatchField.LENGTH)
  return checkedBytes(length, bytesMin(bytes[at + BatchField.MAGIC]), origin + at)
}

function checkedBytes(length: number, sizeMin: number, position: number): number {
  if (
    length < sizeMin - LENGTH_OVERHEAD_BYTES ||
    length > BATCH_BYTES_MAX - LENGTH_OVERHEAD_BYTES
  ) {
    corrupt(position, `a length of ${length}`)
  }
  return length + LENGTH_OVERHEAD_BYTES
}

/**
 * Reads and checks the header at `at`, of which 61 bytes must be there; the records need not. Of a
 * message of magic 0 or 1, its least size. The CRC is not checked: see `crcMatches`. Errors:
 * SHORT, BAD_MAGIC, CORRUPT, OFFSET_TOO_LARGE.
 */
export function parseBatchHeader(bytes: Uint8Array, at: number, origin = 0): BatchHeader {
  const position = origin + at
  // The byte of the magic lies at the same place in every version, the rest does not.
  const magic = at >= 0 ? bytes[at + BatchField.MAGIC] : undefined
  if (isOldMagic(magic)) return parseMessageHeader(bytes, at, origin)
  if (magic !== undefined && magic !== MAGIC) {
    throw new SeglogError('BAD_MAGIC', `batch at ${position}: magic ${magic}`)
  }
  if (at < 0 || bytes.length - at < HEADER_BYTES) {
    throw new SeglogError('SHORT', `batch at ${position}: the bytes end in its header`)
  }
  return headerIn(new DataView(bytes.buffer, bytes.byteOffset, bytes.length), at, origin)
}

/**
 * As `parseBatchHeader`, through a view that serves many batches. REQUIRES: 61 bytes from `at` on.
 */
export function headerIn(view: DataView, at: number, origin = 0): BatchHeader {
  const position = origin + at
  const magic = view.getInt8(at + BatchField.MAGIC)
  if (magic !== MAGIC) throw new SeglogError('BAD_MAGIC', `batch at ${position}: magic ${magic}`)
  const sizeBytes = checkedBytes(view.getInt32(at + BatchField.LENGTH), HEADER_BYTES, position)
  const attributes = view.getInt16(at + BatchField.ATTRIBUTES)
  const baseOffset = int64(view, at + BatchField.BASE_OFFSET)
  const lastOffsetDelta = view.getInt32(at + BatchField.LAST_OFFSET_DELTA)
  const count = view.getInt32(at + BatchField.COUNT)
  if (baseOffset < 0) corrupt(position, 'a base offset below 0')
  if (lastOffsetDelta < 0) corrupt(position, `a last offset delta of ${lastOffsetDelta}`)
  if (count < 0 || count - 1 > lastOffsetDelta) corrupt(position, `a count of ${count}`)
  if (baseOffset + lastOffsetDelta > Number.MAX_SAFE_INTEGER) {
    throw new SeglogError('OFFSET_TOO_LARGE', `batch at ${position}: an offset above 2^53 - 1`)
  }
  return {
    baseOffset,
    sizeBytes,
    leaderEpoch: view.getInt32(at + BatchField.LEADER_EPOCH),
    magic: MAGIC,
    crc: view.getUint32(at + BatchField.CRC),
    attributes,
    compression: attributes & Attribute.COMPRESSION_MASK,
    isLogAppendTime: (attributes & Attribute.LOG_APPEND_TIME) !== 0,
    isTransactional: (attributes & Attribute.TRANSACTIONAL) !== 0,
    isControl: (attributes & Attribute.CONTROL) !== 0,
    lastOffset: baseOffset + lastOffsetDelta,
    baseTimestamp: exact(view, at + BatchField.BASE_TIMESTAMP, position, 'a timestamp'),
    hasDeleteHorizon: (attributes & Attribute.DELETE_HORIZON) !== 0,
    maxTimestamp: exact(view, at + BatchField.MAX_TIMESTAMP, position, 'a timestamp'),
    producerId: exact(view, at + BatchField.PRODUCER_ID, position, 'a producer id'),
    producerEpoch: view.getInt16(at + BatchField.PRODUCER_EPOCH),
    baseSequence: view.getInt32(at + BatchField.BASE_SEQUENCE),
    count,
  }
}

/** A batch that must lie whole at `at`. Errors as `parseBatchHeader`. */
export function batchAt(bytes: Uint8Array, at: number): Batch {
  const header = parseBatchHeader(bytes, at)
  if (header.sizeBytes > bytes.length - at) {
    throw new SeglogError('SHORT', `batch at ${at}: ${header.sizeBytes} bytes, of which some lack`)
  }
  const view = new Uint8Array(bytes.buffer, bytes.byteOffset + at, header.sizeBytes)
  return { header, bytes: view, position: at }
}

/** Whether the CRC of a whole batch is that of its bytes. */
export function crcMatches(batch: Batch): boolean {
  const { bytes, header } = batch
  if (isOldMagic(header.magic)) {
    const summed = bytes.length - BatchField.MAGIC
    return native.crc32(bytes, BatchField.MAGIC, summed, 0) === header.crc
  }
  const length = bytes.length - BatchField.ATTRIBUTES
  return native.crc32c(bytes, BatchField.ATTRIBUTES, length, 0) === header.crc
}

/**
 * The whole batches from `at` on. Bytes that end inside a batch, as a fetch may (KIP-74), end the
 * iteration without an error, and the generator returns the position behind the last whole batch.
 * Errors: BAD_MAGIC, CORRUPT, OFFSET_TOO_LARGE.
 */
export function* iterateBatches(bytes: Uint8Array, at = 0): Generator<Batch, number, undefined> {
  while (bytes.length - at >= bytesMin(bytes[at + BatchField.MAGIC])) {
    if (batchBytes(bytes, at) > bytes.length - at) break
    const batch = batchAt(bytes, at)
    yield batch
    at += batch.header.sizeBytes
  }
  return at
}
