/**
 * Deletion at the start of a log: the start offset moves at once, whole segments below it leave
 * the list at once and the disk later (segment-removal.ts). The end offset always stays: where
 * nothing is left, an empty segment keeps it.
 */
import { roll } from './append.js'
import type { LogState } from './log-state.js'

/** Moves the start up to `offset`; at or below it nothing changes. Throws OFFSET_OUT_OF_RANGE. */
export function moveStart(log: LogState, offset: number): void {
  log.checkWritable()
  if (offset <= log.startOffset) return
  log.checkRange(offset)
  log.advance(offset, Math.max(offset, log.recoveryPoint), log.endOffset)
}

/**
 * As `moveStart`, and removes the segments that lie wholly below. `flush` brings the names in the
 * directory to the disk.
 */
export function deleteBefore(log: LogState, offset: number, flush: () => Promise<void>): void {
  log.checkWritable()
  if (offset > log.startOffset) {
    log.checkRange(offset)
    if (offset === log.endOffset) roll(log)
    moveStart(log, offset)
  }
  const gone = log.segments.shift(log.segments.countBelow(log.startOffset))
  if (gone.length === 0) return
  for (const { baseOffset } of gone) log.flusher.forget(baseOffset)
  // Were the old names to go first, a power cut would leave no file that says where the log ends.
  const isAll = log.segments.active.sizeBytes === 0
  log.removal
    .remove(gone, log.options.fileDeleteDelayMs, isAll ? flush() : undefined)
    .then(() => log.flusher.directoryChanged())
    .catch((error) => log.flusher.fence(error))
}
