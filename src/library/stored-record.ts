/**
 * A record as a reader of the library gets it. It remembers where its parts lie in the chunk that
 * it was read with, a copy of the file's bytes, and makes a bigint or a Buffer when it is asked for
 * one; most readers want the value alone.
 *
 * A record keeps its chunk in memory, up to 256 KiB, or one whole batch where that is larger: copy
 * the parts of what is kept for long.
 */
import { headersAt } from '../records/cursor.js'
import type { LogRecord } from '../records/record.js'

export interface StoredHeader {
  key: string
  value: Buffer | null
}

/** Where a record has its parts; a length of -1 is null. */
export interface RecordPlace {
  readonly offset: number
  readonly timestamp: number
  readonly keyStart: number
  readonly keyLength: number
  readonly valueStart: number
  readonly valueLength: number
  readonly headersStart: number
  readonly headerCount: number
}

const noHeaders: readonly StoredHeader[] = Object.freeze([])
const inspect = Symbol.for('nodejs.util.inspect.custom')

/**
 * A record of the log. `JSON.stringify` gives its offset as text, and Buffers as Node writes them.
 */
export class StoredRecord {
  /** ms since 1970, or -1 where there is none. */
  readonly timestamp: number
  readonly #chunk: Buffer
  readonly #offset: number
  readonly #keyStart: number
  readonly #keyLength: number
  readonly #valueStart: number
  readonly #valueLength: number
  readonly #headersStart: number
  readonly #headerCount: number

  /** Readers make them: a record is a place in `chunk`. */
  constructor(chunk: Buffer, place: RecordPlace) {
    this.#chunk = chunk
    this.#offset = place.offset
    this.timestamp = place.timestamp
    this.#keyStart = place.keyStart
    this.#keyLength = place.keyLength
    this.#valueStart = place.valueStart
    this.#valueLength = place.valueLength
    this.#headersStart = place.headersStart
    this.#headerCount = place.headerCount
  }

  get offset(): bigint {
    return BigInt(this.#offset)
  }

  /** A view of the chunk; null where the record has none, which is not the same as empty. */
  get key(): Buffer | null {
    const length = this.#keyLength
    return length < 0 ? null : this.#chunk.subarray(this.#keyStart, this.#keyStart + length)
  }

  /** A view of the chunk; null is a tombstone, which is not the same as empty. */
  get value(): Buffer | null {
    const length = this.#valueLength
    return length < 0 ? null : this.#chunk.subarray(this.#valueStart, this.#valueStart + length)
  }

  /** In their order; a key may come twice (KIP-82). */
  get headers(): readonly StoredHeader[] {
    const count = this.#headerCount
    return count === 0 ? noHeaders : headersAt(this.#chunk, this.#headersStart, count)
  }

  toJSON() {
    const { timestamp, key, value, headers } = this
    return { offset: String(this.#offset), timestamp, key, value, headers }
  }

  /** What `console.log` shows. */
  [inspect]() {
    const { offset, timestamp, key, value, headers } = this
    return { offset, timestamp, key, value, headers }
  }
}

/** A record of magic 0 or 1, which has no headers, in memory of its own. */
export function storedCopy({ offset, timestamp, key, value }: LogRecord): StoredRecord {
  const keyLength = key?.length ?? -1
  const valueStart = Math.max(keyLength, 0)
  return new StoredRecord(Buffer.concat([key ?? noBytes, value ?? noBytes]), {
    offset,
    timestamp,
    keyStart: 0,
    keyLength,
    valueStart,
    valueLength: value?.length ?? -1,
    headersStart: 0,
    headerCount: 0,
  })
}

const noBytes = new Uint8Array(0)
