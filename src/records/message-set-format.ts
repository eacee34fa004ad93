/**
 * The numbers of a message of magic 0 and 1, big-endian, as Kafka stored and sent it up to 0.10
 * (KIP-32 brought magic 1), and its header in the form that batches have.
 *
 *    0 offset 8 · 8 size 4 (of what follows it) · 12 crc 4 · 16 magic 1 · 17 attributes 1 ·
 *   [18 timestamp 8, magic 1 alone] · key 4 + bytes · value 4 + bytes
 *
 * The crc is CRC-32 (IEEE) of everything from the magic on; -1 is the length of null. Where the
 * attributes name a codec the message is a wrapper: its value is a whole set, compressed, and its
 * offset is that of the last message inside. Which offset is the first is known only once it was
 * opened, so that the header gives the last one for both.
 */
import { SeglogError } from '../errors.js'
import type { BatchHeader } from './batch.js'
import { Attribute, LENGTH_OVERHEAD_BYTES, NONE } from './format.js'

export const MessageField = {
  OFFSET: 0,
  SIZE: 8,
  CRC: 12,
  MAGIC: 16,
  ATTRIBUTES: 17,
  /** In magic 1. */
  TIMESTAMP: 18,
} as const

/** The magics of messages, as opposed to that of batches. */
export type OldMagic = 0 | 1

/** Where the key begins, by magic. */
export const KEY_AT: readonly [number, number] = [18, 26]

/** Bytes of a message of null key and null value, by magic. */
export const MESSAGE_BYTES_MIN: readonly [number, number] = [KEY_AT[0] + 8, KEY_AT[1] + 8]

const TWO_32 = 2 ** 32

export function isOldMagic(magic: number | undefined): magic is OldMagic {
  return magic === 0 || magic === 1
}

function int64(view: DataView, at: number): number {
  return view.getInt32(at) * TWO_32 + view.getUint32(at + 4)
}

function offsetOf(view: DataView, position: number): number {
  const offset = int64(view, MessageField.OFFSET)
  if (offset < 0) throw new SeglogError('CORRUPT', `message at ${position}: an offset below 0`)
  if (offset > Number.MAX_SAFE_INTEGER) {
    throw new SeglogError('OFFSET_TOO_LARGE', `message at ${position}: an offset above 2^53 - 1`)
  }
  return offset
}

function timestampOf(view: DataView, magic: OldMagic, position: number): number {
  if (magic === 0) return NONE
  const timestamp = int64(view, MessageField.TIMESTAMP)
  if (timestamp < NONE || timestamp > Number.MAX_SAFE_INTEGER) {
    throw new SeglogError('CORRUPT', `message at ${position}: a timestamp of ${timestamp}`)
  }
  return timestamp
}

/**
 * Reads and checks the header at `at`, behind which key and value need not be there. The CRC is
 * not checked. `anyOffset`: the offset is of no meaning, as in what a producer sends, and given as
 * 0. Errors: SHORT, BAD_MAGIC, CORRUPT, OFFSET_TOO_LARGE.
 */
export function parseMessageHeader(
  bytes: Uint8Array,
  at: number,
  origin = 0,
  anyOffset = false,
): BatchHeader {
  const position = origin + at
  const magic = bytes[at + MessageField.MAGIC]
  if (magic === undefined || (isOldMagic(magic) && bytes.length - at < MESSAGE_BYTES_MIN[magic])) {
    throw new SeglogError('SHORT', `message at ${position}: the bytes end in its header`)
  }
  if (!isOldMagic(magic)) {
    throw new SeglogError('BAD_MAGIC', `message at ${position}: magic ${magic}`)
  }
  const view = new DataView(bytes.buffer, bytes.byteOffset + at, MESSAGE_BYTES_MIN[magic])
  const sizeBytes = view.getInt32(MessageField.SIZE) + LENGTH_OVERHEAD_BYTES
  if (sizeBytes < MESSAGE_BYTES_MIN[magic]) {
    throw new SeglogError('CORRUPT', `message at ${position}: a size of ${sizeBytes}`)
  }
  const attributes = view.getUint8(MessageField.ATTRIBUTES)
  const offset = anyOffset ? 0 : offsetOf(view, position)
  const timestamp = timestampOf(view, magic, position)
  return {
    baseOffset: offset,
    sizeBytes,
    leaderEpoch: NONE,
    magic,
    crc: view.getUint32(MessageField.CRC),
    attributes,
    compression: attributes & Attribute.COMPRESSION_MASK,
    isLogAppendTime: magic === 1 && (attributes & Attribute.LOG_APPEND_TIME) !== 0,
    isTransactional: false,
    isControl: false,
    lastOffset: offset,
    baseTimestamp: timestamp,
    hasDeleteHorizon: false,
    maxTimestamp: timestamp,
    producerId: NONE,
    producerEpoch: NONE,
    baseSequence: NONE,
    count: 1,
  }
}
