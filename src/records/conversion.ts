/**
 * Between message sets of magic 0 and 1 and batches of magic 2: up for what old clients produce,
 * down for what they fetch. The only copies of record bytes that a broker makes.
 *
 * Up: all messages of a set become one batch; its codec is that of the last wrapper, as in Kafka,
 * timestamps are kept, and a message of magic 0 has none (-1). Offsets in a set are of no meaning.
 * Down: each batch becomes messages, or one wrapper of the same codec; offsets are kept, headers
 * and what belongs to producers are lost, control batches are left out. What is as old as the
 * client asks for, or older, passes as it is.
 *
 * Memory: one batch or wrapper decompressed at a time, of at most 32 MiB, and the result.
 */
import { SeglogError } from '../errors.js'
import { type Batch, crcMatches, iterateBatches } from './batch.js'
import { codecOf, OUTPUT_BYTES_MAX_DEFAULT } from './compression.js'
import { BatchEncoder } from './encoder.js'
import { BatchField } from './format.js'
import { iterateMessageRecords, messageAt } from './message-set.js'
import { MessageSetBuilder } from './message-set-builder.js'
import { isOldMagic, MESSAGE_BYTES_MIN, type OldMagic } from './message-set-format.js'
import { iterateRecords } from './reader.js'
import type { RecordInput } from './record.js'

const encoder = new BatchEncoder()
const ZSTD = 4

/** Whether the bytes begin with a message of magic 0 or 1, and not with a batch. */
export function isMessageSet(bytes: Uint8Array): boolean {
  return isOldMagic(bytes[BatchField.MAGIC])
}

/** The messages of a produced set, which must fill it, each with a right CRC. */
function* producedMessages(set: Uint8Array): Generator<Batch, void, undefined> {
  for (let at = 0; at < set.length; ) {
    const message = messageAt(set, at, true)
    if (!crcMatches(message)) {
      throw new SeglogError('CORRUPT', `message at ${at}: the CRC does not match`)
    }
    yield message
    at += message.bytes.length
  }
}

/** Checks every message from the outside, and returns the codec for the batch. */
function codecOfSet(set: Uint8Array): number {
  let codec = 0
  for (const { header } of producedMessages(set)) {
    // A producer has no say in the time of the append.
    if (header.isLogAppendTime) {
      throw new SeglogError('INVALID_RECORD', 'messages: LogAppendTime from a producer')
    }
    if (header.compression !== 0) codec = header.compression
  }
  return codec
}

function* producedRecords(set: Uint8Array): Generator<RecordInput, void, undefined> {
  let left = OUTPUT_BYTES_MAX_DEFAULT
  for (const message of producedMessages(set)) {
    const options = { checkCrc: false, anyOffset: true, maxOutputBytes: left }
    for (const record of iterateMessageRecords(message, options)) {
      left -= MESSAGE_BYTES_MIN[0] + (record.key?.length ?? 0) + (record.value?.length ?? 0)
      if (left < 0) {
        throw new SeglogError('TOO_LARGE', `a set of more than ${OUTPUT_BYTES_MAX_DEFAULT} bytes`)
      }
      const { key, value, timestamp } = record
      yield { key, value, timestamp }
    }
  }
}

/**
 * One batch of magic 2, in bytes of its own, of a set that is not empty. Errors: SHORT (it ends in
 * a message), BAD_MAGIC (a batch among messages), CORRUPT, INVALID_RECORD, TOO_LARGE (more than
 * 32 MiB of records), UNSUPPORTED_COMPRESSION.
 */
export function upConverted(set: Uint8Array): Uint8Array {
  const codec = codecOf(codecOfSet(set))
  if (codec === undefined) throw new SeglogError('INVALID_RECORD', 'messages: no such codec')
  const size = encoder.encodeEach(producedRecords(set), { compression: codec.name })
  return Buffer.from(encoder.bytes.subarray(0, size))
}

export interface DownConversion {
  magic: OldMagic
  /** Records below it are left out where that takes no decompression. */
  fromOffset: number
  /** Ends behind the batch that passes this. */
  maxBytes: number
}

export interface DownConverted {
  bytes: Uint8Array
  /** Of the first message, or 0 where there is none. */
  firstBytes: number
  /** Behind the last batch that was looked at, or `fromOffset`. */
  nextOffset: number
}

/**
 * The messages of the whole batches in `batches`. Damage ends the set where something comes before
 * it. Errors: CORRUPT, INVALID_RECORD, BAD_MAGIC, TOO_LARGE, UNSUPPORTED_COMPRESSION (zstd, which
 * no old client knows).
 */
export function downConverted(batches: Uint8Array, options: DownConversion): DownConverted {
  const builder = new MessageSetBuilder(options.magic)
  let nextOffset = options.fromOffset
  try {
    for (const batch of iterateBatches(batches)) {
      convert(batch, builder, options.fromOffset)
      nextOffset = Math.max(nextOffset, batch.header.lastOffset + 1)
      if (builder.sizeBytes >= options.maxBytes) break
    }
  } catch (error) {
    if (!(error instanceof SeglogError) || builder.sizeBytes === 0) throw error
  }
  const { bytes } = builder
  return { bytes, firstBytes: bytes.length > 0 ? messageAt(bytes, 0).bytes.length : 0, nextOffset }
}

function convert(batch: Batch, builder: MessageSetBuilder, fromOffset: number): void {
  const { header } = batch
  if (header.isControl) return
  if (header.magic <= builder.magic) {
    builder.copy(batch.bytes)
    return
  }
  if (header.compression === ZSTD) {
    throw new SeglogError('UNSUPPORTED_COMPRESSION', 'records: zstd for a client before magic 2')
  }
  const records = iterateRecords(batch)
  if (header.compression !== 0) {
    builder.wrap(records, header.compression, header.isLogAppendTime)
    return
  }
  for (const record of records) {
    if (record.offset >= fromOffset) builder.add(record, header.isLogAppendTime)
  }
}
