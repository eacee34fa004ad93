/**
 * What a log is opened with, and what opening it found. Names in brackets are those of Kafka's
 * configuration.
 */
import type { SegmentOptions } from '../native.js'

export interface LogOptions {
  /** Size at which the active segment is closed and a new one begun (`log.segment.bytes`). */
  segmentBytes: number
  /** Bytes between two entries of the sparse index (`log.index.interval.bytes`). */
  indexIntervalBytes: number
  /** Flush after so many records; 0 leaves it to the page cache (`log.flush.interval.messages`). */
  flushMessages: number
  /** True when the last stop was clean, so that nothing needs a scan. */
  clean: boolean
  /** Copy small batches through a mapping of the reserved file. */
  mapped: boolean
}

export const defaultLogOptions: LogOptions = {
  segmentBytes: 1024 * 1024 * 1024,
  indexIntervalBytes: 4096,
  flushMessages: 0,
  clean: false,
  mapped: true,
}

/** What opening a log had to do. */
export interface LogReport {
  segments: number
  /** Bytes that were cut behind the last valid batch: a torn write or a reserved tail. */
  cutBytes: number
  /** Indexes that were missing or did not fit and were made anew. */
  rebuiltIndexes: number
  /** What was found broken, where, and what was done about it; undefined where all was sound. */
  damage: string | undefined
}

/** The same for one of its segments, as it is made or appended to. */
export function segmentOptions(options: LogOptions): SegmentOptions {
  const { segmentBytes, indexIntervalBytes, mapped } = options
  return { readOnly: false, recover: false, segmentBytes, indexIntervalBytes, mapped }
}
