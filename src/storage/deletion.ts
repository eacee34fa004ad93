/**
 * Deletion at the start of a log: the start offset moves at once, whole segments below it leave
 * the list at once and the disk later (segment-removal.ts). The end offset always stays: where
 * nothing is left, an empty segment keeps it.
 */
import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import { native, Result } from '../native.js'
import { roll } from './append.js'
import { segmentName } from './log-files.js'
import type { LogState } from './log-state.js'
import { countToDelete, isExpired, type RetentionLimits } from './retention.js'

/** Moves the start up to `offset`; at or below it nothing changes. Throws OFFSET_OUT_OF_RANGE. */
export function moveStart(log: LogState, offset: number): void {
  log.checkWritable()
  if (offset <= log.startOffset) return
  log.checkRange(offset)
  log.advance(offset, Math.max(offset, log.recoveryPoint), log.endOffset)
  log.derived.truncateFromStart(offset)
}

/**
 * As `moveStart`, and removes the segments that lie wholly below.
 */
export function deleteBefore(log: LogState, offset: number): void {
  log.checkWritable()
  if (offset > log.startOffset) {
    log.checkRange(offset)
    if (offset === log.endOffset) roll(log)
    moveStart(log, offset)
  }
  drop(log, log.segments.countBelow(log.startOffset))
}

/** Takes out the first `count` segments and has their files removed. */
function drop(log: LogState, count: number): void {
  const gone = log.segments.shift(count)
  if (gone.length === 0) return
  for (const { baseOffset } of gone) log.flusher.forget(baseOffset)
  // Were the old names to go first, a power cut would leave no file that says where the log ends.
  // A close waits for it, so that it may not wait for the close.
  const isAll = log.segments.active.sizeBytes === 0
  const synced = isAll ? log.flusher.flush(log.endOffset, () => false) : undefined
  // Those that a compaction is bringing in have their names only after it.
  const before = Promise.all([synced, log.compaction.swapping]).then(() => {})
  log.removal
    .remove(gone, log.options.fileDeleteDelayMs, { before })
    .then(() => log.flusher.directoryChanged())
    .catch((error) => log.flusher.fence(error))
}

/**
 * Removes what `retentionMs`, `retentionBytes` and the start offset say, below `highWatermark`; the
 * active segment is rolled first where it goes too. Resolves with how many segments went. Rejects
 * with CLOSED, FENCED, READ_ONLY, IO.
 */
export async function deleteOldSegments(
  log: LogState,
  nowMs: number,
  highWatermark: number,
): Promise<number> {
  log.checkWritable()
  const { retentionMs, retentionBytes } = log.options
  const { startOffset: logStartOffset } = log
  const limits = { nowMs, retentionMs, retentionBytes, logStartOffset, highWatermark }
  const times = await timesOfOld(log, limits)
  // Whatever happened meanwhile: from here to the end nothing comes between.
  log.checkWritable()
  const facts = log.segments.list().map(({ handle, nextOffset, sizeBytes }, i, all) => {
    const endOffset = all[i + 1]?.baseOffset ?? nextOffset
    return { endOffset, sizeBytes, timestampMs: times.get(handle) ?? Infinity }
  })
  const count = countToDelete(facts, limits)
  if (count === 0) return 0
  if (count === facts.length) roll(log)
  moveStart(log, facts[count - 1]!.endOffset)
  drop(log, count)
  return count
}

/** The times of the leading segments that are too old, by handle. */
async function timesOfOld(log: LogState, limits: RetentionLimits): Promise<Map<number, number>> {
  const times = new Map<number, number>()
  if (limits.retentionMs < 0) return times
  for (const { handle, baseOffset, sizeBytes } of log.segments.list()) {
    if (sizeBytes === 0) break
    // A cold index is read in the pool.
    if (handle !== log.activeHandle) await native.segmentLoad(handle)
    if (native.segmentInfo(handle) < 0) break
    let timestamp = native.results[Result.MAX_TIMESTAMP]!
    if (timestamp < 0) {
      const path = join(log.directory, `${segmentName(baseOffset)}.log`)
      timestamp = (await stat(path)).mtimeMs
    }
    if (!isExpired(timestamp, limits)) break
    times.set(handle, timestamp)
  }
  return times
}
