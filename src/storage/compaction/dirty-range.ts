/**
 * What of a log is to be compacted, how much it would pay, and how the segments are put together
 * that a compaction writes anew. Pure; the rules are Kafka's (KIP-58 for the least lag, KIP-354 for
 * the most).
 *
 *   clean (below the checkpoint) · dirty (up to the first uncleanable offset) · the rest
 *
 * The rest is the active segment, what is not on disk or not committed yet, and what is younger
 * than `min.compaction.lag.ms`.
 */

/** A segment that is not active. */
export interface SealedSegment {
  baseOffset: number
  /** The base of the next one. */
  endOffset: number
  sizeBytes: number
  /** Of its newest record, ms; -1 where none has one. */
  maxTimestamp: number
}

export interface RangeLimits {
  startOffset: number
  /** Up to where the log was compacted before; undefined: never. */
  cleanedOffset: number | undefined
  /** All below is on disk and committed. */
  limitOffset: number
  nowMs: number
  minCompactionLagMs: number
}

export interface DirtyRange {
  /** The first offset that was not compacted yet. */
  firstDirty: number
  /** One above the last offset that may be compacted. */
  end: number
  /** Of all bytes below `end` those that were not compacted yet, 0 to 1. */
  ratio: number
}

/** `sealed`: all segments but the active one, in order. */
export function dirtyRange(sealed: readonly SealedSegment[], limits: RangeLimits): DirtyRange {
  const { startOffset, cleanedOffset = 0, limitOffset, nowMs, minCompactionLagMs } = limits
  const logEnd = sealed.at(-1)?.endOffset ?? startOffset
  // A checkpoint outside of the log is of records that were deleted or cut off.
  const isWithin = cleanedOffset >= startOffset && cleanedOffset <= logEnd
  const firstDirty = isWithin ? cleanedOffset : startOffset
  let end = sealed[0]?.baseOffset ?? startOffset
  let cleanBytes = 0
  let dirtyBytes = 0
  for (const { endOffset, sizeBytes, maxTimestamp } of sealed) {
    if (endOffset > limitOffset) break
    if (minCompactionLagMs > 0 && maxTimestamp > nowMs - minCompactionLagMs) break
    end = endOffset
    if (endOffset <= firstDirty) cleanBytes += sizeBytes
    else dirtyBytes += sizeBytes
  }
  if (end <= firstDirty) return { firstDirty, end: firstDirty, ratio: 0 }
  return { firstDirty, end, ratio: dirtyBytes / Math.max(1, cleanBytes + dirtyBytes) }
}

export interface GroupLimits {
  segmentBytes: number
  segmentIndexBytes: number
  indexIntervalBytes: number
}

interface Sized {
  baseOffset: number
  endOffset: number
  sizeBytes: number
}

/** Offsets of one segment are kept relative to its base, in 31 bits. */
const OFFSETS_MAX = 2 ** 31 - 1
/** Of the larger index. */
const ENTRY_BYTES = 12

/**
 * Neighbours whose sizes together make no more than one segment: what is left of them is written as
 * one.
 */
export function groupsOf<T extends Sized>(segments: readonly T[], limits: GroupLimits): T[][] {
  const { segmentBytes, segmentIndexBytes, indexIntervalBytes } = limits
  const entriesMax = segmentIndexBytes / ENTRY_BYTES - 1
  const groups: T[][] = []
  let group: T[] = []
  let bytes = 0
  for (const segment of segments) {
    const total = bytes + segment.sizeBytes
    const fits =
      total <= segmentBytes &&
      total / Math.max(1, indexIntervalBytes) <= entriesMax &&
      segment.endOffset - (group[0] ?? segment).baseOffset <= OFFSETS_MAX
    if (group.length === 0 || !fits) {
      group = []
      groups.push(group)
      bytes = 0
    }
    group.push(segment)
    bytes += segment.sizeBytes
  }
  return groups
}
