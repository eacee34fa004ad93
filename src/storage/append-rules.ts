/**
 * What a topic's configuration asks of a batch from a client before it is appended: its size, its
 * timestamps, and who gives them (`max.message.bytes`, `message.timestamp.type`,
 * `message.timestamp.before.max.ms`, `message.timestamp.after.max.ms`; KIP-32, KIP-937).
 *
 * Only the header is read: its base timestamp is that of the first record, its largest that of any.
 * Whether the rest of it is sound is for the append itself.
 */
import { native, Status } from '../native.js'
import { Attribute, BatchField, HEADER_BYTES, NONE } from '../records/format.js'
import type { LogTuning } from './log-options.js'

/** A status of an append beside those of the addon: Kafka's error 32. */
export const INVALID_TIMESTAMP = -100

/** Header fields as they were before they were stamped. */
export interface Unstamped {
  attributes: number
  maxTimestamp: bigint
  crc: number
}

type Rules = Pick<
  LogTuning,
  'maxMessageBytes' | 'timestampType' | 'timestampBeforeMaxMs' | 'timestampAfterMaxMs'
>

/** OK, TOO_LARGE or INVALID_TIMESTAMP. Bytes that are no batch are OK here. */
export function checkRules(
  bytes: Uint8Array,
  offset: number,
  length: number,
  rules: Rules,
  nowMs: number,
): number {
  if (length > rules.maxMessageBytes) return Status.TOO_LARGE
  if (length < HEADER_BYTES || rules.timestampType === 'LogAppendTime') return Status.OK
  // The mark of a broker's time; a producer may not claim it.
  const marked = (bytes[offset + BatchField.ATTRIBUTES + 1]! & Attribute.LOG_APPEND_TIME) !== 0
  if (marked) return INVALID_TIMESTAMP
  const { timestampBeforeMaxMs, timestampAfterMaxMs } = rules
  if (timestampBeforeMaxMs === Infinity && timestampAfterMaxMs === Infinity) return Status.OK
  const view = new DataView(bytes.buffer, bytes.byteOffset + offset, HEADER_BYTES)
  const max = Number(view.getBigInt64(BatchField.MAX_TIMESTAMP))
  const first = Number(view.getBigInt64(BatchField.BASE_TIMESTAMP))
  if (max !== NONE && max - nowMs > timestampAfterMaxMs) return INVALID_TIMESTAMP
  if (first !== NONE && nowMs - first > timestampBeforeMaxMs) return INVALID_TIMESTAMP
  return Status.OK
}

/**
 * Gives a batch the broker's time, as Kafka does: attributes, largest timestamp and CRC change.
 * Returns what they were, or undefined where the bytes do not carry a right CRC and were left alone:
 * a new one would hide the damage.
 */
export function stampTime(
  bytes: Uint8Array,
  offset: number,
  length: number,
  nowMs: number,
): Unstamped | undefined {
  if (length < HEADER_BYTES) return undefined
  const view = new DataView(bytes.buffer, bytes.byteOffset + offset, HEADER_BYTES)
  const before = {
    attributes: view.getInt16(BatchField.ATTRIBUTES),
    maxTimestamp: view.getBigInt64(BatchField.MAX_TIMESTAMP),
    crc: view.getUint32(BatchField.CRC),
  }
  const sum = () =>
    native.crc32c(bytes, offset + BatchField.ATTRIBUTES, length - BatchField.ATTRIBUTES, 0)
  if (sum() !== before.crc) return undefined
  view.setInt16(BatchField.ATTRIBUTES, before.attributes | Attribute.LOG_APPEND_TIME)
  view.setBigInt64(BatchField.MAX_TIMESTAMP, BigInt(nowMs))
  view.setUint32(BatchField.CRC, sum())
  return before
}

/** Takes a stamp back, for a batch that was not appended. */
export function unstamp(bytes: Uint8Array, offset: number, before: Unstamped): void {
  const view = new DataView(bytes.buffer, bytes.byteOffset + offset, HEADER_BYTES)
  view.setInt16(BatchField.ATTRIBUTES, before.attributes)
  view.setBigInt64(BatchField.MAX_TIMESTAMP, before.maxTimestamp)
  view.setUint32(BatchField.CRC, before.crc)
}
