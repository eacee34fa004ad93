/**
 * Records out of messages of magic 0 and 1, plain or wrapped: what a wrapper holds is opened here
 * and nowhere else. Keys and values are views into the message, or into the one buffer that its
 * inner set was decompressed to.
 *
 * Inner offsets are absolute in magic 0; in magic 1 they are relative, and the wrapper's own is
 * that of the last. A wrapper of LogAppendTime overrides the times inside (KIP-32). Wrappers are
 * not nested. Nothing is made per record but the record, and nothing is trusted: lengths are
 * checked against what is left, and decompression stops at a bound.
 *
 * Errors: SHORT, CORRUPT (CRC, sizes, compressed data), INVALID_RECORD (what a right CRC does not
 * excuse), TOO_LARGE, UNSUPPORTED_COMPRESSION.
 */
import { SeglogError } from '../errors.js'
import { type Batch, crcMatches } from './batch.js'
import { codecOf, decompress, OUTPUT_BYTES_MAX_DEFAULT } from './compression.js'
import {
  isOldMagic,
  KEY_AT,
  MESSAGE_BYTES_MIN,
  MessageField,
  parseMessageHeader,
} from './message-set-format.js'
import { rightChecksum } from './message-set-lz4.js'
import type { LogRecord, RecordHeader } from './record.js'

export interface MessageReadOptions {
  /** Compare the CRC of the message first. Default true. Those inside a wrapper always are. */
  checkCrc?: boolean
  /** Bound of decompression in bytes; default 32 MiB. */
  maxOutputBytes?: number
  /** Offsets are of no meaning, as in what a producer sends, and all given as 0. */
  anyOffset?: boolean
}

const CODEC = { LZ4: 3, ZSTD: 4 } as const

const noHeaders: readonly RecordHeader[] = Object.freeze([])

function invalid(what: string): never {
  throw new SeglogError('INVALID_RECORD', `messages: ${what}`)
}

/** A message that must lie whole at `at`. Errors as `parseMessageHeader`. */
export function messageAt(bytes: Uint8Array, at: number, anyOffset = false): Batch {
  const header = parseMessageHeader(bytes, at, 0, anyOffset)
  if (header.sizeBytes > bytes.length - at) {
    throw new SeglogError('SHORT', `message at ${at}: ${header.sizeBytes} bytes, some lack`)
  }
  const view = new Uint8Array(bytes.buffer, bytes.byteOffset + at, header.sizeBytes)
  return { header, bytes: view, position: at }
}

/** Key and value, which must fill the message to its end. */
function fieldsOf({ bytes, header }: Batch): [Uint8Array | null, Uint8Array | null] {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
  let at = KEY_AT[header.magic === 0 ? 0 : 1]
  const field = (what: string): Uint8Array | null => {
    if (bytes.length - at < 4) invalid(`the message ends before its ${what}`)
    const length = view.getInt32(at)
    at += 4
    if (length === -1) return null
    if (length < 0 || length > bytes.length - at) invalid(`a ${what} of ${length} bytes`)
    at += length
    return new Uint8Array(bytes.buffer, bytes.byteOffset + at - length, length)
  }
  const fields: [Uint8Array | null, Uint8Array | null] = [field('key'), field('value')]
  if (at !== bytes.length) invalid('bytes behind the value of a message')
  return fields
}

/** The set inside a wrapper. */
function openWrapper({ header }: Batch, value: Uint8Array | null, maxOutputBytes: number) {
  const { compression, magic } = header
  if (value === null) invalid('a compressed message without a value')
  if (codecOf(compression) === undefined) invalid(`codec ${compression}`)
  if (compression === CODEC.ZSTD) {
    throw new SeglogError('UNSUPPORTED_COMPRESSION', 'messages: zstd begins with magic 2')
  }
  const packed = compression === CODEC.LZ4 && magic === 0 ? rightChecksum(value) : value
  return decompress(compression, packed, maxOutputBytes)
}

/** The message at `at` of an inner set, checked by itself. */
function innerAt(set: Uint8Array, at: number, magic: number, anyOffset: boolean): Batch {
  const found = set[at + MessageField.MAGIC]
  if (isOldMagic(found) && found !== magic) invalid(`magic ${found} in a message of ${magic}`)
  let inner: Batch
  try {
    inner = messageAt(set, at, anyOffset)
  } catch (error) {
    return invalid(`inside a compressed one: ${error instanceof Error ? error.message : error}`)
  }
  if (inner.header.compression !== 0) invalid('a compressed message in a compressed one')
  return inner
}

/** What is to be added to inner offsets. */
function originOf(set: Uint8Array, { header }: Batch, anyOffset: boolean): number {
  if (header.magic === 0 || anyOffset) return 0
  let last = -1
  for (let at = 0; at < set.length; ) {
    const inner = innerAt(set, at, header.magic, false)
    last = inner.header.lastOffset
    at += inner.bytes.length
  }
  if (last > header.lastOffset) invalid(`a relative offset of ${last} up to ${header.lastOffset}`)
  return header.lastOffset - last
}

function* innerRecords(
  set: Uint8Array,
  wrapper: Batch,
  anyOffset: boolean,
): Generator<LogRecord, void, undefined> {
  const { magic, lastOffset, isLogAppendTime, maxTimestamp } = wrapper.header
  if (set.length < MESSAGE_BYTES_MIN[magic === 0 ? 0 : 1]) invalid('nothing in a compressed one')
  const origin = originOf(set, wrapper, anyOffset)
  let expected = 0
  for (let at = 0; at < set.length; ) {
    const inner = innerAt(set, at, magic, anyOffset)
    if (!crcMatches(inner)) {
      throw new SeglogError('CORRUPT', `message of offset ${lastOffset}: a CRC inside is wrong`)
    }
    const offset = inner.header.lastOffset + origin
    if (!anyOffset && (offset < expected || offset > lastOffset)) {
      invalid(`offset ${offset} out of order`)
    }
    expected = offset + 1
    const [key, value] = fieldsOf(inner)
    const timestamp = isLogAppendTime ? maxTimestamp : inner.header.maxTimestamp
    yield { offset, timestamp, key, value, headers: noHeaders }
    at += inner.bytes.length
  }
}

/**
 * Yields the records of one message in order: one, or all that a wrapper holds. Checks as it goes:
 * what was yielded before an error is what the bytes say.
 */
export function* iterateMessageRecords(
  message: Batch,
  options: MessageReadOptions = {},
): Generator<LogRecord, void, undefined> {
  const { header } = message
  if (options.checkCrc !== false && !crcMatches(message)) {
    const which = `message of offset ${header.lastOffset}`
    throw new SeglogError('CORRUPT', `${which}: the CRC does not match`)
  }
  const [key, value] = fieldsOf(message)
  if (header.compression === 0) {
    const { lastOffset: offset, maxTimestamp: timestamp } = header
    yield { offset, timestamp, key, value, headers: noHeaders }
    return
  }
  const set = openWrapper(message, value, options.maxOutputBytes ?? OUTPUT_BYTES_MAX_DEFAULT)
  yield* innerRecords(set, message, options.anyOffset ?? false)
}
