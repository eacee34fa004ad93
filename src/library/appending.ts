/**
 * Builds the batch of an append. All logs of a thread share one encoder, since an append is over
 * before the next begins: memory that is warm costs nothing, and new memory costs more than the
 * append.
 */
import { badArgument, checkOptions, given } from '../arguments.js'
import type { CompressionName } from '../records/compression.js'
import { BatchEncoder } from '../records/encoder.js'
import type { RecordInput } from '../records/record.js'

export interface AppendOptions {
  /** Default none. The records are compressed together, as one batch. */
  compression?: CompressionName | undefined
  /** gzip 1 to 9, zstd -131072 to 22; the codec's default unless given. */
  compressionLevel?: number | undefined
}

/** What became of an append. */
export interface Appended {
  readonly baseOffset: bigint
  readonly lastOffset: bigint
  /** Wall clock of the append, ms since 1970; the timestamp of records that had none. */
  readonly appendTime: number
}

const FIELDS = ['compression', 'compressionLevel'] as const

const encoder = new BatchEncoder()

/**
 * Encodes `records` and calls `put` with the bytes, which are its own until it returns. Throws
 * BAD_ARGUMENT, TOO_LARGE, UNSUPPORTED_COMPRESSION.
 */
export function withBatch(
  records: readonly RecordInput[],
  options: AppendOptions | undefined,
  timestamp: number,
  maxOutputBytes: number,
  put: (bytes: Uint8Array, sizeBytes: number) => number,
): number {
  if (options === undefined) {
    const sizeBytes = encoder.encode(records, { timestamp, unsummed: true })
    return put(encoder.bytes, sizeBytes)
  }
  checkOptions('append', options, FIELDS)
  const { compression, compressionLevel } = options
  if (compression !== undefined && typeof compression !== 'string') {
    badArgument(`compression is the name of a codec, not ${given(compression)}`)
  }
  if (compressionLevel !== undefined && (compression ?? 'none') === 'none') {
    badArgument('compressionLevel goes with a compression')
  }
  const chosen = { compression, compressionLevel, maxOutputBytes, timestamp, unsummed: true }
  const sizeBytes = encoder.encode(records, chosen)
  return put(encoder.bytes, sizeBytes)
}

/** Makes its offsets when it is asked for them. */
export class AppendResult implements Appended {
  readonly appendTime: number
  readonly #baseOffset: number
  readonly #count: number

  constructor(baseOffset: number, count: number, appendTime: number) {
    this.#baseOffset = baseOffset
    this.#count = count
    this.appendTime = appendTime
  }

  get baseOffset(): bigint {
    return BigInt(this.#baseOffset)
  }

  get lastOffset(): bigint {
    return BigInt(this.#baseOffset + this.#count - 1)
  }

  toJSON() {
    const { baseOffset, lastOffset, appendTime } = this
    return { baseOffset: String(baseOffset), lastOffset: String(lastOffset), appendTime }
  }
}
