/**
 * Which segments at the start of a log have to go. Pure; sources: Kafka's `retention.ms`,
 * `retention.bytes` and DeleteRecords (KIP-107).
 *
 * Nothing at or above the high watermark goes, and an empty active segment never does.
 */
export interface SegmentFacts {
  /** One above the last offset that belongs to it: the next base, or the log's end. */
  endOffset: number
  sizeBytes: number
  /** Of its newest record, ms; where no record has one, of the file. */
  timestampMs: number
}

export interface RetentionLimits {
  nowMs: number
  /** -1: no limit. */
  retentionMs: number
  /** -1: no limit. At least so many bytes are kept. */
  retentionBytes: number
  logStartOffset: number
  highWatermark: number
}

/** Whether a segment alone is too old. */
export function isExpired(timestampMs: number, { nowMs, retentionMs }: RetentionLimits): boolean {
  return retentionMs >= 0 && nowMs - timestampMs > retentionMs
}

/**
 * How many leading segments go, in order. `facts` are of all segments. Where it is all of them, the
 * active one, being the last, is to be rolled first.
 */
export function countToDelete(facts: readonly SegmentFacts[], limits: RetentionLimits): number {
  const { retentionBytes, logStartOffset, highWatermark } = limits
  let excessBytes = facts.reduce((sum, { sizeBytes }) => sum + sizeBytes, -retentionBytes)
  let count = 0
  for (const [i, { endOffset, sizeBytes, timestampMs }] of facts.entries()) {
    const isActive = i === facts.length - 1
    if (endOffset > highWatermark || (isActive && sizeBytes === 0)) break
    const isLarge = retentionBytes >= 0 && !isActive && excessBytes >= sizeBytes
    const isBelow = !isActive && endOffset <= logStartOffset
    if (!isLarge && !isBelow && !isExpired(timestampMs, limits)) break
    excessBytes -= sizeBytes
    count++
  }
  return count
}
