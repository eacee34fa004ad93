/**
 * A record as a reader of the library gets it. It remembers where its parts lie in the chunk that it
 * was read with, a copy of the file's bytes, and makes a bigint or a Buffer when it is asked for one;
 * most readers want the value alone.
 *
 * A record keeps its chunk in memory, up to 128 KiB, or one whole batch where that is larger: copy
 * the parts of what is kept for long.
 */
import { headersAt, type RecordCursor } from '../records/cursor.js'

export interface StoredHeader {
  key: string
  value: Buffer | null
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

  /** Readers make them: a record is where `cursor` stands in `chunk`. */
  constructor(chunk: Buffer, cursor: RecordCursor) {
    this.#chunk = chunk
    this.#offset = cursor.offset
    this.timestamp = cursor.timestamp
    this.#keyStart = cursor.keyStart
    this.#keyLength = cursor.keyLength
    this.#valueStart = cursor.valueStart
    this.#valueLength = cursor.valueLength
    this.#headersStart = cursor.headersStart
    this.#headerCount = cursor.headerCount
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
