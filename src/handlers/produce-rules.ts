/**
 * What a batch of a produce must be beside what the log itself checks: whole, of magic 2, of no
 * transaction, in a codec that the version knows, and with keys where the topic is compacted.
 */
import { KafkaError, type KafkaErrorCode, SeglogError } from '../errors.js'
import { batchAt, crcMatches } from '../records/batch.js'
import { isMessageSet } from '../records/conversion.js'
import {
  Attribute,
  BatchField,
  HEADER_BYTES,
  LENGTH_OVERHEAD_BYTES,
  MAGIC,
} from '../records/format.js'
import { iterateRecords } from '../records/reader.js'
import type { TopicReplicas } from '../replication/replicas.js'

export interface Fault {
  code: KafkaErrorCode
  text: string | null
  /** The index of the record that is to blame, or -1. */
  badRecord: number
  /** As in Kafka, the start of the log is told where the log had a look at the records. */
  isLooked: boolean
}

const fault = (code: KafkaErrorCode, text: string | null): Fault => {
  return { code, text, badRecord: -1, isLooked: false }
}

/** The codec of zstd in the attributes, and the version of Produce that brought it (KIP-110). */
const ZSTD = 4
const ZSTD_SINCE = 7

/** Why a batch is refused before the log sees it, or undefined. */
export function batchFault(
  batch: Uint8Array,
  version: number,
  served: TopicReplicas,
): Fault | undefined {
  if (batch.length === 0) return fault(KafkaError.INVALID_RECORD, 'a partition without a batch')
  if (isMessageSet(batch)) {
    return fault(KafkaError.INVALID_RECORD, 'only magic 2 is accepted in this version')
  }
  // Messages of old versions are whole by now, and what is none is damage, which the log finds.
  const sizeFault = version < 3 ? undefined : sizeFaultOf(batch)
  if (sizeFault !== undefined) return fault(KafkaError.INVALID_RECORD, sizeFault)
  const low = batch[BatchField.ATTRIBUTES + 1] ?? 0
  if (batch[BatchField.MAGIC] !== MAGIC) return undefined
  // It would be visible at once, since nobody writes the marker that ends a transaction.
  if ((low & Attribute.TRANSACTIONAL) !== 0) {
    return fault(KafkaError.TRANSACTIONAL_ID_AUTHORIZATION_FAILED, 'no transactions here')
  }
  const codec = low & Attribute.COMPRESSION_MASK
  if (codec === ZSTD && version < ZSTD_SINCE) {
    return fault(KafkaError.UNSUPPORTED_COMPRESSION_TYPE, null)
  }
  if (codec > ZSTD || !beginsAsItsCodec(batch, codec)) return codecFault(batch, codec, version)
  return served.config.get('cleanup.policy').includes('compact') ? keyFault(batch) : undefined
}

/** Kafka has no better code for what it cannot decompress; damage is for the log to find. */
function codecFault(batch: Uint8Array, codec: number, version: number): Fault | undefined {
  // Before version 7, which brought zstd, Kafka asks for the codec before it has a look.
  const isLooked = codec <= ZSTD || version >= ZSTD_SINCE
  if (isLooked && !isWhole(batch)) return undefined
  const text = 'the records are not of the codec that they name'
  return { ...fault(KafkaError.UNKNOWN_SERVER_ERROR, text), isLooked }
}

function isWhole(batch: Uint8Array): boolean {
  try {
    return crcMatches(batchAt(batch, 0))
  } catch (error) {
    if (!(error instanceof SeglogError)) throw error
    return false
  }
}

/** How compressed records begin; snappy may begin with anything. */
const CODEC_MAGIC: Readonly<Record<number, readonly number[]>> = {
  1: [0x1f, 0x8b],
  3: [0x04, 0x22, 0x4d, 0x18],
  4: [0x28, 0xb5, 0x2f, 0xfd],
}

/** Whoever reads a log would stop at a batch that is not what it says. */
function beginsAsItsCodec(batch: Uint8Array, codec: number): boolean {
  const magic = CODEC_MAGIC[codec] ?? []
  return magic.every((byte, i) => batch[HEADER_BYTES + i] === byte)
}

/** Index of the first record whose time a topic does not take, or -1. */
export function badTimestamp(batch: Uint8Array, { config }: TopicReplicas, nowMs: number): number {
  const beforeMax = config.get('message.timestamp.before.max.ms')
  const afterMax = config.get('message.timestamp.after.max.ms')
  try {
    let index = 0
    for (const { timestamp } of iterateRecords(batch)) {
      if (timestamp - nowMs > afterMax || nowMs - timestamp > beforeMax) return index
      index++
    }
  } catch (error) {
    if (!(error instanceof SeglogError)) throw error
  }
  return -1
}

function sizeFaultOf(batch: Uint8Array): string | undefined {
  if (batch.length < HEADER_BYTES) return 'the batch is cut off'
  const view = new DataView(batch.buffer, batch.byteOffset, HEADER_BYTES)
  // A negative length is damage, which the log finds.
  const sizeBytes = view.getInt32(BatchField.LENGTH) + LENGTH_OVERHEAD_BYTES
  if (sizeBytes > batch.length) return 'the batch is cut off'
  if (sizeBytes < HEADER_BYTES || batch.length === sizeBytes) return undefined
  return isBatch(batch.subarray(sizeBytes)) ? 'more than one batch' : undefined
}

/** Whether a whole batch begins there. */
function isBatch(bytes: Uint8Array): boolean {
  if (bytes.length < HEADER_BYTES) return false
  const view = new DataView(bytes.buffer, bytes.byteOffset, HEADER_BYTES)
  const sizeBytes = view.getInt32(BatchField.LENGTH) + LENGTH_OVERHEAD_BYTES
  return sizeBytes >= HEADER_BYTES && sizeBytes <= bytes.length
}

/** As in Kafka, what is behind the batch and is no batch is cut off. */
export function trimmed(batch: Uint8Array): Uint8Array {
  if (batch.length < HEADER_BYTES) return batch
  const at = BatchField.LENGTH
  const high = (batch[at]! << 24) | (batch[at + 1]! << 16)
  const sizeBytes = (high | (batch[at + 2]! << 8) | batch[at + 3]!) + LENGTH_OVERHEAD_BYTES
  const hasTail = sizeBytes >= HEADER_BYTES && sizeBytes < batch.length
  return hasTail ? batch.subarray(0, sizeBytes) : batch
}

/** Compaction keeps the last record of each key, and has nothing to go by without one. */
function keyFault(batch: Uint8Array): Fault | undefined {
  try {
    const whole = batchAt(batch, 0)
    // Damage is for the log to find.
    if (!crcMatches(whole)) return undefined
    let index = 0
    for (const { key } of iterateRecords(whole, { checkCrc: false })) {
      if (key === null) {
        const text = 'a record of a compacted topic needs a key'
        const badRecord = index
        return { ...fault(KafkaError.INVALID_RECORD, text), badRecord, isLooked: true }
      }
      index++
    }
    return undefined
  } catch (error) {
    if (!(error instanceof SeglogError)) throw error
    return fault(KafkaError.INVALID_RECORD, error.message)
  }
}
