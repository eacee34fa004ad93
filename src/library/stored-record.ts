/**
 * A record as a reader of the library gets it: a row of a table that says where its parts lie in
 * the chunk that it was read with, a copy of the file's bytes. It makes a bigint or a Buffer when
 * it is asked for one; most readers want the value alone.
 *
 * A record keeps its chunk and its table in memory, up to some 512 KiB, or one whole batch where
 * that is larger: copy the parts of what is kept for long.
 */
import { PLACES, Place, TIMES } from '../native-records.js'
import { headersAt, type RecordCursor } from '../records/cursor.js'
import type { LogRecord } from '../records/record.js'

export interface StoredHeader {
  key: string
  value: Buffer | null
}

/** What `Buffer.prototype.subarray` constructs, without the way through it. */
const View = ((Buffer as unknown as { [Symbol.species]?: unknown })[Symbol.species] ?? undefined) as
  | (new (
      buffer: ArrayBufferLike,
      start: number,
      length: number,
    ) => Buffer)
  | undefined

const viewOf = (buffer: ArrayBufferLike, start: number, length: number): Buffer =>
  View === undefined
    ? Buffer.from(buffer as ArrayBuffer, start, length)
    : new View(buffer, start, length)

/** Where the records of a chunk have their parts: rows as native-records.ts describes them. */
export class RecordTable {
  readonly bytes: Buffer
  readonly times: Float64Array
  readonly places: Int32Array
  readonly #buffer: ArrayBufferLike
  readonly #start: number

  constructor(bytes: Buffer, times: Float64Array, places: Int32Array) {
    this.bytes = bytes
    this.times = times
    this.places = places
    this.#buffer = bytes.buffer
    this.#start = bytes.byteOffset
  }

  /** A view, or null for a length below 0. */
  part(start: number, length: number): Buffer | null {
    return length < 0 ? null : viewOf(this.#buffer, this.#start + start, length)
  }
}

const noHeaders: readonly StoredHeader[] = Object.freeze([])
const inspect = Symbol.for('nodejs.util.inspect.custom')

/**
 * A record of the log. `JSON.stringify` gives its offset as text, and Buffers as Node writes them.
 */
export class StoredRecord {
  readonly #table: RecordTable
  readonly #row: number

  /** Readers make them. */
  constructor(table: RecordTable, row: number) {
    this.#table = table
    this.#row = row
  }

  get offset(): bigint {
    return BigInt(this.#table.times[this.#row * TIMES]!)
  }

  /** ms since 1970, or -1 where there is none. */
  get timestamp(): number {
    return this.#table.times[this.#row * TIMES + 1]!
  }

  /** A view of the chunk; null where the record has none, which is not the same as empty. */
  get key(): Buffer | null {
    const at = this.#row * PLACES
    const { places } = this.#table
    return this.#table.part(places[at + Place.KEY_START]!, places[at + Place.KEY_LENGTH]!)
  }

  /** A view of the chunk; null is a tombstone, which is not the same as empty. */
  get value(): Buffer | null {
    const at = this.#row * PLACES
    const { places } = this.#table
    return this.#table.part(places[at + Place.VALUE_START]!, places[at + Place.VALUE_LENGTH]!)
  }

  /** In their order; a key may come twice (KIP-82). */
  get headers(): readonly StoredHeader[] {
    const at = this.#row * PLACES
    const { bytes, places } = this.#table
    const count = places[at + Place.HEADER_COUNT]!
    return count === 0 ? noHeaders : headersAt(bytes, places[at + Place.HEADERS_START]!, count)
  }

  toJSON() {
    const { offset, timestamp, key, value, headers } = this
    return { offset: String(offset), timestamp, key, value, headers }
  }

  /** What `console.log` shows. */
  [inspect]() {
    const { offset, timestamp, key, value, headers } = this
    return { offset, timestamp, key, value, headers }
  }
}

/** Adds the records of `table` to the end of `records`. */
export function addRecords(records: StoredRecord[], table: RecordTable): void {
  const rows = table.times.length / TIMES
  const start = records.length
  records.length = start + rows
  for (let row = 0; row < rows; row++) records[start + row] = new StoredRecord(table, row)
}

/**
 * The records of a cursor that lie in [from, to), in rows. What comes before an error is in
 * `records`, as an error leaves it.
 */
export function addFromCursor(
  records: StoredRecord[],
  bytes: Buffer,
  cursor: RecordCursor,
  { from, to }: { from: number; to: number },
): void {
  const times: number[] = []
  const places: number[] = []
  try {
    while (cursor.next()) {
      if (cursor.offset >= to) break
      if (cursor.offset < from) continue
      times.push(cursor.offset, cursor.timestamp)
      places.push(cursor.keyStart, cursor.keyLength, cursor.valueStart, cursor.valueLength)
      places.push(cursor.headersStart, cursor.headerCount)
    }
  } finally {
    addRecords(records, new RecordTable(bytes, Float64Array.from(times), Int32Array.from(places)))
  }
}

/** A record of magic 0 or 1, which has no headers, in memory of its own. */
export function storedCopy({ offset, timestamp, key, value }: LogRecord): StoredRecord {
  const keyLength = key?.length ?? -1
  const valueStart = Math.max(keyLength, 0)
  const bytes = Buffer.concat([key ?? noBytes, value ?? noBytes])
  const places = [0, keyLength, valueStart, value?.length ?? -1, 0, 0]
  const table = new RecordTable(bytes, Float64Array.of(offset, timestamp), Int32Array.from(places))
  return new StoredRecord(table, 0)
}

const noBytes = new Uint8Array(0)
