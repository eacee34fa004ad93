/**
 * Kafka's `%020d.snapshot` file: what is known of producers from the batches below the offset in
 * its name, so that a start reads only those above. Pure; all numbers big-endian.
 *
 *   0 version 2 (1) · 2 crc 4, CRC-32C of all that follows · 6 count 4 · then for each entry 46
 *   bytes: producerId 8 · producerEpoch 2 · lastSequence 4 · lastOffset 8 · offsetDelta 4 ·
 *   timestamp 8 · coordinatorEpoch 4 · currentTxnFirstOffset 8
 *
 * Kafka keeps one batch of each producer and, reading, believes the last entry of an id. So an entry
 * is written for each batch that is known, oldest first: Kafka reads the file as ever, and here a
 * repeat of any of five batches is known again after a start.
 */
import { native } from '../native.js'
import {
  type KnownBatch,
  type ProducerBatch,
  type ProducerEntry,
  sequenceAfter,
} from './producer-state.js'

const VERSION = 1
const CRC_AT = 2
const COVERED_AT = 6
const ENTRIES_AT = 10
const ENTRY_BYTES = 46
const SEQUENCES = 2 ** 31

export function encodeSnapshot(producers: Iterable<ProducerEntry>): Buffer {
  const entries = [...producers].flatMap(entriesOf)
  const bytes = Buffer.alloc(ENTRIES_AT + entries.length * ENTRY_BYTES)
  bytes.writeInt16BE(VERSION, 0)
  bytes.writeInt32BE(entries.length, COVERED_AT)
  let at = ENTRIES_AT
  for (const { producerId, producerEpoch, batch, timestamp } of entries) {
    const delta = batch ? batch.lastOffset - batch.baseOffset : 0
    bytes.writeBigInt64BE(BigInt(producerId), at)
    bytes.writeInt16BE(producerEpoch, at + 8)
    bytes.writeInt32BE(batch?.lastSequence ?? -1, at + 10)
    bytes.writeBigInt64BE(BigInt(batch?.lastOffset ?? -1), at + 14)
    bytes.writeInt32BE(delta, at + 22)
    bytes.writeBigInt64BE(BigInt(timestamp), at + 26)
    bytes.writeInt32BE(-1, at + 34)
    bytes.writeBigInt64BE(-1n, at + 38)
    at += ENTRY_BYTES
  }
  bytes.writeUInt32BE(sumOf(bytes), CRC_AT)
  return bytes
}

interface SnapshotEntry {
  producerId: number
  producerEpoch: number
  /** Undefined where only a control batch was seen. */
  batch: KnownBatch | undefined
  timestamp: number
}

function entriesOf(entry: ProducerEntry): SnapshotEntry[] {
  const { producerId, producerEpoch, batches, lastTimestamp } = entry
  const producer = { producerId, producerEpoch }
  if (batches.length === 0) return [{ ...producer, batch: undefined, timestamp: lastTimestamp }]
  return batches.map((batch, i) => {
    const timestamp = i === batches.length - 1 ? lastTimestamp : batch.timestamp
    return { ...producer, batch, timestamp }
  })
}

/** The batches of a snapshot in its order; undefined where it is damaged or of another version. */
export function decodeSnapshot(bytes: Buffer): ProducerBatch[] | undefined {
  if (bytes.length < ENTRIES_AT || bytes.readInt16BE(0) !== VERSION) return undefined
  const count = bytes.readInt32BE(COVERED_AT)
  if (count < 0 || bytes.length < ENTRIES_AT + count * ENTRY_BYTES) return undefined
  if (bytes.readUInt32BE(CRC_AT) !== sumOf(bytes)) return undefined
  const batches: ProducerBatch[] = []
  for (let i = 0; i < count; i++) batches.push(readEntry(bytes, ENTRIES_AT + i * ENTRY_BYTES))
  return batches
}

function readEntry(bytes: Buffer, at: number): ProducerBatch {
  const lastSequence = bytes.readInt32BE(at + 10)
  const lastOffset = Number(bytes.readBigInt64BE(at + 14))
  const delta = Math.max(0, bytes.readInt32BE(at + 22))
  return {
    producerId: Number(bytes.readBigInt64BE(at)),
    producerEpoch: bytes.readInt16BE(at + 8),
    firstSequence: lastSequence < 0 ? -1 : sequenceAfter(lastSequence, SEQUENCES - delta),
    baseOffset: lastOffset - delta,
    lastOffset,
    timestamp: Number(bytes.readBigInt64BE(at + 26)),
  }
}

function sumOf(bytes: Buffer): number {
  return native.crc32c(bytes, COVERED_AT, bytes.length - COVERED_AT, 0)
}
