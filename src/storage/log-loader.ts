/**
 * Opens the segments of one folder when its log starts, and brings them into a state that can be
 * appended to.
 *
 * After a clean stop nothing is scanned, unless its newest segment turns out to be damaged.
 * Otherwise the segments that reach above the recovery point
 * are read batch by batch. What is broken at or above it was never reported as durable: the log is
 * cut there, and segments behind the cut are removed. Damage below it stays on disk as it is, an
 * error for those who read it. Where no recovery point is known, everything but the newest segment
 * counts as below it; a process that dies between a roll and the end of its seal leaves a reserved
 * tail of zeros on an older segment, which is trimmed.
 */
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { ioError, makeDirectory } from '../atomic-file.js'
import { SeglogError } from '../errors.js'
import {
  checked,
  native,
  Result,
  type SegmentOptions,
  type SegmentReport,
  Status,
  statusError,
} from '../native.js'
import {
  DELETED_ENDING,
  gapText,
  SEGMENT_ENDINGS,
  segmentBaseOffset,
  segmentName,
} from './log-files.js'
import { settleLeftovers } from './log-leftovers.js'
import { type LogOpening, type LogReport, type LogTuning, segmentOptions } from './log-options.js'
import { renameIfThere, unlinkQuietly } from './segment-removal.js'
import { emptySegment, type SegmentEntry } from './segments.js'

/** The name of a segment; whether its offset is a safe number, `segmentBaseOffset` says. */
const UNCOUNTABLE = /^\d{20}\.log$/

/** What the folder held. */
export interface Loaded {
  /** At least one. */
  segments: SegmentEntry[]
  report: LogReport
  /** Base offsets of older segments that the last user may not have synced. */
  unsynced: number[]
  startOffset: number
}

/** A new segment, the first of its log. Errors: EXISTS, NO_SPACE, TOO_MANY_FILES, IO. */
export function createSegment(
  directory: string,
  baseOffset: number,
  options: SegmentOptions,
): SegmentEntry {
  const path = join(directory, segmentName(baseOffset))
  return emptySegment(checked(native.segmentCreate(path, baseOffset, options), path), baseOffset)
}

/** Closes segments of a log that does not come to be. */
export async function letGo(segments: readonly SegmentEntry[]): Promise<void> {
  await Promise.allSettled(segments.map(({ handle }) => native.segmentClose(handle, false)))
}

/**
 * Rejects with IO, TOO_MANY_FILES, NO_SPACE, OFFSET_TOO_LARGE (a name beyond what can be counted).
 * A folder that is missing is made, and a log without segments gets its first one.
 */
export async function openSegments(
  directory: string,
  options: LogTuning & LogOpening,
): Promise<Loaded> {
  const names = await settledNames(directory)
  const bases = baseOffsets(directory, names)
  const loading = new Loading(directory, options, bases)
  try {
    await loading.run()
    const { segments, report, unsynced } = loading
    return { segments, report, unsynced, startOffset: await loading.settleStart() }
  } catch (error) {
    await letGo(loading.segments)
    throw error
  }
}

async function settledNames(directory: string): Promise<string[]> {
  try {
    await makeDirectory(directory)
    return await settleLeftovers(directory, await readdir(directory))
  } catch (error) {
    throw ioError(directory, error)
  }
}

/** Of every .log file, in their order. */
function baseOffsets(directory: string, names: readonly string[]): number[] {
  const bases: number[] = []
  for (const name of names) {
    const base = segmentBaseOffset(name)
    if (base !== undefined) bases.push(base)
    else if (UNCOUNTABLE.test(name)) {
      throw new SeglogError('OFFSET_TOO_LARGE', `${join(directory, name)} begins above 2^53 - 1`)
    }
  }
  return bases.sort((a, b) => a - b)
}

class Loading {
  readonly segments: SegmentEntry[] = []
  readonly unsynced: number[] = []
  readonly report: LogReport
  readonly #directory: string
  readonly #clean: boolean
  readonly #isCompacted: boolean
  readonly #recoveryPoint: number | undefined
  readonly #logStartOffset: number | undefined
  readonly #options: SegmentOptions
  readonly #bases: readonly number[]

  constructor(directory: string, options: LogTuning & LogOpening, bases: readonly number[]) {
    this.#directory = directory
    this.#clean = options.clean
    this.#isCompacted = options.isCompacted ?? false
    this.#recoveryPoint = options.recoveryPoint
    this.#logStartOffset = options.logStartOffset
    this.#options = segmentOptions(options)
    this.#bases = bases
    this.report = {
      segments: bases.length,
      cutBytes: 0,
      rebuiltIndexes: 0,
      damage: undefined,
      damages: [],
      removedSegments: [],
    }
  }

  async run(): Promise<void> {
    const trusted = this.#trustedCount()
    await this.#openTrusted(trusted)
    for (let i = trusted; i < this.#bases.length; i++) {
      const isCut = await this.#recover(i)
      if (!isCut) continue
      await this.#remove(this.#bases.slice(i + 1))
      break
    }
    const end = this.segments.at(-1)?.nextOffset
    if (end === undefined || end >= (this.#recoveryPoint ?? 0)) return
    this.report.damage ??= `it ends at ${end}; all below ${this.#recoveryPoint} was on disk before`
  }

  /**
   * Where the log begins. A log that does not reach its start offset has nothing to keep, and
   * begins
   * anew there.
   */
  async settleStart(): Promise<number> {
    const start = this.#logStartOffset ?? 0
    const [first] = this.segments
    const end = this.segments.at(-1)?.nextOffset ?? -1
    if (first && start <= end) return Math.max(first.baseOffset, start)
    const old = this.segments.splice(0)
    await letGo(old)
    await this.#remove(old.map(({ baseOffset }) => baseOffset))
    this.segments.push(createSegment(this.#directory, start, this.#options))
    return start
  }

  /** How many leading segments are believed to be what the checkpoints say. */
  #trustedCount(): number {
    const older = Math.max(0, this.#bases.length - 1)
    if (this.#clean) return older
    const recoveryPoint = this.#recoveryPoint
    if (recoveryPoint === undefined) return 0
    let count = 0
    while (count < older && this.#bases[count + 1]! <= recoveryPoint) count++
    return count
  }

  /** Nothing of them is read. */
  async #openTrusted(count: number): Promise<void> {
    if (count === 0) return
    const options = { ...this.#options, readOnly: true, trustedNextOffset: this.#bases[count]! }
    const bases = this.#bases.slice(0, count)
    const found = await native.segmentsOpen(this.#directory, bases, options)
    for (const [i, { handle, nextOffset, validBytes }] of found.entries()) {
      const baseOffset = bases[i]!
      this.segments.push({
        handle,
        baseOffset,
        nextOffset,
        sizeBytes: validBytes,
        damaged: false,
      })
    }
  }

  #open(i: number, options: SegmentOptions): Promise<SegmentReport> {
    const base = this.#bases[i]!
    return native.segmentOpen(join(this.#directory, segmentName(base)), base, options)
  }

  /** Opens a segment that may be torn. Resolves with whether the log ends in it by a cut. */
  async #recover(i: number): Promise<boolean> {
    const nextBase = this.#bases[i + 1]
    const isNewest = nextBase === undefined
    if (!isNewest && this.#recoveryPoint === undefined) {
      this.#take(i, await this.#openOlder(i, nextBase))
      this.unsynced.push(this.#bases[i]!)
      return false
    }
    const recoverFrom = this.#recoveryPoint
    const recovery = {
      recover: !this.#clean,
      ...(recoverFrom === undefined ? {} : { recoverFrom }),
    }
    let found = await this.#open(i, { ...this.#options, ...recovery })
    const isSpoilt = found.damage !== Status.OK || found.nextOffset !== recoverFrom
    if (isNewest && this.#clean && recoverFrom !== undefined && isSpoilt) {
      // Not as it was closed: it is read, and what is sound behind damage is kept.
      await native.segmentClose(found.handle, false)
      found = await this.#open(i, { ...this.#options, recover: true, recoverFrom })
    }
    const cutBytes = this.#take(i, found)
    // Else a loss of power may bring back what was cut, behind what is written in its place.
    if (cutBytes > 0 && isNewest && found.damage !== Status.OK) {
      await native.segmentFlush(found.handle)
    }
    if (isNewest) return false
    // A reserved tail behind a whole segment is what a roll leaves, and no cut.
    if (cutBytes > 0 && found.nextOffset < nextBase) return true
    if (this.#isTorn(found.nextOffset, nextBase)) return true
    await native.segmentSeal(found.handle)
    return false
  }

  /**
   * Whether a segment ends early that was not on disk as a whole: a loss of power may take its end
   * exactly at a batch, or all of it, and leave what was written later.
   */
  #isTorn(nextOffset: number, nextBase: number): boolean {
    if (this.#clean || this.#isCompacted || this.#recoveryPoint === undefined) return false
    // What lies below the log's start was deleted, and is not missed.
    const reached = Math.max(nextOffset, this.#logStartOffset ?? 0)
    return reached < nextBase && reached >= this.#recoveryPoint
  }

  /** An older segment, of which nothing but a reserved tail behind a whole segment is cut. */
  async #openOlder(i: number, nextBase: number): Promise<SegmentReport> {
    const found = await this.#open(i, { ...this.#options, readOnly: true })
    const whole = found.damage === Status.OK && found.nextOffset === nextBase
    if (found.validBytes === found.fileBytes || !whole) return found
    await native.segmentClose(found.handle, false)
    const trimmed = await this.#open(i, { ...this.#options, recover: true })
    await native.segmentSeal(trimmed.handle)
    return { ...trimmed, fileBytes: found.fileBytes }
  }

  /** Notes what was found. Returns how many bytes were cut. */
  #take(i: number, found: SegmentReport): number {
    const baseOffset = this.#bases[i]!
    const { handle, nextOffset, validBytes, fileBytes } = found
    checked(native.segmentInfo(handle), this.#directory)
    const cutBytes = fileBytes - native.results[Result.FILE_BYTES]!
    const nextBase = this.#bases[i + 1]
    const isNewest = nextBase === undefined
    // What lies below the log's start was deleted, and is not missed.
    const reached = Math.max(nextOffset, this.#logStartOffset ?? 0)
    const isShort = !isNewest && reached < nextBase
    // Bytes that are no batch stand behind its end, and a gap.
    const isTorn = cutBytes === 0 && validBytes < fileBytes
    const damaged = isTorn && (found.damage !== Status.OK || isShort)
    this.segments.push({ handle, baseOffset, nextOffset, sizeBytes: validBytes, damaged })
    this.report.rebuiltIndexes += found.indexRebuilt ? 1 : 0
    if (isNewest || isShort) this.report.cutBytes += cutBytes
    if (found.damage !== Status.OK) this.#noteDamage(baseOffset, found, cutBytes)
    else if (isShort) this.report.damage ??= gapText(reached, nextBase, cutBytes)
    return cutBytes
  }

  #noteDamage(segment: number, found: SegmentReport, cutBytes: number): void {
    const position = found.damagePosition
    const offset = found.damageOffset
    const reason = statusError(found.damage, '', 0).code
    const text = `${segmentName(segment)}.log at byte ${position}: ${reason}`
    this.report.damage ??=
      cutBytes > 0 ? `${text}; cut ${cutBytes} bytes from there` : `${text}; left as it is`
    if (cutBytes === 0) this.report.damages.push({ segment, position, offset, reason })
  }

  /** Segments that the log does not reach any more. */
  async #remove(bases: readonly number[]): Promise<void> {
    // The newest first: whatever is left of an end in between is a log without a hole.
    for (const base of [...bases].reverse()) {
      const aside: string[] = []
      for (const ending of SEGMENT_ENDINGS) {
        const path = join(this.#directory, `${segmentName(base)}${ending}`)
        if (await renameIfThere(path, path + DELETED_ENDING)) aside.push(path + DELETED_ENDING)
      }
      for (const path of aside) await unlinkQuietly(path)
    }
    this.report.removedSegments.push(...bases)
  }
}
