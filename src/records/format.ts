/**
 * The numbers of a record batch of magic 2, big-endian, as Kafka has stored and sent it since
 * 0.11 (KIP-98).
 *
 *    0 baseOffset 8 · 8 length 4 (of what follows it) · 12 partitionLeaderEpoch 4 ·
 *   16 magic 1 · 17 crc 4 · 21 attributes 2 · 23 lastOffsetDelta 4 · 27 baseTimestamp 8 ·
 *   35 maxTimestamp 8 · 43 producerId 8 · 51 producerEpoch 2 · 53 baseSequence 4 ·
 *   57 count 4 · 61 records, compressed as one
 *
 * The crc is CRC-32C of everything from `attributes` on, so base offset and leader epoch may be
 * stamped without it. A record is: length, attributes 1, timestampDelta, offsetDelta, key, value,
 * headers; lengths and deltas are zigzag varints, -1 is the length of null.
 */

export const BatchField = {
  BASE_OFFSET: 0,
  LENGTH: 8,
  LEADER_EPOCH: 12,
  MAGIC: 16,
  CRC: 17,
  ATTRIBUTES: 21,
  LAST_OFFSET_DELTA: 23,
  BASE_TIMESTAMP: 27,
  MAX_TIMESTAMP: 35,
  PRODUCER_ID: 43,
  PRODUCER_EPOCH: 51,
  BASE_SEQUENCE: 53,
  COUNT: 57,
  RECORDS: 61,
} as const

/** Bytes before the part that `length` counts. */
export const LENGTH_OVERHEAD_BYTES = 12
/** Bytes before the first record. */
export const HEADER_BYTES = BatchField.RECORDS
/** A record of null key, null value and no headers. */
export const RECORD_BYTES_MIN = 7
/** `length` is an int32. */
export const BATCH_BYTES_MAX = 0x7fffffff

export const MAGIC = 2

/** Bits of `attributes`. */
export const Attribute = {
  COMPRESSION_MASK: 0x07,
  LOG_APPEND_TIME: 0x08,
  TRANSACTIONAL: 0x10,
  CONTROL: 0x20,
  DELETE_HORIZON: 0x40,
} as const

/** What Kafka writes where there is no timestamp, producer, epoch or sequence. */
export const NONE = -1
