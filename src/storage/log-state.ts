/**
 * What the files that make up a log share: its segments, its offsets, and what is derived from
 * them.
 *
 * Invariant: startOffset <= recoveryPoint <= endOffset; the three change only in `advance`.
 * Internal
 * to storage: `Log` is what others see. JS thread.
 */
import assert from 'node:assert'
import type { Env } from '../env.js'
import { SeglogError } from '../errors.js'
import { native } from '../native.js'
import { BatchField, HEADER_BYTES, MAGIC } from '../records/format.js'
import { CompactionState } from './compaction/compaction-state.js'
import type { DerivedState } from './derived-state.js'
import { type Flushable, Flusher } from './flusher.js'
import { gapText } from './log-files.js'
import type { LogOpening, LogTuning } from './log-options.js'
import type { ProducerState } from './producer-state.js'
import { SegmentRemoval } from './segment-removal.js'
import { type SegmentEntry, Segments } from './segments.js'

/** The largest timestamp of the batch whose header lies at `at`; -1 in an older format. */
export function timestampAt(bytes: Uint8Array, at: number): number {
  if (bytes[at + BatchField.MAGIC] !== MAGIC) return -1
  const view = new DataView(bytes.buffer, bytes.byteOffset + at, HEADER_BYTES)
  return Number(view.getBigInt64(BatchField.MAX_TIMESTAMP))
}

/** What recovery found, and a log begins with. */
export interface Recovered {
  segments: SegmentEntry[]
  startOffset: number
  recoveryPoint: number
  derived: DerivedState
  /** Base offsets of older segments that may not be on disk. */
  unsynced: number[]
  /** Names of files may not be on disk. */
  directoryDirty: boolean
}

export class LogState implements Flushable {
  readonly directory: string
  readonly env: Env
  readonly segments: Segments
  readonly derived: DerivedState
  readonly flusher: Flusher
  readonly removal: SegmentRemoval
  readonly compaction: CompactionState
  options: LogTuning & LogOpening
  /** A truncation runs: nothing else may change the files. */
  truncating = false
  closed = false
  /** When the active segment was made or opened, by the wall clock, ms. */
  segmentMadeMs: number
  /** The largest timestamp of the first batch of the segment that has this handle. */
  #first = { handle: -1, timestamp: -1 }
  #startOffset = 0
  #recoveryPoint = 0
  #endOffset = 0

  constructor(directory: string, options: LogTuning & LogOpening, found: Recovered, env: Env) {
    this.directory = directory
    this.options = options
    this.env = env
    this.segments = new Segments(directory, found.segments, (from, next) => {
      if (!options.isCompacted) options.onDamage?.(gapText(from, next, 0))
    })
    this.derived = found.derived
    this.flusher = new Flusher(this, found.unsynced, found.directoryDirty)
    this.segmentMadeMs = env.now()
    this.removal = new SegmentRemoval(directory, env)
    this.compaction = new CompactionState(options.cleanedOffset)
    this.advance(found.startOffset, found.recoveryPoint, this.segments.active.nextOffset)
  }

  get startOffset(): number {
    return this.#startOffset
  }

  get recoveryPoint(): number {
    return this.#recoveryPoint
  }

  get endOffset(): number {
    return this.#endOffset
  }

  get producers(): ProducerState {
    return this.derived.producers
  }

  get activeHandle(): number {
    return this.segments.active.handle
  }

  advance(startOffset: number, recoveryPoint: number, endOffset: number): void {
    assert(
      startOffset <= recoveryPoint && recoveryPoint <= endOffset,
      'offsets of a log out of order',
    )
    this.#startOffset = startOffset
    this.#recoveryPoint = recoveryPoint
    this.#endOffset = endOffset
  }

  flushed(offset: number): void {
    this.advance(this.#startOffset, Math.max(this.#recoveryPoint, offset), this.#endOffset)
  }

  /** The largest timestamp of the first batch of the active segment, ms; -1 where it has none. */
  firstTimestamp(): number {
    const { handle, sizeBytes } = this.segments.active
    if (sizeBytes === 0) return -1
    if (this.#first.handle !== handle) {
      const header = new Uint8Array(HEADER_BYTES)
      const count = native.segmentRead(handle, 0, HEADER_BYTES, header, 0)
      const timestamp = count === HEADER_BYTES ? timestampAt(header, 0) : -1
      this.#first = { handle, timestamp }
    }
    return this.#first.timestamp
  }

  /** The active segment was cut, and may begin with another batch. */
  forgetFirst(): void {
    this.#first = { handle: -1, timestamp: -1 }
  }

  failed(error: SeglogError): void {
    this.options.onFailure?.(error)
  }

  /** Throws CLOSED. */
  checkOpen(): void {
    if (this.closed) throw new SeglogError('CLOSED', `${this.directory} is closed`)
  }

  /** Throws CLOSED, READ_ONLY, and what fenced the log. */
  checkWritable(): void {
    this.checkOpen()
    if (this.flusher.fenced) throw this.flusher.fenced
    if (!this.truncating) return
    throw new SeglogError('READ_ONLY', `${this.directory} is being truncated; call again after it`)
  }

  /** Throws OFFSET_OUT_OF_RANGE outside of the log; its end belongs to it. */
  checkRange(offset: number): void {
    if (offset >= this.#startOffset && offset <= this.#endOffset) return
    const range = `${this.#startOffset} to ${this.#endOffset}`
    throw new SeglogError('OFFSET_OUT_OF_RANGE', `offset ${offset} of ${this.directory} (${range})`)
  }
}
