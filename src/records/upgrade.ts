/**
 * Makes a batch of magic 2 of one stored message of magic 0 or 1, plain or wrapping others, with
 * the offsets that its records have: for compaction, which writes no older format.
 *
 * Codec, kind of timestamp and every timestamp stay; a message of magic 0 has none (-1). The batch
 * begins at the first record and ends at the message's own offset.
 *
 * Errors: CORRUPT (CRC, sizes, compressed data), INVALID_RECORD, TOO_LARGE,
 * UNSUPPORTED_COMPRESSION.
 */
import { SeglogError } from '../errors.js'
import { native } from '../native.js'
import type { Batch } from './batch.js'
import { codecOf } from './compression.js'
import { Attribute, BATCH_BYTES_MAX, BatchField, HEADER_BYTES, MAGIC, NONE } from './format.js'
import { iterateMessageRecords } from './message-set.js'
import type { LogRecord } from './record.js'
import { varintBytes, varlongBytes, writeVarint, writeVarlong } from './varint.js'

/** REQUIRES: a message of magic 0 or 1. `maxOutputBytes` bounds its decompression. */
export function upgradedMessage(message: Batch, maxOutputBytes: number): Uint8Array {
  const { header } = message
  const records = [...iterateMessageRecords(message, { maxOutputBytes })]
  const first = records[0]
  if (first === undefined) throw new SeglogError('INVALID_RECORD', 'messages: none in a wrapper')
  const plain = Buffer.concat(records.map((record) => recordBytes(record, first)))
  const stored = codecOf(header.compression)?.compress(plain) ?? plain
  if (stored.length > BATCH_BYTES_MAX - HEADER_BYTES) {
    throw new SeglogError('TOO_LARGE', `message of offset ${header.lastOffset}: too large`)
  }
  const batch = Buffer.alloc(HEADER_BYTES + stored.length)
  batch.set(stored, HEADER_BYTES)
  const maxTimestamp = records.reduce((max, { timestamp }) => Math.max(max, timestamp), NONE)
  const stamped = header.isLogAppendTime ? Attribute.LOG_APPEND_TIME : 0
  batch.writeBigInt64BE(BigInt(first.offset), BatchField.BASE_OFFSET)
  batch.writeInt32BE(batch.length - BatchField.LEADER_EPOCH, BatchField.LENGTH)
  batch.writeInt32BE(NONE, BatchField.LEADER_EPOCH)
  batch.writeInt8(MAGIC, BatchField.MAGIC)
  batch.writeInt16BE(header.compression | stamped, BatchField.ATTRIBUTES)
  batch.writeInt32BE(header.lastOffset - first.offset, BatchField.LAST_OFFSET_DELTA)
  batch.writeBigInt64BE(BigInt(first.timestamp), BatchField.BASE_TIMESTAMP)
  batch.writeBigInt64BE(BigInt(maxTimestamp), BatchField.MAX_TIMESTAMP)
  batch.writeBigInt64BE(BigInt(NONE), BatchField.PRODUCER_ID)
  batch.writeInt16BE(NONE, BatchField.PRODUCER_EPOCH)
  batch.writeInt32BE(NONE, BatchField.BASE_SEQUENCE)
  batch.writeInt32BE(records.length, BatchField.COUNT)
  const summed = batch.length - BatchField.ATTRIBUTES
  batch.writeUInt32BE(native.crc32c(batch, BatchField.ATTRIBUTES, summed, 0), BatchField.CRC)
  return batch
}

function recordBytes({ offset, timestamp, key, value }: LogRecord, first: LogRecord): Buffer {
  const delta = timestamp - first.timestamp
  const offsetDelta = offset - first.offset
  const size =
    1 + varlongBytes(delta) + varintBytes(offsetDelta) + fieldBytes(key) + fieldBytes(value) + 1
  const bytes = Buffer.alloc(varintBytes(size) + size)
  let at = writeVarint(bytes, 0, size)
  at = writeVarlong(bytes, at + 1, delta)
  at = writeVarint(bytes, at, offsetDelta)
  writeField(bytes, writeField(bytes, at, key), value)
  return bytes
}

function fieldBytes(field: Uint8Array | null): number {
  return field === null ? 1 : varintBytes(field.length) + field.length
}

function writeField(bytes: Buffer, at: number, field: Uint8Array | null): number {
  const next = writeVarint(bytes, at, field === null ? -1 : field.length)
  if (field === null) return next
  bytes.set(field, next)
  return next + field.length
}
