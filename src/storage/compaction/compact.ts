/**
 * Compacts one log, as Kafka's cleaner does: of the records of a key below the end of the dirty
 * range only the last one stays, its offset and bytes as they were. Records without a key go.
 *
 * A tombstone stays for `delete.retention.ms` from the first compaction that came by it, which its
 * batch notes (KIP-534). A batch without records stays as a header where it is the last of its
 * producer, whose sequence it tells, and where it is the last of a segment that is written: so the
 * segments of a log that was compacted here follow one another without a gap.
 *
 * The active segment is never touched, nor is what is not on disk. Segments are written anew group
 * by group, each swapped in when it is done: whatever ends a run leaves a log that is right.
 *
 * Errors: CORRUPT (damage, nothing of which is spread), TOO_LARGE, NO_SPACE, TOO_MANY_FILES, IO,
 * UNSUPPORTED_COMPRESSION; `Interrupted`.
 */
import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import { ioError } from '../../atomic-file.js'
import { SeglogError } from '../../errors.js'
import { checked, native, Result } from '../../native.js'
import type { Batch } from '../../records/batch.js'
import { type Candidate, emptiedBatch, filterBatch } from '../../records/filter.js'
import { segmentName } from '../log-files.js'
import type { LogState } from '../log-state.js'
import { CleanedSegments } from './cleaned-segments.js'
import { Interrupted } from './compaction-state.js'
import { type DirtyRange, dirtyRange, groupsOf } from './dirty-range.js'
import { batchesOf, type Cleanable, lastOffsets, OUTPUT_BYTES_MAX } from './key-offsets.js'
import type { OffsetMap } from './offset-map.js'
import { Pace } from './pace.js'
import { swapIn } from './swap.js'

export interface CompactionNeed {
  /** Share of the bytes that were not compacted yet, 0 to 1. */
  ratio: number
  /** Something has waited longer than `maxCompactionLagMs`. */
  isOverdue: boolean
}

export interface CompactionOptions {
  /** Nothing at or above is compacted: the high watermark. */
  limitOffset: number
  /** Memory for the keys (`log.cleaner.dedupe.buffer.size`). */
  bufferBytes: number
}

/** What a compaction did. */
export interface CompactionReport {
  firstDirty: number
  /** Up to where the log is compacted now. */
  end: number
  bytesBefore: number
  bytesAfter: number
}

/** A horizon further away is never reached, and one at 2^53 could not be laid out. */
const HORIZON_MS_MAX = 2 ** 51

/** Resolves with undefined where there is nothing to compact. */
export function compact(
  log: LogState,
  options: CompactionOptions,
): Promise<CompactionReport | undefined> {
  return log.compaction.run(async (isInterrupted) => {
    const isOver = () => isInterrupted() || log.closed || log.flusher.fenced !== undefined
    const pace = new Pace(log.env, isOver)
    const { segments, range } = await cleanable(log, options.limitOffset)
    const { firstDirty } = range
    if (range.end <= firstDirty) return undefined
    const reading = lastOffsets(log, segments, range, options.bufferBytes, pace)
    const found = await reading.catch((error: unknown) => {
      throw reasonOf(log, segments, error)
    })
    if (found.end <= firstDirty) return undefined
    const cleaning = new Cleaning(log, found.map, found.end, pace)
    const concerned = segments.filter(({ baseOffset }) => baseOffset < found.end)
    for (const group of groupsOf(concerned, log.options)) await cleaning.group(group)
    log.compaction.cleanedOffset = found.end
    const { bytesBefore, bytesAfter } = cleaning
    return { firstDirty, end: found.end, bytesBefore, bytesAfter }
  })
}

/** The segments that are not active, and what of them is dirty. Rejects with CORRUPT, IO. */
export async function cleanable(
  log: LogState,
  limitOffset: number,
): Promise<{ segments: Cleanable[]; range: DirtyRange }> {
  const { minCompactionLagMs } = log.options
  const nowMs = log.env.now()
  const segments: Cleanable[] = []
  const all = log.segments.list()
  for (const [i, entry] of all.entries()) {
    const next = all[i + 1]
    if (next === undefined) break
    const { baseOffset, sizeBytes } = entry
    const maxTimestamp = minCompactionLagMs > 0 ? await maxTimestampOf(log, entry.handle) : -1
    segments.push({ entry, baseOffset, endOffset: next.baseOffset, sizeBytes, maxTimestamp })
  }
  const range = dirtyRange(segments, {
    startOffset: log.startOffset,
    cleanedOffset: log.compaction.cleanedOffset,
    limitOffset: Math.min(limitOffset, log.recoveryPoint),
    nowMs,
    minCompactionLagMs,
  })
  return { segments, range }
}

async function maxTimestampOf(log: LogState, handle: number): Promise<number> {
  // A cold index is read in the pool.
  await native.segmentLoad(handle)
  checked(native.segmentInfo(handle), log.directory)
  return native.results[Result.MAX_TIMESTAMP]!
}

/**
 * Segments that were deleted at the start meanwhile are no failure; other errors name the log.
 */
function reasonOf(log: LogState, segments: readonly Cleanable[], error: unknown): unknown {
  if (!(error instanceof SeglogError)) return error
  const { code, message } = error
  const present = new Set(log.segments.list())
  const isOvertaken = segments.some(({ entry }) => !present.has(entry))
  const isGone = code === 'NOT_FOUND' || code === 'IO'
  if (isGone && isOvertaken) return new Interrupted('segments were deleted')
  if (message.startsWith(log.directory)) return error
  return new SeglogError(code, `${log.directory}: ${message}`, { cause: error })
}

class Cleaning {
  bytesBefore = 0
  bytesAfter = 0
  readonly #log: LogState
  readonly #map: OffsetMap
  readonly #end: number
  readonly #pace: Pace
  readonly #nowMs: number
  /** The last offset of each idempotent producer. */
  readonly #lastOfProducers = new Map<number, number>()

  constructor(log: LogState, map: OffsetMap, end: number, pace: Pace) {
    this.#log = log
    this.#map = map
    this.#end = end
    this.#pace = pace
    this.#nowMs = log.env.now()
    for (const { producerId, batches } of log.producers.entries()) {
      const last = batches.at(-1)
      if (last) this.#lastOfProducers.set(producerId, last.lastOffset)
    }
  }

  /** Writes one group of segments anew and has the result take their place. */
  async group(group: readonly Cleanable[]): Promise<void> {
    const [first] = group
    const sizeBytes = group.reduce((sum, segment) => sum + segment.sizeBytes, 0)
    if (first === undefined || sizeBytes === 0) return
    const cleaned = new CleanedSegments(
      this.#log,
      Math.max(sizeBytes, this.#log.options.segmentBytes),
    )
    try {
      const isSame = await this.#write(group, first.baseOffset, cleaned)
      this.bytesBefore += sizeBytes
      this.bytesAfter += cleaned.sizeBytes
      if (isSame && group.length === 1) await cleaned.discard()
      else await this.#swapIn(group, cleaned)
    } catch (error) {
      await cleaned.discard()
      throw reasonOf(this.#log, group, error)
    }
  }

  async #swapIn(group: readonly Cleanable[], cleaned: CleanedSegments): Promise<void> {
    await cleaned.finish(await this.#modifiedMs(group[group.length - 1]!))
    this.#pace.resume()
    const old = group.map(({ entry }) => entry)
    if (!(await swapIn(this.#log, old, cleaned))) throw new Interrupted('segments were deleted')
  }

  async #modifiedMs({ baseOffset }: Cleanable): Promise<number> {
    const path = join(this.#log.directory, `${segmentName(baseOffset)}.log`)
    try {
      return (await stat(path)).mtimeMs
    } catch (error) {
      throw ioError(path, error)
    }
  }

  /** Resolves with whether nothing was left out or changed. */
  async #write(
    group: readonly Cleanable[],
    baseOffset: number,
    cleaned: CleanedSegments,
  ): Promise<boolean> {
    await cleaned.begin(baseOffset)
    let isSame = true
    let dropped: Batch | undefined
    for (const segment of group) {
      for await (const batch of batchesOf(this.#log, segment, this.#pace)) {
        const left = this.#left(batch)
        isSame &&= left === batch.bytes
        const { header } = batch
        // Of a run that is overwritten by the next one, a copy.
        dropped = left === undefined ? { ...batch, bytes: emptiedBatch(batch) } : undefined
        if (left !== undefined) await cleaned.add(left, header.baseOffset, header.lastOffset)
      }
    }
    if (dropped !== undefined) {
      const { header, bytes } = dropped
      await cleaned.add(bytes, header.baseOffset, header.lastOffset)
    }
    return isSame
  }

  /** What of a batch stays; its own bytes where all of it does. */
  #left(batch: Batch): Uint8Array | undefined {
    const { header } = batch
    if (header.baseOffset >= this.#end || header.isControl) return batch.bytes
    const { baseTimestamp, hasDeleteHorizon, producerId, lastOffset } = header
    const isExpired = hasDeleteHorizon && this.#nowMs >= baseTimestamp
    const { deleteRetentionMs } = this.#log.options
    const left = filterBatch(batch, (record) => this.#isKept(record, isExpired), {
      maxOutputBytes: OUTPUT_BYTES_MAX,
      horizonMs: Math.min(this.#nowMs + deleteRetentionMs, HORIZON_MS_MAX),
    })
    if (left !== undefined) return left
    const isLastOfProducer = this.#lastOfProducers.get(producerId) === lastOffset
    if (!isLastOfProducer) return undefined
    return header.count === 0 ? batch.bytes : emptiedBatch(batch)
  }

  #isKept({ key, offset, isTombstone }: Candidate, isExpired: boolean): boolean {
    if (key === null) return false
    if (this.#map.get(key) > offset) return false
    return !(isTombstone && isExpired)
  }
}
