/**
 * One record batch of magic 2 with one record, byte by byte, for workloads that start from finished
 * batches. Layout: KIP-98, and Kafka's DefaultRecordBatch.
 */
import { native } from '../src/native.js'

const HEADER_BYTES = 61
/** The sum covers everything behind it, from `attributes` on. */
const CRC_AT = 17
const CRC_FROM = 21

/** Zigzag, then seven bits a byte. Values here are small, so 32 bits are enough. */
function varint(value: number): number[] {
  const bytes: number[] = []
  let rest = ((value << 1) ^ (value >> 31)) >>> 0
  for (; rest > 0x7f; rest >>>= 7) bytes.push((rest & 0x7f) | 0x80)
  return [...bytes, rest]
}

/** A batch with offset 0, no key, no headers, and a value of `valueBytes` bytes. */
export function batchOf(valueBytes: number, timestampMs: number): Buffer {
  const value = Buffer.alloc(valueBytes, 'seglog ')
  // attributes, timestampDelta, offsetDelta, no key
  const front = [0, ...varint(0), ...varint(0), ...varint(-1), ...varint(valueBytes)]
  const record = Buffer.concat([Buffer.from(front), value, Buffer.from(varint(0))])
  const body = Buffer.concat([Buffer.from(varint(record.length)), record])
  const batch = Buffer.concat([Buffer.alloc(HEADER_BYTES), body])
  batch.writeInt32BE(batch.length - 12, 8) // batchLength
  batch.writeInt32BE(-1, 12) // partitionLeaderEpoch
  batch.writeInt8(2, 16) // magic
  batch.writeBigInt64BE(BigInt(timestampMs), 27) // baseTimestamp
  batch.writeBigInt64BE(BigInt(timestampMs), 35) // maxTimestamp
  batch.writeBigInt64BE(-1n, 43) // producerId
  batch.writeInt16BE(-1, 51) // producerEpoch
  batch.writeInt32BE(-1, 53) // baseSequence
  batch.writeInt32BE(1, 57) // records
  const sum = native.crc32c(batch, CRC_FROM, batch.length - CRC_FROM, 0)
  batch.writeUInt32BE(sum, CRC_AT)
  return batch
}
