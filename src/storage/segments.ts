/**
 * The segments of one log in the order of their offsets, and the lookups that run over them.
 *
 * Invariants: there is at least one; base offsets rise; only the last one, the active segment, is
 * appended to. Owns the list and not the files: whoever takes an entry out of it has to close its
 * handle. JS thread; nothing here waits.
 */
import assert from 'node:assert'
import { SeglogError } from '../errors.js'
import { checked, native, Result, Status } from '../native.js'
import { parseBatchHeader } from '../records/batch.js'
import { HEADER_BYTES } from '../records/format.js'
import { Slice } from './slice.js'

/** One open segment as its log sees it. */
export interface SegmentEntry {
  readonly handle: number
  readonly baseOffset: number
  nextOffset: number
  sizeBytes: number
  /** Bytes that are no batch follow its last offset. */
  readonly damaged: boolean
}

export function emptySegment(handle: number, baseOffset: number): SegmentEntry {
  return { handle, baseOffset, nextOffset: baseOffset, sizeBytes: 0, damaged: false }
}

/** What a lookup by time found, beside the bytes. */
export interface TimestampAndOffset {
  /** ms since 1970; -1 where no batch has a timestamp. */
  timestamp: number
  /** Of the last record of the first batch with that timestamp; -1 where there is none. */
  offset: number
}

/**
 * Told where a read found that a segment which a start believed to be whole ends early: offsets
 * from `from` up to the base offset `next` of the one behind it are not there.
 */
export type OnMissing = (from: number, next: number) => void

/** Headers are read in pieces of this size where no index helps. */
const SCAN_BYTES = 64 * 1024

export class Segments {
  readonly #directory: string
  readonly #entries: SegmentEntry[]
  readonly #onMissing: OnMissing
  /** Base offsets of segments before which offsets are missing, each told once. */
  readonly #missing = new Set<number>()

  /** REQUIRES: `entries` in order, at least one. `directory` is for the texts of errors. */
  constructor(
    directory: string,
    entries: readonly SegmentEntry[],
    onMissing: OnMissing = () => {},
  ) {
    assert(entries.length > 0, 'a log has a segment')
    this.#directory = directory
    this.#entries = [...entries]
    this.#onMissing = onMissing
  }

  get active(): SegmentEntry {
    return this.#entries[this.#entries.length - 1]!
  }

  get first(): SegmentEntry {
    return this.#entries[0]!
  }

  get count(): number {
    return this.#entries.length
  }

  /** Valid bytes of all of them. */
  get sizeBytes(): number {
    return this.#entries.reduce((sum, segment) => sum + segment.sizeBytes, 0)
  }

  /** A copy in order, for a walk that changes the list. */
  list(): SegmentEntry[] {
    return [...this.#entries]
  }

  add(segment: SegmentEntry): void {
    assert(segment.baseOffset > this.active.baseOffset, 'a segment that is not above the others')
    this.#entries.push(segment)
  }

  /** Takes out the first `count`, never the active one. */
  shift(count: number): SegmentEntry[] {
    assert(count < this.#entries.length, 'a log keeps its active segment')
    return this.#entries.splice(0, count)
  }

  /** How many end at or below `offset`, the active one not counted. */
  countBelow(offset: number): number {
    let count = 0
    while (count + 1 < this.#entries.length && this.#entries[count + 1]!.baseOffset <= offset) {
      count++
    }
    return count
  }

  /** Takes out the active segment where it begins above `offset` and is not the only one. */
  popAbove(offset: number): SegmentEntry | undefined {
    if (this.#entries.length === 1 || this.active.baseOffset <= offset) return undefined
    return this.#entries.pop()
  }

  /** Puts another in the place of the active segment, or of all of them. */
  replaceActive(segment: SegmentEntry): void {
    this.#entries[this.#entries.length - 1] = segment
  }

  /**
   * Puts `others` in the place of neighbours that are not active. Returns false, and changes
   * nothing, where not all of those are there any more.
   */
  replace(neighbours: readonly SegmentEntry[], others: readonly SegmentEntry[]): boolean {
    const first = neighbours[0] ? this.#entries.indexOf(neighbours[0]) : -1
    if (first < 0 || first + neighbours.length >= this.#entries.length) return false
    if (neighbours.some((entry, i) => this.#entries[first + i] !== entry)) return false
    this.#entries.splice(first, neighbours.length, ...others)
    return true
  }

  replaceAll(segment: SegmentEntry): SegmentEntry[] {
    return this.#entries.splice(0, this.#entries.length, segment)
  }

  /** Index of the last segment whose base offset is at or below `offset`, or 0. */
  #indexOf(offset: number): number {
    let low = 0
    let high = this.#entries.length - 1
    while (low < high) {
      const middle = (low + high + 1) >>> 1
      if (this.#entries[middle]!.baseOffset <= offset) low = middle
      else high = middle - 1
    }
    return low
  }

  /**
   * The bytes from the batch that holds `offset`, or the next one, up to `maxBytes` (at least one
   * batch) and below `limitOffset`, all of one segment. Undefined where there is none. Throws
   * CORRUPT where the bytes on disk are damaged, CLOSED, IO.
   */
  slice(offset: number, maxBytes: number, limitOffset: number): Slice | undefined {
    for (let i = this.#indexOf(offset); i < this.#entries.length; i++) {
      if (offset >= limitOffset) return undefined
      const { handle, baseOffset, nextOffset, damaged } = this.#entries[i]!
      // Behind damage a segment ends early, and what should follow is an error there, no gap.
      if (nextOffset <= offset && !damaged) continue
      const from = Math.max(offset, baseOffset)
      if (damaged && from >= nextOffset) {
        throw new SeglogError('CORRUPT', `offset ${from} of ${this.#directory} is damaged`)
      }
      checked(native.segmentLocate(handle, from, maxBytes, limitOffset), this.#directory)
      const length = native.results[Result.LENGTH]!
      if (length > 0) return new Slice(handle, native.results[Result.POSITION]!, length)
      if (from < nextOffset) this.#tellMissing(from, this.#entries[i + 1]?.baseOffset)
    }
    return undefined
  }

  #tellMissing(from: number, next: number | undefined): void {
    if (next === undefined || this.#missing.has(next)) return
    this.#missing.add(next)
    this.#onMissing(from, next)
  }

  /**
   * The first batch, in offset order, that ends at or above `startOffset` and holds a record at or
   * after `timestamp` (ms), as a slice of exactly that batch. Timestamps need not rise.
   */
  batchForTimestamp(timestamp: number, startOffset: number): Slice | undefined {
    for (let i = this.#indexOf(startOffset); i < this.#entries.length; i++) {
      const { handle } = this.#entries[i]!
      // A segment whose largest timestamp is below costs no read.
      const status = native.segmentLocateTimestamp(handle, timestamp)
      if (status === Status.NOT_FOUND) continue
      checked(status, this.#directory)
      if (native.results[Result.LAST_OFFSET]! >= startOffset) {
        return new Slice(handle, native.results[Result.POSITION]!, native.results[Result.LENGTH]!)
      }
      const found = this.#scanForTimestamp(this.#entries[i]!, timestamp, startOffset)
      if (found) return found
    }
    return undefined
  }

  /** The hit of the index lies below the log's start: what is above it is looked through. */
  #scanForTimestamp(segment: SegmentEntry, timestamp: number, from: number): Slice | undefined {
    for (const { position, header } of this.#headers(segment, from)) {
      if (header.lastOffset < from || header.maxTimestamp < timestamp) continue
      return new Slice(segment.handle, position, header.sizeBytes)
    }
    return undefined
  }

  *#headers({ handle, nextOffset, sizeBytes }: SegmentEntry, from: number) {
    if (from >= nextOffset) return
    checked(native.segmentLocate(handle, from, 0, nextOffset), this.#directory)
    let position = native.results[Result.POSITION]!
    const chunk = new Uint8Array(Math.min(SCAN_BYTES, sizeBytes))
    while (position < sizeBytes) {
      const read = native.segmentRead(handle, position, chunk.length, chunk, 0)
      const count = checked(read, this.#directory)
      if (count < HEADER_BYTES) return
      let at = 0
      while (count - at >= HEADER_BYTES) {
        const header = parseBatchHeader(chunk.subarray(0, count), at, position)
        yield { position: position + at, header }
        at += header.sizeBytes
      }
      position += at
    }
  }

  /** The largest timestamp of any record at or above `startOffset`. Throws CORRUPT, CLOSED, IO. */
  maxTimestamp(startOffset: number): TimestampAndOffset {
    const newest = { timestamp: -1, offset: -1 }
    const take = (timestamp: number, offset: number) => {
      if (timestamp <= newest.timestamp) return
      newest.timestamp = timestamp
      newest.offset = offset
    }
    for (let i = this.#indexOf(startOffset); i < this.#entries.length; i++) {
      const segment = this.#entries[i]!
      checked(native.segmentInfo(segment.handle), this.#directory)
      const timestamp = native.results[Result.MAX_TIMESTAMP]!
      const offset = native.results[Result.OFFSET_OF_MAX_TIMESTAMP]!
      if (offset >= startOffset || timestamp < 0) take(timestamp, offset)
      else {
        for (const { header } of this.#headers(segment, startOffset)) {
          take(header.maxTimestamp, header.lastOffset)
        }
      }
    }
    return newest
  }
}
