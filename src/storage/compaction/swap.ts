/**
 * Cleaned segments take the place of those that they were made of, in an order that a start can
 * take up wherever it was cut short (log-leftovers.ts), and without disturbing who reads, appends,
 * or deletes at the log's start meanwhile.
 *
 *   1. `.cleaned` becomes `.swap`, the highest base first: up to the last rename a start drops all
 *      of it, from then on it takes all of it.
 *   2. In memory the new ones stand in the place of the old ones. Who reads one of those goes on.
 *   3. The old files are called `.deleted`, and go later.
 *   4. `.swap` is taken off the names of the new ones.
 */
import { syncDirectory } from '../../atomic-file.js'
import { native } from '../../native.js'
import type { LogState } from '../log-state.js'
import type { SegmentEntry } from '../segments.js'
import type { CleanedSegments } from './cleaned-segments.js'

const SWAP_ENDING = '.swap'

/**
 * REQUIRES: `cleaned` is finished. Resolves with false, `cleaned` being discarded, where `old` are
 * not all in the log any more. Rejects with IO; after step 2 the log is fenced then.
 */
export function swapIn(
  log: LogState,
  old: readonly SegmentEntry[],
  cleaned: CleanedSegments,
): Promise<boolean> {
  const swapped = swap(log, old, cleaned)
  log.compaction.swapping = swapped.then(
    () => {},
    () => {},
  )
  return swapped
}

async function swap(
  log: LogState,
  old: readonly SegmentEntry[],
  cleaned: CleanedSegments,
): Promise<boolean> {
  const { directory, segments } = log
  for (const { handle } of [...cleaned.segments].reverse()) {
    await native.segmentRename(handle, SWAP_ENDING)
  }
  // The old files may go as soon as they have their new names.
  await syncDirectory(directory)
  if (!segments.replace(old, cleaned.segments)) {
    await cleaned.discard()
    return false
  }
  const brought = cleaned.letGo()
  try {
    for (const { baseOffset } of old) log.flusher.forget(baseOffset)
    // What is known of producers below the first one goes with the segment that begins there.
    const [first] = brought
    const { fileDeleteDelayMs } = log.options
    await log.removal.remove(old, fileDeleteDelayMs, { keptSnapshot: first?.baseOffset })
    for (const { handle } of brought) await native.segmentRename(handle, '')
    await syncDirectory(directory)
  } catch (error) {
    // Which files have which names is not known any more.
    log.flusher.fence(error)
    throw error
  }
  return true
}
