/**
 * Records as users give them and as they get them back. Pure types.
 *
 * null, empty and absent are three things: a null key or value is stored as null (a tombstone),
 * an empty one as no bytes; an absent one is null. Headers are a list because Kafka keeps their
 * order and allows a key twice.
 */

export interface RecordHeaderInput {
  /** Stored as UTF-8. */
  key: string
  /** Text is stored as UTF-8. Absent is null. */
  value?: Uint8Array | string | null | undefined
}

export interface RecordInput {
  /** Text is stored as UTF-8. Absent is null. */
  key?: Uint8Array | string | null | undefined
  /** Text is stored as UTF-8. Absent is null, a tombstone in a compacted topic. */
  value?: Uint8Array | string | null | undefined
  /** In order. An object is read in the order of its own keys. */
  headers?:
    | readonly RecordHeaderInput[]
    | Readonly<Record<string, Uint8Array | string | null>>
    | undefined
  /**
   * ms since 1970, a whole number in [-1, 2^53 - 1]; -1 is none. Absent takes the default of the
   * batch.
   */
  timestamp?: number | undefined
}

export interface RecordHeader {
  key: string
  value: Uint8Array | null
}

/** A record that was read. Its bytes are views: copy what is kept longer than the batch. */
export interface LogRecord {
  offset: number
  /** ms since 1970, or -1. Where the batch says LogAppendTime, the time of the append (KIP-32). */
  timestamp: number
  key: Uint8Array | null
  value: Uint8Array | null
  headers: readonly RecordHeader[]
}
