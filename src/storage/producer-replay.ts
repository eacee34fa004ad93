/**
 * Makes the state of idempotent producers anew when a log is opened, from the batch headers at its end. Only the
 * last part of the newest segment is read: a producer sends a batch again within a few requests, not after tens
 * of megabytes by others, and one that is not known may begin anywhere.
 */
import { checked, native, Result } from '../native.js'
import { readExtent, readSequence } from '../records/sequence.js'
import type { SegmentEntry } from './log-loader.js'
import type { ProducerState } from './producer-state.js'

const REPLAYED_BYTES = 64 * 1024 * 1024
const CHUNK_BYTES = 1024 * 1024

export function replayProducers(segment: SegmentEntry, producers: ProducerState, nowMs: number) {
  const chunk = new Uint8Array(Math.min(CHUNK_BYTES, segment.sizeBytes))
  let position = startPosition(segment)
  while (position < segment.sizeBytes) {
    const read = native.segmentRead(segment.handle, position, chunk.length, chunk, 0)
    const bytes = chunk.subarray(0, checked(read, 'replay of producers'))
    let at = 0
    for (let extent = readExtent(bytes, at); extent; extent = readExtent(bytes, at)) {
      const sequence = readSequence(bytes, at)
      if (sequence) {
        const { producerId, producerEpoch, baseSequence, count } = sequence
        const { baseOffset } = extent
        const lastOffset = baseOffset + count - 1
        const firstSequence = baseSequence
        const timestamp = nowMs
        producers.replay({
          producerId,
          producerEpoch,
          firstSequence,
          baseOffset,
          lastOffset,
          timestamp,
        })
      }
      at += extent.sizeBytes
    }
    if (at === 0) return
    position += at
  }
}

/** The start of a batch at most about `REPLAYED_BYTES` before the end. */
function startPosition({ handle, baseOffset, nextOffset, sizeBytes }: SegmentEntry): number {
  if (sizeBytes <= REPLAYED_BYTES) return 0
  const share = 1 - REPLAYED_BYTES / sizeBytes
  const offset = baseOffset + Math.floor((nextOffset - baseOffset) * share)
  checked(native.segmentLocate(handle, offset, 0, nextOffset), 'replay of producers')
  return native.results[Result.POSITION]!
}
