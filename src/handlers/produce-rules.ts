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

/** Code, text, and the index of the record that is to blame, or -1. */
type Fault = [code: KafkaErrorCode, text: string | null, badRecord: number]

/** The codec of zstd in the attributes, and the version of Produce that brought it (KIP-110). */
const ZSTD = 4
const ZSTD_SINCE = 7

/** Why a batch is refused before the log sees it, or undefined. */
export function batchFault(
  batch: Uint8Array,
  version: number,
  served: TopicReplicas,
): Fault | undefined {
  if (batch.length === 0) return [KafkaError.INVALID_RECORD, 'a partition without a batch', -1]
  if (isMessageSet(batch)) {
    return [KafkaError.INVALID_RECORD, 'only magic 2 is accepted in this version', -1]
  }
  // Messages of old versions are whole by now, and what is none is damage, which the log finds.
  const sizeFault = version < 3 ? undefined : sizeFaultOf(batch)
  if (sizeFault !== undefined) return [KafkaError.INVALID_RECORD, sizeFault, -1]
  const low = batch[BatchField.ATTRIBUTES + 1] ?? 0
  if (batch[BatchField.MAGIC] !== MAGIC) return undefined
  // It would be visible at once, since nobody writes the marker that ends a transaction.
  if ((low & Attribute.TRANSACTIONAL) !== 0) {
    return [KafkaError.TRANSACTIONAL_ID_AUTHORIZATION_FAILED, 'no transactions here', -1]
  }
  if ((low & Attribute.COMPRESSION_MASK) === ZSTD && version < ZSTD_SINCE) {
    return [KafkaError.UNSUPPORTED_COMPRESSION_TYPE, null, -1]
  }
  if (!beginsAsItsCodec(batch, low & Attribute.COMPRESSION_MASK)) {
    return [KafkaError.INVALID_RECORD, 'the records are not of the codec that they name', -1]
  }
  return served.config.get('cleanup.policy').includes('compact') ? keyFault(batch) : undefined
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
  const isFurther = sizeBytes >= HEADER_BYTES && batch.length - sizeBytes >= HEADER_BYTES
  return isFurther ? 'more than one batch' : undefined
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
        return [KafkaError.INVALID_RECORD, 'a record of a compacted topic needs a key', index]
      }
      index++
    }
    return undefined
  } catch (error) {
    if (!(error instanceof SeglogError)) throw error
    return [KafkaError.INVALID_RECORD, error.message, -1]
  }
}
