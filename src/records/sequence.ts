/**
 * What the idempotence of a producer needs of a batch's header, read without looking at the rest:
 * the batch may still turn out to be malformed. A leaf of the produce path, so no object is made
 * for batches without an id.
 */

import { BatchField, HEADER_BYTES, LENGTH_OVERHEAD_BYTES, MAGIC } from './format.js'
import { isOldMagic, MESSAGE_BYTES_MIN } from './message-set-format.js'

export interface Sequence {
  producerId: number
  producerEpoch: number
  baseSequence: number
  /** Sequence numbers that the batch takes. */
  count: number
}

/**
 * Undefined for a batch without a producer id, a message of magic 0 or 1, and where fewer bytes are
 * left than a header has.
 */
export function readSequence(bytes: Uint8Array, at = 0): Sequence | undefined {
  if (bytes.length - at < HEADER_BYTES || bytes[at + BatchField.MAGIC] !== MAGIC) return undefined
  const view = new DataView(bytes.buffer, bytes.byteOffset + at, HEADER_BYTES)
  const producerId =
    view.getInt32(BatchField.PRODUCER_ID) * 0x1_0000_0000 +
    view.getUint32(BatchField.PRODUCER_ID + 4)
  if (producerId < 0) return undefined
  return {
    producerId,
    producerEpoch: view.getInt16(BatchField.PRODUCER_EPOCH),
    baseSequence: view.getInt32(BatchField.BASE_SEQUENCE),
    count: view.getInt32(BatchField.LAST_OFFSET_DELTA) + 1,
  }
}

/**
 * Base offset and size of the batch at `at`, or undefined where fewer bytes are left than a header
 * has. A message of magic 0 or 1 has its least size for a header.
 */
export function readExtent(bytes: Uint8Array, at: number) {
  const magic = bytes[at + BatchField.MAGIC]
  const bytesMin = isOldMagic(magic) ? MESSAGE_BYTES_MIN[magic] : HEADER_BYTES
  if (bytes.length - at < bytesMin) return undefined
  const view = new DataView(bytes.buffer, bytes.byteOffset + at, bytesMin)
  return {
    baseOffset: view.getUint32(0) * 0x1_0000_0000 + view.getUint32(4),
    sizeBytes: Math.max(view.getInt32(BatchField.LENGTH) + LENGTH_OVERHEAD_BYTES, bytesMin),
  }
}
