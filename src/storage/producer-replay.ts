/**
 * Reads the batch headers at the end of a log when it is opened or cut, to make anew what is derived
 * from them. What lies below the last snapshot is not read again, and at most the last part of the
 * log is, whichever segments that lies in: a producer sends a batch again within a few requests,
 * not after tens of megabytes by others, and one that is not known may begin anywhere.
 */
import { checked, native, Result } from '../native.js'
import { readExtent } from '../records/sequence.js'
import type { SegmentEntry } from './segments.js'

const REPLAYED_BYTES = 64 * 1024 * 1024
const CHUNK_BYTES = 1024 * 1024

/** Told of each batch: its header lies at `at` of `bytes`, its records may lie outside. */
export type BatchVisitor = (bytes: Uint8Array, at: number) => void

/** REQUIRES: `segments` in order, all open. Visits batches from the one that holds `fromOffset`. */
export function replayBatches(
  segments: readonly SegmentEntry[],
  fromOffset: number,
  visit: BatchVisitor,
): void {
  let first = segments.length
  let left = REPLAYED_BYTES
  while (first > 0 && left > 0 && (segments[first]?.baseOffset ?? Infinity) > fromOffset) {
    first--
    left -= segments[first]?.sizeBytes ?? 0
  }
  for (const segment of segments.slice(first)) {
    // What is too much lies at the start of the first one.
    const skipped = Math.max(0, -left)
    left = 0
    if (segment.nextOffset <= fromOffset) continue
    replaySegment(segment, startPosition(segment, skipped, fromOffset), visit)
  }
}

function replaySegment({ handle, sizeBytes }: SegmentEntry, from: number, visit: BatchVisitor) {
  const chunk = new Uint8Array(Math.min(CHUNK_BYTES, sizeBytes))
  let position = from
  while (position < sizeBytes) {
    const read = native.segmentRead(handle, position, chunk.length, chunk, 0)
    const bytes = chunk.subarray(0, checked(read, 'replay of batches'))
    let at = 0
    for (let extent = readExtent(bytes, at); extent; extent = readExtent(bytes, at)) {
      visit(bytes, at)
      at += extent.sizeBytes
    }
    if (at === 0) return
    position += at
  }
}

/**
 * The start of the batch that holds `fromOffset`, or of one about `skippedBytes` from the start of
 * the segment where that is further on. Damage in between leaves that part out.
 */
function startPosition(segment: SegmentEntry, skippedBytes: number, fromOffset: number): number {
  const { handle, baseOffset, nextOffset, sizeBytes } = segment
  const share = skippedBytes / Math.max(1, sizeBytes)
  const skipped = baseOffset + Math.floor((nextOffset - baseOffset) * share)
  const offset = Math.max(skipped, fromOffset)
  if (offset <= baseOffset) return 0
  if (native.segmentLocate(handle, offset, 0, nextOffset) < 0) return sizeBytes
  return native.results[Result.POSITION]!
}
