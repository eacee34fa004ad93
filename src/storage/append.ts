/**
 * Appending to a log, and the roll to a new segment. Synchronous from end to end, so that nothing
 * comes between reading the log's end and writing there.
 *
 * Errors are a `Status` below 0, the log being as before; one that a failed write brought fences
 * the log.
 */
import { join } from 'node:path'
import { AppendFlag, native, Result, Status, statusError } from '../native.js'
import { readExtent } from '../records/sequence.js'
import { segmentName } from './log-files.js'
import { segmentOptions } from './log-options.js'
import type { LogState } from './log-state.js'
import { emptySegment } from './segments.js'

/**
 * Appends `length` bytes at `offset` of `bytes`: one batch of a client, which gets its offset and
 * `leaderEpoch`, or the batches of a leader as they are. Returns the base offset or a status;
 * CLOSED, FENCED, READ_ONLY and those of `segmentAppend` and `segmentCreate`.
 */
export function append(
  log: LogState,
  bytes: Uint8Array,
  offset: number,
  length: number,
  leaderEpoch: number,
  flag: number,
): number {
  if (log.closed) return Status.CLOSED
  if (log.flusher.fenced) return Status.FENCED
  if (log.truncating) return Status.READ_ONLY
  const put = () => native.segmentAppend(log.activeHandle, bytes, offset, length, leaderEpoch, flag)
  const isLeaders = flag === AppendFlag.FROM_LEADER
  let status = !isLeaders && isOutgrown(log, length) ? Status.SEGMENT_FULL : put()
  if (status === Status.SEGMENT_FULL) {
    status = rollTo(log, isLeaders ? readExtent(bytes, offset)?.baseOffset : undefined)
    if (status < 0) return status
    status = put()
  }
  if (status < 0) {
    if (status === Status.IO || status === Status.FENCED) {
      log.flusher.fence(statusError(status, log.directory))
    }
    return status
  }
  const baseOffset = native.results[Result.BASE_OFFSET]!
  const endOffset = native.results[Result.LAST_OFFSET]! + 1
  const segment = log.segments.active
  segment.sizeBytes += native.results[Result.LENGTH]!
  segment.nextOffset = endOffset
  log.advance(log.startOffset, log.recoveryPoint, endOffset)
  return baseOffset
}

/** A segment that was opened before `configure` knows another limit than the present one. */
function isOutgrown({ segments, options }: LogState, length: number): boolean {
  const { sizeBytes } = segments.active
  return sizeBytes > 0 && sizeBytes + length > options.segmentBytes
}

/** Begins a new segment at the log's end, unless the active one is empty. */
export function roll(log: LogState): void {
  log.checkWritable()
  const { nextOffset, baseOffset } = log.segments.active
  if (nextOffset === baseOffset) return
  const status = rollTo(log, undefined)
  if (status < 0) throw statusError(status, log.directory)
}

/** Returns a status below 0 where the files could not be made; the log is then as before. */
function rollTo(log: LogState, baseOffset: number | undefined): number {
  const sealed = log.segments.active
  const base = Math.max(baseOffset ?? log.endOffset, log.endOffset)
  // An empty segment that is refused for its size would be so again.
  if (base === sealed.baseOffset) return Status.TOO_LARGE
  const path = join(log.directory, segmentName(base))
  const handle = native.segmentCreate(path, base, segmentOptions(log.options))
  if (handle < 0) return handle
  log.segments.add(emptySegment(handle, base))
  log.flusher.directoryChanged()
  log.flusher.seal(sealed.handle)
  return Status.OK
}
