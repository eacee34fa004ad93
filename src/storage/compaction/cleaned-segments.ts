/**
 * The segments that a compaction writes: `%020d.log.cleaned` with their indexes, which no start
 * takes for a part of the log. Batches keep their offsets. Where what is left of a group does not
 * fit into one segment, as after a change of format, another one follows.
 *
 * Writes are synchronous and of some hundred KiB, into the page cache; the sync is the seal's.
 * Whoever makes one either has it take the place of others (swap.ts) or discards it.
 */
import { utimes } from 'node:fs/promises'
import { join } from 'node:path'
import { ioError } from '../../atomic-file.js'
import { AppendFlag, checked, native } from '../../native.js'
import { segmentName } from '../log-files.js'
import { segmentOptions } from '../log-options.js'
import type { LogState } from '../log-state.js'
import { unlinkQuietly } from '../segment-removal.js'
import { emptySegment, type SegmentEntry } from '../segments.js'

export const CLEANED_ENDING = '.cleaned'

const WRITE_BYTES = 256 * 1024
const OFFSETS_MAX = 2 ** 31 - 1

export class CleanedSegments {
  readonly segments: SegmentEntry[] = []
  readonly #log: LogState
  readonly #bytesMax: number
  readonly #buffer = Buffer.allocUnsafeSlow(WRITE_BYTES)
  #buffered = 0

  /** `bytesMax`: of one segment, unless it holds a single batch. */
  constructor(log: LogState, bytesMax: number) {
    this.#log = log
    this.#bytesMax = bytesMax
  }

  get sizeBytes(): number {
    return this.segments.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0)
  }

  /** The first one; may also be called for each further one. Rejects as `segmentCreate`. */
  async begin(baseOffset: number): Promise<void> {
    this.#write()
    const { directory, options } = this.#log
    const path = join(directory, segmentName(baseOffset))
    // Of an attempt that could not even remove it.
    for (const ending of ['.log', '.index', '.timeindex']) {
      await unlinkQuietly(`${path}${ending}${CLEANED_ENDING}`)
    }
    const made = { ...segmentOptions(options), segmentBytes: this.#bytesMax, mapped: false }
    const handle = native.segmentCreate(path, baseOffset, { ...made, suffix: CLEANED_ENDING })
    this.segments.push(emptySegment(checked(handle, path), baseOffset))
  }

  /** Takes a batch. REQUIRES: `begin`; batches in order. Rejects with NO_SPACE, IO, CORRUPT. */
  async add(batch: Uint8Array, baseOffset: number, lastOffset: number): Promise<void> {
    if (!this.#fits(batch, lastOffset)) await this.begin(baseOffset)
    const segment = this.#current
    if (batch.length > WRITE_BYTES - this.#buffered) this.#write()
    if (batch.length > WRITE_BYTES) this.#append(batch)
    else {
      this.#buffer.set(batch, this.#buffered)
      this.#buffered += batch.length
    }
    segment.sizeBytes += batch.length
    segment.nextOffset = lastOffset + 1
  }

  #fits(batch: Uint8Array, lastOffset: number): boolean {
    const { sizeBytes, baseOffset } = this.#current
    if (sizeBytes === 0) return true
    return sizeBytes + batch.length <= this.#bytesMax && lastOffset - baseOffset <= OFFSETS_MAX
  }

  get #current(): SegmentEntry {
    return this.segments[this.segments.length - 1]!
  }

  #write(): void {
    if (this.#buffered === 0) return
    const bytes = this.#buffer.subarray(0, this.#buffered)
    this.#buffered = 0
    this.#append(bytes)
  }

  #append(bytes: Uint8Array): void {
    const { handle } = this.#current
    const flag = AppendFlag.FROM_LEADER
    const status = native.segmentAppend(handle, bytes, 0, bytes.length, 0, flag)
    checked(status, `cleaned segment of ${this.#log.directory}`)
  }

  /** Brings all of it to the disk; the files are as old as `modifiedMs` then. */
  async finish(modifiedMs: number): Promise<void> {
    this.#write()
    for (const { handle, baseOffset } of this.segments) {
      await native.segmentSeal(handle)
      const name = `${segmentName(baseOffset)}.log${CLEANED_ENDING}`
      const path = join(this.#log.directory, name)
      // Where no record tells its age, that of the file counts.
      await utimes(path, modifiedMs / 1000, modifiedMs / 1000).catch((error: unknown) => {
        throw ioError(path, error)
      })
    }
  }

  /** They belong to the log now: nothing is discarded any more. */
  letGo(): SegmentEntry[] {
    return this.segments.splice(0)
  }

  /** Removes the files. What stays of them is removed by the next start. */
  async discard(): Promise<void> {
    this.#buffered = 0
    for (const { handle } of this.segments.splice(0)) {
      await native.segmentDelete(handle).catch(() => {})
    }
  }
}
