/**
 * Reading a log in order, a chunk at a time.
 *
 * A chunk is located, copied and decoded within one turn of the event loop, so that no roll,
 * truncation or deletion comes between its parts; or, of a long read, by the helper thread while
 * its reader is at the chunk before, and it is read anew where the log was cut since. Memory is
 * bounded by two chunks, or by one batch where that is larger. What was appended, cut or deleted
 * between two chunks is seen by the next one: the records that the log has then, or a typed error.
 */
import { SeglogError } from '../errors.js'
import { native, POOLED_BYTES_MAX } from '../native.js'
import {
  type FoundPlaces,
  findPlaces,
  type ReadingAhead,
  readAhead,
  takeAhead,
} from '../native-records.js'
import { type BatchHeader, batchAt, batchBytes, crcMatches, headerIn } from '../records/batch.js'
import { decompress } from '../records/compression.js'
import { RecordCursor } from '../records/cursor.js'
import { BatchField, HEADER_BYTES } from '../records/format.js'
import { isOldMagic } from '../records/message-set-format.js'
import { iterateRecords } from '../records/reader.js'
import type { Slice } from '../storage/slice.js'
import {
  addFromCursor,
  addRecords,
  RecordTable,
  type StoredRecord,
  storedCopy,
} from './stored-record.js'

/** What the addon lends out of warm memory; see native/buffer_pool.h. */
const CHUNK_BYTES = 256 * 1024
/** What is read first behind a gap, of which a compacted log may have many. */
const CHUNK_BYTES_MIN = 8 * 1024
/** Less is read as fast as another thread is woken. */
const AHEAD_BYTES_MIN = 64 * 1024
/** Offsets that are tried one by one for the next sound batch; then the steps grow. */
const PROBES_MAX = 4096
/** A long read takes turns with everything else in the process after so many bytes. */
const TURN_BYTES = 1024 * 1024

/** What a reader needs of a log. */
export interface Readable {
  readonly directory: string
  readonly startOffset: number
  /** Grows with each cut, before it begins; undefined where that cannot be known. */
  readonly cuts?: number
  slice(offset: number, maxBytes: number): Slice | undefined
}

/** A chunk that the helper thread reads while its reader is at the one before. */
interface Ahead {
  offset: number
  cuts: number
  reading: ReadingAhead
}

export interface ReadRange {
  /** First offset. */
  from: number
  /** Exclusive. */
  to: number
  /** Stop after batches of so many bytes; the batch that passes it is still given whole. */
  maxBytes: number
  /** Bound of what a batch may be decompressed to. */
  maxOutputBytes: number
}

/** Gives the records of a range, chunk after chunk. */
export class ChunkReader {
  readonly #log: Readable
  readonly #range: ReadRange
  #next: number
  #leftBytes: number
  #chunkBytes = CHUNK_BYTES
  #error: unknown
  #failed = false
  #begun = false
  #ahead: Ahead | undefined
  /** Bytes read since the event loop had its turn. */
  turnBytes = 0

  constructor(log: Readable, range: ReadRange) {
    this.#log = log
    this.#range = range
    this.#next = range.from
    this.#leftBytes = range.maxBytes
  }

  get isTurnOver(): boolean {
    return this.turnBytes >= TURN_BYTES
  }

  /**
   * The records of the next chunk, at least one; undefined at the end of the range. What comes
   * before an error is given first. Throws OFFSET_OUT_OF_RANGE, CORRUPT, INVALID_RECORD, TOO_LARGE,
   * UNSUPPORTED_COMPRESSION, CLOSED, IO.
   */
  next(): StoredRecord[] | undefined {
    if (this.#failed) throw this.#error
    const records: StoredRecord[] = []
    const { to } = this.#range
    // The first one also says whether there is such an offset at all.
    while (records.length === 0 && this.#leftBytes > 0 && (this.#next < to || !this.#begun)) {
      this.#begun = true
      const ahead = this.#takeAhead()
      const bytes = ahead?.bytes ?? this.#read()
      this.#chunkBytes = Math.min(CHUNK_BYTES, this.#chunkBytes * 2)
      if (bytes === undefined) return undefined
      this.turnBytes += bytes.length
      const before = this.#next
      try {
        const chunk = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)
        const at = ahead === undefined ? 0 : this.#walked(chunk, ahead.found, records)
        this.#decode(chunk, at, records)
        // What holds no whole batch would be read for ever.
        if (this.#next === before && before < to) {
          throw this.#corrupt(before, 'its length')
        }
      } catch (error) {
        this.#failed = true
        this.#error = error
        if (records.length === 0) throw error
      }
    }
    if (records.length === 0) return undefined
    this.#readAhead()
    return records
  }

  /** Begins with the next chunk, so that it is there when it is asked for. */
  #readAhead(): void {
    const { cuts } = this.#log
    const { to } = this.#range
    if (cuts === undefined || this.#failed || this.#leftBytes <= 0 || this.#next >= to) return
    if (this.#chunkBytes < CHUNK_BYTES) return
    let slice: Slice | undefined
    try {
      slice = this.#log.slice(this.#next, Math.min(CHUNK_BYTES, this.#leftBytes))
    } catch {
      return // for the next call to meet
    }
    if (slice === undefined || slice.sizeBytes < AHEAD_BYTES_MIN) return
    if (slice.sizeBytes > POOLED_BYTES_MAX) return
    const bytesMax = Math.min(this.#leftBytes, slice.sizeBytes)
    const reading = readAhead(slice, { from: this.#next, to, bytesMax })
    if (reading !== undefined) this.#ahead = { offset: this.#next, cuts, reading }
  }

  /** What was read ahead, unless the log was cut since or does not reach down there any more. */
  #takeAhead(): { bytes: Buffer; found: FoundPlaces } | undefined {
    const ahead = this.#ahead
    this.#ahead = undefined
    if (ahead === undefined || ahead.offset !== this.#next) return undefined
    const { cuts, startOffset } = this.#log
    if (ahead.cuts !== cuts || startOffset > this.#next) return undefined
    return takeAhead(ahead.reading)
  }

  /** A cut in the pool may come between the place of the bytes and their reading. */
  #read(): Uint8Array | undefined {
    for (let attempt = 0; ; attempt++) {
      try {
        return this.#slice()?.bytes()
      } catch (error) {
        if (!(error instanceof SeglogError) || error.code !== 'SHORT') throw error
        if (attempt < 3) continue
        const text = `offset ${this.#next} of ${this.#log.directory} is being cut`
        throw new SeglogError('OFFSET_OUT_OF_RANGE', text, { cause: error })
      }
    }
  }

  #slice(): Slice | undefined {
    try {
      return this.#log.slice(this.#next, Math.min(this.#chunkBytes, this.#leftBytes))
    } catch (error) {
      if (!(error instanceof SeglogError) || error.code !== 'CORRUPT') throw error
      throw this.#corrupt(this.#next, 'its header or its place')
    }
  }

  #decode(chunk: Buffer, from: number, records: StoredRecord[]): void {
    const view = new DataView(chunk.buffer, chunk.byteOffset, chunk.length)
    let at = from
    while (chunk.length - at > BatchField.MAGIC && this.#leftBytes > 0) {
      if (this.#next >= this.#range.to) return
      const walked = this.#walk(chunk, at, records)
      at += walked
      if (walked > 0) continue
      if (isOldMagic(chunk[at + BatchField.MAGIC])) {
        const sizeBytes = batchBytes(chunk, at)
        if (sizeBytes > chunk.length - at) return
        this.#messages(chunk, at, records)
        this.#leftBytes -= sizeBytes
        at += sizeBytes
        continue
      }
      if (chunk.length - at < HEADER_BYTES) return
      const header = this.#header(view, at)
      const { sizeBytes, lastOffset } = header
      if (sizeBytes > chunk.length - at) {
        if (at > 0) return
        throw this.#corrupt(this.#next, `a batch of ${sizeBytes} bytes`)
      }
      // The sum does not cover the base offset. The log checks it for the batch that it is asked
      // for, so one that does not follow the batch before is asked for.
      if (at > 0 && header.baseOffset !== this.#next) {
        this.#chunkBytes = CHUNK_BYTES_MIN
        return
      }
      const summed = sizeBytes - BatchField.ATTRIBUTES
      if (native.crc32c(chunk, at + BatchField.ATTRIBUTES, summed, 0) !== header.crc) {
        throw this.#corrupt(Math.max(header.baseOffset, this.#next), 'its CRC', lastOffset + 1)
      }
      this.#records(chunk, at, header, records)
      this.#next = Math.max(this.#next, lastOffset + 1)
      this.#leftBytes -= sizeBytes
      at += sizeBytes
    }
  }

  /**
   * Plain, sound batches that follow one another, many at once. Returns how many bytes they are;
   * at 0 the batch at `at` is something else.
   */
  #walk(chunk: Buffer, at: number, records: StoredRecord[]): number {
    const bytesMax = Math.min(this.#leftBytes, chunk.length)
    const range = { from: this.#next, to: this.#range.to, bytesMax }
    return this.#walked(chunk, findPlaces(chunk, at, range), records)
  }

  #walked(chunk: Buffer, found: FoundPlaces, records: StoredRecord[]): number {
    if (found.sizeBytes === 0) return 0
    addRecords(records, new RecordTable(chunk, found.times, found.places))
    this.#next = found.nextOffset
    this.#leftBytes -= found.sizeBytes
    return found.sizeBytes
  }

  /** A message of magic 0 or 1, with all that is compressed in it. */
  #messages(chunk: Buffer, at: number, records: StoredRecord[]): void {
    const { to, maxOutputBytes } = this.#range
    const from = this.#next
    const batch = batchAt(chunk, at)
    const { lastOffset } = batch.header
    if (!crcMatches(batch)) throw this.#corrupt(from, 'its CRC', Math.max(from, lastOffset) + 1)
    for (const record of iterateRecords(batch, { maxOutputBytes, checkCrc: false })) {
      if (record.offset >= from && record.offset < to) records.push(storedCopy(record))
    }
    this.#next = Math.max(from, lastOffset + 1)
  }

  #header(view: DataView, at: number): BatchHeader {
    try {
      return headerIn(view, at)
    } catch (error) {
      if (!(error instanceof SeglogError) || error.code === 'SHORT') throw error
      throw this.#corrupt(this.#next, error.message)
    }
  }

  #corrupt(offset: number, what: string, claimedNext = offset + 1): SeglogError {
    const nextOffset = this.#soundFrom(offset, claimedNext)
    const text = `${this.#log.directory}: the batch of offset ${offset} is damaged (${what})`
    return new SeglogError('CORRUPT', `${text}; what follows is read from ${nextOffset} on`, {
      offset,
      nextOffset,
    })
  }

  /**
   * Where reading goes on behind a batch that is damaged at `offset`. What its header says of its
   * end is believed only where the log knows no other batch before.
   */
  #soundFrom(offset: number, claimed: number): number {
    let step = 1
    for (let probe = offset + 1, i = 0; ; probe += step, i++) {
      if (i >= PROBES_MAX) step *= 2
      try {
        const bytes = this.#log.slice(probe, 1)?.bytes()
        if (bytes === undefined) return probe
        const { baseOffset } = batchAt(bytes, 0).header
        return baseOffset > offset ? Math.max(probe, baseOffset) : Math.max(probe, claimed)
      } catch (error) {
        if (!(error instanceof SeglogError)) throw error
        if (error.code === 'CORRUPT' || error.code === 'SHORT') continue
        // At the end of the log, or where it cannot be read at all.
        return probe
      }
    }
  }

  #records(chunk: Buffer, at: number, header: BatchHeader, records: StoredRecord[]): void {
    const { to, maxOutputBytes } = this.#range
    const end = at + header.sizeBytes
    let bytes = chunk
    let cursor: RecordCursor
    if (header.compression === 0 || header.count === 0) {
      cursor = new RecordCursor(chunk, at + HEADER_BYTES, end, header)
    } else {
      const stored = chunk.subarray(at + HEADER_BYTES, end)
      const plain = decompress(header.compression, stored, maxOutputBytes)
      bytes = Buffer.from(plain.buffer, plain.byteOffset, plain.length)
      this.turnBytes += bytes.length
      cursor = new RecordCursor(bytes, 0, bytes.length, header)
    }
    addFromCursor(records, bytes, cursor, { from: this.#next, to })
  }
}
