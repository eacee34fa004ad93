/**
 * Makes the state of idempotent producers anew when a log is opened, from the batch headers at its
 * end. Only the last part of it is read, whichever segments that lies in: a producer sends a batch
 * again within a few requests, not after tens of megabytes by others, and one that is not known may
 * begin anywhere.
 */
import { checked, native, Result } from '../native.js'
import { readExtent, readSequence, type Sequence } from '../records/sequence.js'
import type { ProducerState } from './producer-state.js'
import type { SegmentEntry } from './segments.js'

const REPLAYED_BYTES = 64 * 1024 * 1024
const CHUNK_BYTES = 1024 * 1024

/** REQUIRES: `segments` in order, all open. */
export function replayProducers(
  segments: readonly SegmentEntry[],
  producers: ProducerState,
  nowMs: number,
): void {
  let first = segments.length
  let left = REPLAYED_BYTES
  while (first > 0 && left > 0) {
    first--
    left -= segments[first]?.sizeBytes ?? 0
  }
  for (const segment of segments.slice(first)) {
    // What is too much lies at the start of the first one.
    const skipped = Math.max(0, -left)
    left = 0
    replaySegment(segment, startPosition(segment, skipped), producers, nowMs)
  }
}

function replaySegment(
  { handle, sizeBytes }: SegmentEntry,
  from: number,
  producers: ProducerState,
  timestamp: number,
): void {
  const chunk = new Uint8Array(Math.min(CHUNK_BYTES, sizeBytes))
  let position = from
  while (position < sizeBytes) {
    const read = native.segmentRead(handle, position, chunk.length, chunk, 0)
    const bytes = chunk.subarray(0, checked(read, 'replay of producers'))
    let at = 0
    for (let extent = readExtent(bytes, at); extent; extent = readExtent(bytes, at)) {
      const sequence = readSequence(bytes, at)
      if (sequence) replayBatch(sequence, extent.baseOffset, producers, timestamp)
      at += extent.sizeBytes
    }
    if (at === 0) return
    position += at
  }
}

function replayBatch(
  { producerId, producerEpoch, baseSequence, count }: Sequence,
  baseOffset: number,
  producers: ProducerState,
  timestamp: number,
): void {
  const lastOffset = baseOffset + count - 1
  const firstSequence = baseSequence
  producers.replay({
    producerId,
    producerEpoch,
    firstSequence,
    baseOffset,
    lastOffset,
    timestamp,
  })
}

/** The start of a batch about `skippedBytes` from the start of the segment. */
function startPosition(segment: SegmentEntry, skippedBytes: number): number {
  const { handle, baseOffset, nextOffset, sizeBytes } = segment
  if (skippedBytes === 0) return 0
  const offset = baseOffset + Math.floor((nextOffset - baseOffset) * (skippedBytes / sizeBytes))
  checked(native.segmentLocate(handle, offset, 0, nextOffset), 'replay of producers')
  return native.results[Result.POSITION]!
}
