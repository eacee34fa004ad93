/**
 * A log as somebody sees it who reads beside its writer, in this process or another: whole batches
 * with right sums, from the log's start up to where they ended at the last `refresh`.
 *
 * Takes no lock, and writes, makes and trims nothing. What follows the last whole batch of the
 * newest segment, a reserved tail or a batch that is just being written, is not there yet. Segments
 * that have not changed since the last look stay open; the newest one is read from what was seen
 * before on, or from the writer's recovery point, by the indexes as they are on disk.
 *
 * What the writer cuts or deletes is seen by the next `refresh`. Until then a read gets what is
 * still there, or a typed error, and never other bytes than those of a whole batch. JS thread;
 * files are opened in the pool.
 */
import { open, readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { ioError, isMissing } from '../atomic-file.js'
import { SeglogError } from '../errors.js'
import { native, Result, type SegmentReport, Status } from '../native.js'
import { HEADER_BYTES } from '../records/format.js'
import { segmentBaseOffset, segmentName } from '../storage/log-files.js'
import { defaultLogOptions, type LogReport, segmentOptions } from '../storage/log-options.js'
import { type SegmentEntry, Segments } from '../storage/segments.js'
import type { Slice } from '../storage/slice.js'
import { type Remembered, readRemembered } from './folder-state.js'

/** What tells one content of a sealed file from another. */
interface FileFacts {
  ino: number
  size: number
  mtimeMs: number
}

/** A segment that was looked at. */
interface Seen extends FileFacts {
  entry: SegmentEntry
  /** It was the newest: what follows may have been incomplete. */
  isNewest: boolean
  /** Where its last batch begins, and that batch's header; empty where there is none. */
  lastPosition: number
  lastHeader: Uint8Array
}

const options = { ...segmentOptions(defaultLogOptions), readOnly: true }
/** Segments come and go while they are opened; a writer is not that quick twice in a row. */
const ATTEMPTS = 20

export class LogView {
  readonly directory: string
  readonly report: LogReport = {
    segments: 0,
    cutBytes: 0,
    rebuiltIndexes: 0,
    damage: undefined,
    damages: [],
    removedSegments: [],
  }
  startOffset = 0
  endOffset = 0
  /** As the writer has last written it down. */
  recoveryPoint = 0
  #seen: Seen[] = []
  #segments: Segments | undefined
  #closed = false
  #refreshing: Promise<void> = Promise.resolve()

  private constructor(directory: string) {
    this.directory = directory
  }

  /** Rejects with NOT_FOUND where there is no such folder, TOO_MANY_FILES, IO. */
  static async open(directory: string): Promise<LogView> {
    const view = new LogView(directory)
    await view.refresh()
    view.report.segments = view.#seen.length
    return view
  }

  get sizeBytes(): number {
    return this.#segments?.sizeBytes ?? 0
  }

  /**
   * Takes in what was appended, rolled, cut and deleted before the call. Rejects with CLOSED,
   * NOT_FOUND, TOO_MANY_FILES, IO; the view is then as before.
   */
  refresh(): Promise<void> {
    const refreshed = this.#refreshing.then(() => this.#look())
    this.#refreshing = refreshed.catch(() => {})
    return refreshed
  }

  /** As `Log.slice`. */
  slice(offset: number, maxBytes: number): Slice | undefined {
    this.#checkOpen()
    const { startOffset, endOffset } = this
    if (offset < startOffset || offset > endOffset) {
      const range = `${startOffset} to ${endOffset} at the last refresh`
      const text = `offset ${offset} of ${this.directory} (${range})`
      throw new SeglogError('OFFSET_OUT_OF_RANGE', text)
    }
    return this.#lookUp((segments) => segments.slice(offset, maxBytes, endOffset))
  }

  /** As `Log.batchForTimestamp`. */
  batchForTimestamp(timestamp: number): Slice | undefined {
    this.#checkOpen()
    return this.#lookUp((segments) => segments.batchForTimestamp(timestamp, this.startOffset))
  }

  #lookUp(look: (segments: Segments) => Slice | undefined): Slice | undefined {
    try {
      return this.#segments && look(this.#segments)
    } catch (error) {
      if (!(error instanceof SeglogError) || error.code !== 'NOT_FOUND') throw error
      const text = `${this.directory}: the writer has deleted a segment; refresh and read on`
      throw new SeglogError('OFFSET_OUT_OF_RANGE', text, { cause: error })
    }
  }

  #checkOpen(): void {
    if (this.#closed) throw new SeglogError('CLOSED', `${this.directory} is closed`)
  }

  async close(): Promise<void> {
    this.#closed = true
    await this.#refreshing
    await letGo(this.#seen.splice(0))
  }

  async #look(): Promise<void> {
    for (let attempt = 1; ; attempt++) {
      this.#checkOpen()
      try {
        const known = await readRemembered(this.directory)
        const found = await this.#openAll(known.recoveryPoint)
        if (await this.#isOvertaken(known)) await letGo(this.#fresh(found))
        else return await this.#take(known, found)
      } catch (error) {
        if (!isOutrun(error) || attempt >= ATTEMPTS || !(await isThere(this.directory))) throw error
      }
    }
  }

  /** A cut began meanwhile: what was believed to be on disk may be another log's. */
  async #isOvertaken({ recoveryPoint = 0 }: Remembered): Promise<boolean> {
    const now = await readRemembered(this.directory)
    return (now.recoveryPoint ?? 0) < recoveryPoint
  }

  /** Those of `found` that this view does not hold already. */
  #fresh(found: readonly Seen[]): Seen[] {
    return found.filter((each) => !this.#seen.includes(each))
  }

  async #take(known: Remembered, found: Seen[]): Promise<void> {
    const old = this.#seen.filter((each) => !found.includes(each))
    const entries = found.map(({ entry }) => entry)
    const last = entries.at(-1)
    this.#seen = found
    this.#segments = last && new Segments(this.directory, entries)
    this.endOffset = last?.nextOffset ?? known.logStartOffset ?? 0
    const start = Math.min(known.logStartOffset ?? 0, this.endOffset)
    this.startOffset = Math.max(start, entries[0]?.baseOffset ?? 0)
    const point = known.clean ? this.endOffset : (known.recoveryPoint ?? 0)
    this.recoveryPoint = Math.min(Math.max(point, this.startOffset), this.endOffset)
    this.report.damage ??= known.warning
    await letGo(old)
  }

  async #openAll(recoveryPoint: number | undefined): Promise<Seen[]> {
    const bases = await baseOffsets(this.directory)
    const held = new Map(this.#seen.map((each) => [each.entry.baseOffset, each]))
    const found: Seen[] = []
    try {
      for (const [i, base] of bases.entries()) {
        const path = join(this.directory, segmentName(base))
        const facts = await factsOf(`${path}.log`)
        const before = held.get(base)
        const nextBase = bases[i + 1]
        if (before !== undefined && (await isUnchanged(path, before, facts, nextBase))) {
          found.push(before)
        } else {
          const report =
            nextBase === undefined
              ? await openNewest(path, base, recoveryPoint ?? 0, before)
              : await openSegment(path, base)
          found.push(seen(report, base, nextBase, facts))
          if (nextBase !== undefined) this.#noteDamage(report, base, nextBase)
        }
      }
      return found
    } catch (error) {
      await letGo(this.#fresh(found))
      throw error
    }
  }

  #noteDamage({ damage, nextOffset, damagePosition }: SegmentReport, base: number, end: number) {
    if (damage === Status.OK || nextOffset >= end) return
    this.report.damage ??= `${segmentName(base)}.log is damaged at byte ${damagePosition}`
  }
}

async function isThere(directory: string): Promise<boolean> {
  return stat(directory).then(
    () => true,
    () => false,
  )
}

async function baseOffsets(directory: string): Promise<number[]> {
  const names = await readdir(directory).catch((error: unknown) => {
    throw notFoundOr(directory, error)
  })
  const bases = names.map(segmentBaseOffset).filter((base) => base !== undefined)
  return bases.sort((a, b) => a - b)
}

/** The writer removed a file that was about to be opened, or trimmed one that was being read. */
function isOutrun(error: unknown): boolean {
  return error instanceof SeglogError && (error.code === 'NOT_FOUND' || error.code === 'SHORT')
}

function notFoundOr(path: string, error: unknown): SeglogError {
  return isMissing(error)
    ? new SeglogError('NOT_FOUND', `${path}: not found`)
    : ioError(path, error)
}

async function factsOf(path: string): Promise<FileFacts> {
  try {
    const { ino, size, mtimeMs } = await stat(path)
    return { ino, size, mtimeMs }
  } catch (error) {
    throw notFoundOr(path, error)
  }
}

/** `checkFrom`: the offset from which sums are checked; without it headers are believed. */
function openSegment(path: string, base: number, checkFrom?: number) {
  const recovery =
    checkFrom === undefined ? {} : { recover: true, recoverFrom: Math.max(base, checkFrom) }
  return native.segmentOpen(path, base, { ...options, ...recovery })
}

/** What was on disk, and what was seen before and is still there, is not checked again. */
async function openNewest(
  path: string,
  base: number,
  recoveryPoint: number,
  before: Seen | undefined,
): Promise<SegmentReport> {
  const known = before?.entry.nextOffset ?? 0
  if (before === undefined || known <= recoveryPoint || !(await endsAsBefore(path, before))) {
    return openSegment(path, base, recoveryPoint)
  }
  const report = await openSegment(path, base, known)
  if (await endsAsBefore(path, before)) return report
  // Cut between the two looks.
  await native.segmentClose(report.handle, false)
  return openSegment(path, base, recoveryPoint)
}

/** Whether the batch that was last is where it was. */
async function endsAsBefore(path: string, { lastHeader, lastPosition, entry }: Seen) {
  if (lastHeader.length === 0) return false
  const [last] = await readTwo(`${path}.log`, lastPosition, entry.sizeBytes)
  return lastHeader.every((byte, i) => byte === last[i])
}

function seen(
  { handle, nextOffset, validBytes, damage }: SegmentReport,
  baseOffset: number,
  nextBase: number | undefined,
  facts: FileFacts,
): Seen {
  const isNewest = nextBase === undefined
  const damaged = !isNewest && damage !== Status.OK && nextOffset < nextBase
  const entry = { handle, baseOffset, nextOffset, sizeBytes: validBytes, damaged }
  return { ...facts, entry, isNewest, ...lastBatch(entry, isNewest) }
}

function lastBatch({ handle, nextOffset, baseOffset }: SegmentEntry, isNewest: boolean) {
  const none = { lastPosition: 0, lastHeader: new Uint8Array(0) }
  if (!isNewest || nextOffset === baseOffset) return none
  if (native.segmentLocate(handle, nextOffset - 1, 0, nextOffset) < 0) return none
  const lastPosition = native.results[Result.POSITION]!
  const lastHeader = new Uint8Array(HEADER_BYTES)
  const count = native.segmentRead(handle, lastPosition, HEADER_BYTES, lastHeader, 0)
  return count < 0 ? none : { lastPosition, lastHeader: lastHeader.subarray(0, count) }
}

/** Whether a look at the segment would find what the last one found. */
async function isUnchanged(
  path: string,
  before: Seen,
  facts: FileFacts,
  nextBase: number | undefined,
): Promise<boolean> {
  if (before.ino !== facts.ino || before.isNewest !== (nextBase === undefined)) return false
  if (!before.isNewest) return before.size === facts.size && before.mtimeMs === facts.mtimeMs
  const { entry, lastPosition, lastHeader } = before
  if (entry.sizeBytes > 0 && lastHeader.length === 0) return false
  const [last, next] = await readTwo(`${path}.log`, lastPosition, entry.sizeBytes)
  return lastHeader.every((byte, i) => byte === last[i]) && next.every((byte) => byte === 0)
}

/** The bytes of a header at each of two places, as far as the file has them. */
async function readTwo(path: string, ...positions: [number, number]) {
  const file = await open(path, 'r').catch((error: unknown) => {
    throw notFoundOr(path, error)
  })
  const at = async (position: number) => {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(HEADER_BYTES), {
      position,
    } as const)
    return buffer.subarray(0, bytesRead)
  }
  try {
    return [await at(positions[0]), await at(positions[1])] as const
  } catch (error) {
    throw ioError(path, error)
  } finally {
    await file.close()
  }
}

async function letGo(segments: readonly Seen[]): Promise<void> {
  const handles = segments.map(({ entry }) => entry.handle)
  await Promise.allSettled(handles.map((handle) => native.segmentClose(handle, false)))
}
