/**
 * Cuts a log at its end, and with it all that was derived from what is cut. Whole segments leave
 * from the newest backwards, and the one that holds the cut is cut last: a process that dies in
 * between leaves a log without a gap.
 *
 * REQUIRES of the caller: no append, sync or seal runs meanwhile. Every function rejects with IO,
 * CORRUPT, NO_SPACE or TOO_MANY_FILES, after which the log is fit for nothing but to be opened
 * anew.
 */
import { join } from 'node:path'
import { syncDirectory } from '../atomic-file.js'
import { checked, native, Result } from '../native.js'
import { segmentName } from './log-files.js'
import { createSegment } from './log-loader.js'
import { segmentOptions } from './log-options.js'
import type { LogState } from './log-state.js'

/**
 * Cuts everything at and above `offset`; a batch that holds it goes whole. Below the first segment
 * the log starts anew at `offset`.
 */
export async function truncate(log: LogState, offset: number): Promise<void> {
  if (offset >= log.endOffset) return
  const { segments } = log
  if (offset < segments.first.baseOffset) return startAnew(log, offset)
  let isOlder = false
  for (let last = segments.popAbove(offset); last; last = segments.popAbove(offset)) {
    isOlder = true
    log.flusher.forget(last.baseOffset)
    await log.removal.remove([last], log.options.fileDeleteDelayMs)
    // Where a later step fails, the log ends with what it has.
    const end = segments.active.nextOffset
    log.advance(Math.min(log.startOffset, end), Math.min(log.recoveryPoint, end), end)
  }
  // It was sealed when it was rolled, or opened to be read only.
  if (isOlder) await reopenActive(log)
  const { handle, baseOffset } = segments.active
  await native.segmentTruncate(handle, offset)
  // Else a loss of power may bring back what was cut, behind what is written in its place.
  await native.segmentFlush(handle)
  log.flusher.forget(baseOffset)
  await syncDirectory(log.directory)
  checked(native.segmentInfo(handle), log.directory)
  const nextOffset = native.results[Result.NEXT_OFFSET]!
  const sizeBytes = native.results[Result.LENGTH]!
  segments.replaceActive({ handle, baseOffset, nextOffset, sizeBytes, damaged: false })
  log.forgetFirst()
  const start = Math.min(log.startOffset, nextOffset)
  const recoveryPoint = Math.max(start, Math.min(log.recoveryPoint, nextOffset))
  log.advance(start, recoveryPoint, nextOffset)
  log.compaction.cutTo(nextOffset)
  await log.derived.truncateTo(nextOffset, segments.list(), log.env.now())
}

async function reopenActive({ segments, directory, options }: LogState): Promise<void> {
  const { handle, baseOffset } = segments.active
  // Closed first: two handles of one file would each trim it to what they know.
  await native.segmentClose(handle, false)
  const path = join(directory, segmentName(baseOffset))
  const found = await native.segmentOpen(path, baseOffset, segmentOptions(options))
  const { nextOffset, validBytes } = found
  const sizeBytes = validBytes
  segments.replaceActive({
    handle: found.handle,
    baseOffset,
    nextOffset,
    sizeBytes,
    damaged: false,
  })
}

/** Removes everything and goes on at `offset`, which may lie anywhere. */
export async function startAnew(log: LogState, offset: number): Promise<void> {
  const old = log.segments.list()
  // The name of the new segment may be that of an old one.
  await log.removal.remove(old, log.options.fileDeleteDelayMs)
  log.segments.replaceAll(createSegment(log.directory, offset, segmentOptions(log.options)))
  log.forgetFirst()
  for (const { baseOffset } of old) log.flusher.forget(baseOffset)
  log.advance(offset, offset, offset)
  log.compaction.cleanedOffset = undefined
  await log.derived.clear()
}
