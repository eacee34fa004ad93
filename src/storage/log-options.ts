/**
 * What a log is opened with, and what opening it found. Names in brackets are those of Kafka's
 * configuration.
 */
import type { SeglogError } from '../errors.js'
import type { SegmentOptions } from '../native.js'

/** What may change while the log is open; see `Log.configure`. */
export interface LogTuning {
  /** Size at which the active segment is closed and a new one begun (`log.segment.bytes`). */
  segmentBytes: number
  /** Bytes between two entries of the sparse index (`log.index.interval.bytes`). */
  indexIntervalBytes: number
  /** Flush after so many records; 0 leaves it to the page cache (`log.flush.interval.messages`). */
  flushMessages: number
  /** The longest time that a record waits for a sync, ms (`flush.ms`); Infinity: no such. */
  flushMs: number
  /** How long a removed file keeps its place on the disk, ms (`log.segment.delete.delay.ms`). */
  fileDeleteDelayMs: number
  /** Age of its first batch at which a segment is closed, ms (`log.roll.ms`); Infinity: none. */
  segmentMs: number
  /** So much earlier, chosen by the caller for each log (`log.roll.jitter.ms`). */
  segmentJitterMs: number
  /** Size of the larger of the two indexes at which a segment is closed (`segment.index.bytes`). */
  segmentIndexBytes: number
  /** Age at which records go, ms (`retention.ms`); -1: never. */
  retentionMs: number
  /** Size above which the oldest segments go (`retention.bytes`); -1: none. */
  retentionBytes: number
  /** The largest batch of a client (`max.message.bytes`); Infinity: any that fits. */
  maxMessageBytes: number
  /** Who gives the records their time (`message.timestamp.type`). */
  timestampType: 'CreateTime' | 'LogAppendTime'
  /** How far behind and ahead of the clock a client's time may be, ms; Infinity: any. */
  timestampBeforeMaxMs: number
  timestampAfterMaxMs: number
  /** Whether it is compacted (`cleanup.policy`), whatever else becomes of its old records. */
  compacts: boolean
  /** Share of bytes not compacted above which it is worth it (`min.cleanable.dirty.ratio`). */
  minCleanableDirtyRatio: number
  /** Younger records are left alone, ms (`min.compaction.lag.ms`, KIP-58). */
  minCompactionLagMs: number
  /** Older records are compacted whatever it pays, ms (`max.compaction.lag.ms`, KIP-354). */
  maxCompactionLagMs: number
  /** How long a tombstone stays after it was compacted first, ms (`delete.retention.ms`). */
  deleteRetentionMs: number
}

/** How the last stop was, and what checkpoints of it know. */
export interface LogOpening {
  /** True when the last stop was clean, so that nothing needs a scan. */
  clean: boolean
  /** Copy small batches through a mapping of the reserved file. */
  mapped: boolean
  /**
   * All below was on disk (`recovery-point-offset-checkpoint`); undefined where it is not known.
   */
  recoveryPoint?: number | undefined
  /** Where the log begins (`log-start-offset-checkpoint`); undefined: at its first segment. */
  logStartOffset?: number | undefined
  /** Compaction was at work here, so that a gap between two segments is no loss. */
  isCompacted?: boolean
  /** All below was compacted (`cleaner-offset-checkpoint`); undefined: nothing ever was. */
  cleanedOffset?: number | undefined
  /** Told of each append that found no space. */
  onFull?: () => void
  /** Told once, when a write or a sync that failed has fenced the log. */
  onFailure?: (error: SeglogError) => void
  /**
   * Told what a read found to be missing in a log that a clean stop had called whole; it is also in
   * the report then. A start does not look for it, as it would have to open every segment.
   */
  onDamage?: (line: string) => void
  /** Told of each flush that had something to sync: how long it took, ms. */
  onFlush?: (ms: number) => void
}

type Given = 'segmentBytes' | 'indexIntervalBytes' | 'flushMessages'

/** What is left out has the value of `defaultLogOptions`. */
export type LogOptions = LogOpening & Pick<LogTuning, Given> & Partial<LogTuning>

export const defaultLogOptions: LogOpening & LogTuning = {
  segmentBytes: 1024 * 1024 * 1024,
  indexIntervalBytes: 4096,
  flushMessages: 0,
  flushMs: Infinity,
  fileDeleteDelayMs: 60_000,
  segmentMs: Infinity,
  segmentJitterMs: 0,
  segmentIndexBytes: 10 * 1024 * 1024,
  retentionMs: -1,
  retentionBytes: -1,
  maxMessageBytes: Infinity,
  timestampType: 'CreateTime',
  timestampBeforeMaxMs: Infinity,
  timestampAfterMaxMs: Infinity,
  compacts: false,
  minCleanableDirtyRatio: 0.5,
  minCompactionLagMs: 0,
  maxCompactionLagMs: Infinity,
  deleteRetentionMs: 86_400_000,
  clean: false,
  mapped: true,
}

/** Bytes in a segment that are not what was appended. */
export interface Damage {
  /** Base offset of the segment. */
  segment: number
  /** Byte of its .log file. */
  position: number
  /** The offset that was expected there. */
  offset: number
  /** The code of `native.Status` by name, as CORRUPT. */
  reason: string
}

/** What opening a log had to do. */
export interface LogReport {
  segments: number
  /** Bytes that were cut behind the last valid batch: a torn write or a reserved tail. */
  cutBytes: number
  /** Indexes that were missing or did not fit and were made anew. */
  rebuiltIndexes: number
  /**
   * What was found broken, where, and what was done about it; undefined where all was sound. A read
   * may find more later; see `LogOpening.onDamage`.
   */
  damage: string | undefined
  /** Damage that was left as it is: it lies below the recovery point, or in an older segment. */
  damages: Damage[]
  /** Base offsets of segments that were removed, because the log was cut below them. */
  removedSegments: number[]
}

/** The same for one of its segments, as it is made or appended to. */
export function segmentOptions(options: LogTuning & LogOpening): SegmentOptions {
  const { segmentBytes, indexIntervalBytes, mapped } = options
  return { readOnly: false, recover: false, segmentBytes, indexIntervalBytes, mapped }
}
