/**
 * The first pass of a compaction: the last offset of each key in the dirty range, read in the order
 * of the log until the map has no room or what follows cannot be judged.
 *
 * Which records of transactions count, only who keeps track of them could say: the range ends
 * before the first batch of one. Records without a key have no say. A batch is taken whole or not
 * at all.
 */
import { join } from 'node:path'
import { SeglogError } from '../../errors.js'
import { type Batch, batchAt, iterateBatches } from '../../records/batch.js'
import { visitRecords } from '../../records/filter.js'
import { isOldMagic } from '../../records/message-set-format.js'
import { upgradedMessage } from '../../records/upgrade.js'
import { segmentName } from '../log-files.js'
import type { LogState } from '../log-state.js'
import type { SegmentEntry } from '../segments.js'
import type { DirtyRange, SealedSegment } from './dirty-range.js'
import { OffsetMap } from './offset-map.js'
import type { Pace } from './pace.js'
import { SegmentBatches } from './segment-batches.js'

/** A batch is opened up to this size; one that holds more cannot be compacted. */
export const OUTPUT_BYTES_MAX = 256 * 1024 * 1024

export interface Cleanable extends SealedSegment {
  entry: SegmentEntry
}

export interface KeyOffsets {
  map: OffsetMap
  /** One above the last offset that was taken in. */
  end: number
}

export async function lastOffsets(
  log: LogState,
  segments: readonly Cleanable[],
  { firstDirty, end }: DirtyRange,
  bufferBytes: number,
  pace: Pace,
): Promise<KeyOffsets> {
  const map = new OffsetMap(end - firstDirty, bufferBytes)
  let taken = firstDirty
  for (const segment of segments) {
    if (segment.endOffset <= firstDirty) continue
    if (segment.baseOffset >= end) break
    for await (const batch of batchesOf(log, segment, pace)) {
      const { header } = batch
      if (header.lastOffset < firstDirty) continue
      if (header.isControl || header.isTransactional) return { map, end: taken }
      if (!takeIn(map, batch, firstDirty)) {
        if (taken > firstDirty) return { map, end: taken }
        throw noRoom(log, batch)
      }
      taken = header.lastOffset + 1
    }
    taken = segment.endOffset
  }
  return { map, end: taken }
}

/** The batches of a segment, each of magic 2, with rests in between. Rejects with `Interrupted`. */
export async function* batchesOf(
  log: LogState,
  { entry, baseOffset }: Cleanable,
  pace: Pace,
): AsyncGenerator<Batch, void, undefined> {
  const path = join(log.directory, `${segmentName(baseOffset)}.log`)
  if (entry.damaged) throw new SeglogError('CORRUPT', `${path} is damaged`)
  const file = await SegmentBatches.open(path, entry.sizeBytes)
  try {
    for (let run = await file.next(); run !== undefined; run = await file.next()) {
      pace.resume()
      for (const batch of iterateBatches(run)) {
        yield isOldMagic(batch.header.magic) ? upgraded(batch) : batch
        if (pace.isOver()) await pace.rest()
      }
    }
  } finally {
    await file.close()
  }
}

function upgraded(message: Batch): Batch {
  return batchAt(upgradedMessage(message, OUTPUT_BYTES_MAX), 0)
}

/** Returns false where there may be no room for all of it. */
function takeIn(map: OffsetMap, batch: Batch, from: number): boolean {
  if (batch.header.count > map.sizeMax - map.size) return false
  visitRecords(batch, OUTPUT_BYTES_MAX, ({ key, offset }) => {
    if (key !== null && offset >= from) map.put(key, offset)
  })
  return true
}

function noRoom({ directory }: LogState, { header }: Batch): SeglogError {
  const text = `${directory}: a batch of ${header.count} records does not fit into the memory of`
  return new SeglogError('TOO_LARGE', `${text} compaction; raise log.cleaner.dedupe.buffer.size`)
}
