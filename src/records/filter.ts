/**
 * Rewrites one batch of magic 2 so that it keeps some of its records: what compaction leaves of it.
 * A message of magic 0 or 1 is made such a batch first: upgrade.ts.
 *
 * What stays: base offset, last offset (gaps are how a reader knows of what is gone), leader epoch,
 * producer id, epoch and base sequence, codec, the kind of timestamp, and the bytes of every kept
 * record. With a delete horizon (KIP-534) its time takes the place of the base timestamp, and the
 * deltas of the records are laid out anew against it. A batch of which nothing is kept is its
 * header alone, with the largest timestamp that it had.
 *
 * Errors: CORRUPT (CRC, compressed data), INVALID_RECORD, TOO_LARGE, UNSUPPORTED_COMPRESSION.
 */
import { SeglogError } from '../errors.js'
import { native } from '../native.js'
import { type Batch, type BatchHeader, crcMatches } from './batch.js'
import { codecOf, decompress } from './compression.js'
import { RecordCursor } from './cursor.js'
import { Attribute, BATCH_BYTES_MAX, BatchField, HEADER_BYTES, NONE } from './format.js'
import { varlongBytes, writeVarint, writeVarlong } from './varint.js'

/** A record as the decision about it needs it. */
export interface Candidate {
  offset: number
  /** A view; null where the record has no key. */
  key: Uint8Array | null
  /** Whether its value is null. */
  isTombstone: boolean
}

export interface FilterOptions {
  /** Bound of decompression in bytes. */
  maxOutputBytes: number
  /** Given to a batch that keeps a tombstone and has no horizon yet, ms since 1970. */
  horizonMs?: number
}

const TWO_32 = 2 ** 32

/** Where records lie in decompressed bytes. */
interface Records {
  bytes: Uint8Array
  from: number
  to: number
}

/**
 * What `keep` leaves of a batch: the batch itself where all of it stays as it is, a new one, or
 * undefined where no record stays.
 */
export function filterBatch(
  batch: Batch,
  keep: (record: Candidate) => boolean,
  options: FilterOptions,
): Uint8Array | undefined {
  const { header } = batch
  checkSum(batch)
  const records = recordsOf(batch, options.maxOutputBytes)
  const kept = new Kept()
  forEachRecord(header, records, (cursor, candidate, start) => {
    if (keep(candidate)) kept.take(cursor, start)
  })
  if (kept.count === 0) return undefined
  const wantsHorizon = kept.hasTombstone && !header.hasDeleteHorizon
  const horizonMs = wantsHorizon ? options.horizonMs : undefined
  if (kept.count === header.count && horizonMs === undefined) return batch.bytes
  return laidOut(batch, records.bytes, kept, horizonMs)
}

/** The header of a batch whose records are gone. */
export function emptiedBatch({ header, bytes }: Batch): Uint8Array {
  const emptied = Buffer.from(bytes.subarray(0, HEADER_BYTES))
  const view = viewOf(emptied)
  const kept = Attribute.LOG_APPEND_TIME | Attribute.TRANSACTIONAL | Attribute.CONTROL
  view.setInt16(BatchField.ATTRIBUTES, header.attributes & kept)
  putInt64(view, BatchField.BASE_TIMESTAMP, header.maxTimestamp)
  return finished(emptied, 0)
}

/**
 * Calls back with each record in order. The candidate is the same object each time, and its key a
 * view.
 */
export function visitRecords(
  batch: Batch,
  maxOutputBytes: number,
  visit: (record: Candidate) => void,
): void {
  checkSum(batch)
  const records = recordsOf(batch, maxOutputBytes)
  forEachRecord(batch.header, records, (_, candidate) => visit(candidate))
}

function checkSum(batch: Batch): void {
  if (crcMatches(batch)) return
  const { baseOffset } = batch.header
  throw new SeglogError('CORRUPT', `batch of offset ${baseOffset}: the CRC does not match`)
}

function recordsOf({ header, bytes }: Batch, maxOutputBytes: number): Records {
  if (header.compression === 0 || header.count === 0) {
    return { bytes, from: HEADER_BYTES, to: bytes.length }
  }
  const plain = decompress(header.compression, bytes.subarray(HEADER_BYTES), maxOutputBytes)
  return { bytes: plain, from: 0, to: plain.length }
}

function forEachRecord(
  header: BatchHeader,
  { bytes, from, to }: Records,
  visit: (cursor: RecordCursor, candidate: Candidate, start: number) => void,
): void {
  const cursor = new RecordCursor(bytes, from, to, header)
  const candidate: Candidate = { offset: 0, key: null, isTombstone: false }
  for (let start = cursor.position; cursor.next(); start = cursor.position) {
    const { keyStart, keyLength } = cursor
    candidate.offset = cursor.offset
    candidate.key = keyLength < 0 ? null : bytes.subarray(keyStart, keyStart + keyLength)
    candidate.isTombstone = cursor.valueLength < 0
    visit(cursor, candidate, start)
  }
}

/** Where the kept records of a batch lie. */
class Kept {
  readonly starts: number[] = []
  readonly ends: number[] = []
  hasTombstone = false
  maxTimestamp = NONE

  get count(): number {
    return this.starts.length
  }

  take(cursor: RecordCursor, start: number): void {
    this.starts.push(start)
    this.ends.push(cursor.position)
    if (cursor.valueLength < 0) this.hasTombstone = true
    if (cursor.timestamp > this.maxTimestamp) this.maxTimestamp = cursor.timestamp
  }
}

function laidOut(
  { header, bytes: original }: Batch,
  bytes: Uint8Array,
  kept: Kept,
  horizonMs: number | undefined,
): Uint8Array {
  const base = horizonMs ?? header.baseTimestamp
  const records =
    base === header.baseTimestamp
      ? joined(bytes, kept)
      : rebased(bytes, kept, header.baseTimestamp - base)
  const codec = codecOf(header.compression)
  // `recordsOf` has opened it by the same codec.
  const stored = codec === undefined ? records : codec.compress(records)
  if (stored.length > BATCH_BYTES_MAX - HEADER_BYTES) {
    throw new SeglogError('TOO_LARGE', `batch of offset ${header.baseOffset}: too large rewritten`)
  }
  const batch = Buffer.allocUnsafe(HEADER_BYTES + stored.length)
  batch.set(original.subarray(0, HEADER_BYTES))
  batch.set(stored, HEADER_BYTES)
  const view = viewOf(batch)
  if (horizonMs !== undefined) {
    view.setInt16(BatchField.ATTRIBUTES, header.attributes | Attribute.DELETE_HORIZON)
  }
  putInt64(view, BatchField.BASE_TIMESTAMP, base)
  putInt64(view, BatchField.MAX_TIMESTAMP, kept.maxTimestamp)
  return finished(batch, kept.count)
}

/** The kept records as they were. */
function joined(bytes: Uint8Array, { starts, ends }: Kept): Uint8Array {
  const size = starts.reduce((sum, start, i) => sum + (ends[i] ?? start) - start, 0)
  const records = Buffer.allocUnsafe(size)
  let at = 0
  for (const [i, start] of starts.entries()) {
    const record = bytes.subarray(start, ends[i])
    records.set(record, at)
    at += record.length
  }
  return records
}

/** The kept records with another base timestamp, `shift` ms below the one before. */
function rebased(bytes: Uint8Array, { starts, ends }: Kept, shift: number): Uint8Array {
  const pieces: Uint8Array[] = []
  for (const [i, start] of starts.entries()) {
    const reader = new RecordReader(bytes, start, ends[i] ?? start)
    const delta = reader.timestampDelta + shift
    const rest = bytes.subarray(reader.position, ends[i])
    const length = 1 + varlongBytes(delta) + rest.length
    const head = Buffer.allocUnsafe(16)
    let at = writeVarint(head, 0, length)
    head[at++] = reader.attributes
    at = writeVarlong(head, at, delta)
    pieces.push(head.subarray(0, at), rest)
  }
  return Buffer.concat(pieces)
}

/** Stands behind the timestamp delta of one record. */
class RecordReader extends RecordCursor {
  readonly attributes: number
  readonly timestampDelta: number

  constructor(bytes: Uint8Array, start: number, end: number) {
    super(bytes, start, end, NO_RECORDS)
    this.varint()
    this.attributes = this.byte()
    this.timestampDelta = this.varlong()
  }
}

const NO_RECORDS = { count: 0, baseOffset: 0 } as BatchHeader

/** Fills in length, count and CRC. */
function finished(batch: Buffer, count: number): Buffer {
  const view = viewOf(batch)
  view.setInt32(BatchField.LENGTH, batch.length - 12)
  view.setInt32(BatchField.COUNT, count)
  const summed = batch.length - BatchField.ATTRIBUTES
  view.setUint32(BatchField.CRC, native.crc32c(batch, BatchField.ATTRIBUTES, summed, 0))
  return batch
}

function viewOf(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
}

function putInt64(view: DataView, at: number, value: number): void {
  view.setInt32(at, Math.floor(value / TWO_32))
  view.setUint32(at + 4, value >>> 0)
}
