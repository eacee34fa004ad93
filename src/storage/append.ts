/**
 * Appending to a log, and the roll to a new segment. Synchronous from end to end, so that nothing
 * comes between reading the log's end and writing there.
 *
 * Errors are a `Status` below 0, the log being as before; one that a failed write brought fences
 * the log.
 */
import { join } from 'node:path'
import { AppendFlag, native, Result, Status, statusError } from '../native.js'
import { BatchField, HEADER_BYTES } from '../records/format.js'
import { readExtent } from '../records/sequence.js'
import { checkRules, stampTime, unstamp } from './append-rules.js'
import { segmentName } from './log-files.js'
import { segmentOptions } from './log-options.js'
import { type LogState, timestampAt } from './log-state.js'
import { emptySegment } from './segments.js'

/**
 * Appends `length` bytes at `offset` of `bytes`: one batch of a client, which gets its offset and
 * `leaderEpoch`, or the batches of a leader as they are. Returns the base offset or a status;
 * CLOSED, FENCED, READ_ONLY, TOO_LARGE, INVALID_TIMESTAMP and those of `segmentAppend` and
 * `segmentCreate`.
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
  if (flag === AppendFlag.FROM_LEADER) {
    return put(log, bytes, offset, length, leaderEpoch, flag)
  }
  const nowMs = log.env.now()
  const status = checkRules(bytes, offset, length, log.options, nowMs)
  if (status < 0) return status
  const stamps = log.options.timestampType === 'LogAppendTime'
  // A stamp changes a sum that is there.
  if (stamps && flag === AppendFlag.FROM_ENCODER) sum(bytes, offset, length)
  const before = stamps ? stampTime(bytes, offset, length, nowMs) : undefined
  const result = put(log, bytes, offset, length, leaderEpoch, flag)
  if (result < 0 && before) unstamp(bytes, offset, before)
  return result
}

function sum(bytes: Uint8Array, offset: number, length: number): void {
  const from = offset + BatchField.ATTRIBUTES
  const crc = native.crc32c(bytes, from, length - BatchField.ATTRIBUTES, 0)
  new DataView(bytes.buffer, bytes.byteOffset).setUint32(offset + BatchField.CRC, crc)
}

function put(
  log: LogState,
  bytes: Uint8Array,
  offset: number,
  length: number,
  epoch: number,
  flag: number,
): number {
  const write = () => native.segmentAppend(log.activeHandle, bytes, offset, length, epoch, flag)
  const isLeaders = flag === AppendFlag.FROM_LEADER
  let status = isOutgrown(log, bytes, offset, length, isLeaders) ? Status.SEGMENT_FULL : write()
  if (status === Status.SEGMENT_FULL) {
    status = rollTo(log, isLeaders ? readExtent(bytes, offset)?.baseOffset : undefined)
    if (status === Status.NO_SPACE) log.options.onFull?.()
    if (status < 0) return status
    status = write()
  }
  if (status < 0) {
    if (status === Status.NO_SPACE) log.options.onFull?.()
    // A segment that takes nothing behind damage which it keeps says FENCED too; nothing failed.
    if (status === Status.IO) {
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
  log.derived.note(bytes, offset, length, log.env.now())
  return baseOffset
}

/**
 * Whether the active segment is full by the present options, which may differ from those it was
 * opened with, or too old. A leader's batches are held to the age alone.
 */
function isOutgrown(
  log: LogState,
  bytes: Uint8Array,
  offset: number,
  length: number,
  isLeaders: boolean,
): boolean {
  const { segmentBytes, indexIntervalBytes, segmentIndexBytes, segmentMs } = log.options
  const { sizeBytes } = log.segments.active
  if (sizeBytes === 0) return false
  if (!isLeaders && sizeBytes + length > segmentBytes) return true
  // At most so many entries were made, the larger ones having 12 bytes.
  if (sizeBytes / Math.max(1, indexIntervalBytes) >= segmentIndexBytes / 12 - 1) return true
  return segmentMs !== Infinity && isAged(log, bytes, offset, length)
}

/** By the time of the first batch where it and the new one have one, else by the wall clock. */
function isAged(log: LogState, bytes: Uint8Array, offset: number, length: number): boolean {
  if (length < HEADER_BYTES) return false
  const { segmentMs, segmentJitterMs, timestampType } = log.options
  const first = log.firstTimestamp()
  const isStamped = timestampType === 'LogAppendTime'
  const newest = isStamped ? log.env.now() : timestampAt(bytes, offset)
  const ageMs = first >= 0 ? newest - first : log.env.now() - log.segmentMadeMs
  return ageMs > segmentMs - segmentJitterMs
}

/** Begins a new segment at the log's end, unless the active one is empty. */
export function roll(log: LogState): void {
  log.checkWritable()
  const { nextOffset, baseOffset } = log.segments.active
  if (nextOffset === baseOffset) return
  const status = rollTo(log, undefined)
  if (status < 0) throw log.flusher.fenced ?? statusError(status, log.directory)
}

/**
 * Returns a status below 0 where the files could not be made; the log is then as before, and fenced
 * after IO. A name that was made and removed must not come back with a loss of power: the segment
 * before it would end there.
 */
function rollTo(log: LogState, baseOffset: number | undefined): number {
  const sealed = log.segments.active
  const base = Math.max(baseOffset ?? log.endOffset, log.endOffset)
  // An empty segment that is refused for its size would be so again.
  if (base === sealed.baseOffset) return Status.TOO_LARGE
  const handle = create(log, base)
  if (handle < 0) {
    log.flusher.directoryChanged()
    if (handle === Status.IO) log.flusher.fence(statusError(handle, log.directory))
    return handle
  }
  log.segments.add(emptySegment(handle, base))
  log.segmentMadeMs = log.env.now()
  log.flusher.directoryChanged()
  log.flusher.seal(sealed)
  // A start reads the batches where this fails.
  log.derived.snapshot(base).catch(() => {})
  return Status.OK
}

/** Waits for the seals of older segments where these keep the descriptors. */
function create(log: LogState, base: number): number {
  const path = join(log.directory, segmentName(base))
  if (log.flusher.isSealingMany) log.flusher.sealOldest()
  for (;;) {
    if (log.flusher.fenced) return Status.FENCED
    const handle = native.segmentCreate(path, base, segmentOptions(log.options))
    if (handle !== Status.TOO_MANY_FILES || !log.flusher.sealOldest()) return handle
  }
}
