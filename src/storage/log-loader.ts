/**
 * Opens the segments of one folder when its log starts, and brings them into a state that can be
 * appended to.
 *
 * The newest segment is scanned and cut behind its last valid batch unless the last stop was clean.
 * An older one is trusted, except that a process which dies between a roll and the end of its seal
 * leaves a reserved tail of zeros: that is trimmed. Damage in an older segment stays on disk as it
 * is, an error for those who read it.
 */
import { mkdir, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { SeglogError } from '../errors.js'
import {
  checked,
  native,
  type SegmentOptions,
  type SegmentReport,
  Status,
  statusError,
} from '../native.js'
import { segmentBaseOffset, segmentName } from './log-files.js'
import type { LogReport } from './log-options.js'
import { emptySegment, type SegmentEntry } from './segments.js'

/** The name of a segment; whether its offset is a safe number, `segmentBaseOffset` says. */
const UNCOUNTABLE = /^\d{20}\.log$/

/** The first segment of a log. Errors: NO_SPACE, TOO_MANY_FILES, IO. */
export function createSegment(
  directory: string,
  baseOffset: number,
  options: SegmentOptions,
): SegmentEntry {
  const path = join(directory, segmentName(baseOffset))
  return emptySegment(checked(native.segmentCreate(path, baseOffset, options), path), baseOffset)
}

export async function openSegments(
  directory: string,
  options: SegmentOptions,
  clean: boolean,
): Promise<{ segments: SegmentEntry[]; report: LogReport }> {
  await mkdir(directory, { recursive: true })
  const bases = await baseOffsets(directory)
  const report: LogReport = {
    segments: bases.length,
    cutBytes: 0,
    rebuiltIndexes: 0,
    damage: undefined,
    damages: [],
    removedSegments: [],
  }
  const segments: SegmentEntry[] = []
  try {
    for (const [i, base] of bases.entries()) {
      const found = await openSegment(directory, base, bases[i + 1], options, clean)
      const cut = i === bases.length - 1 ? found.fileBytes - found.validBytes : 0
      report.cutBytes += cut
      if (found.damage !== Status.OK) report.damage ??= damageText(base, found, cut)
      else report.damage ??= gapText(found.nextOffset, bases[i + 1])
      report.rebuiltIndexes += found.indexRebuilt ? 1 : 0
      const { handle, nextOffset, validBytes } = found
      const torn = isTorn(found, bases[i + 1])
      const damaged = (found.damage !== Status.OK && cut === 0) || torn
      segments.push({ handle, baseOffset: base, nextOffset, sizeBytes: validBytes, damaged })
    }
  } catch (error) {
    await letGo(segments)
    throw error
  }
  return { segments, report }
}

/**
 * Of every .log file, in their order. A name beyond what can be counted is refused, not overlooked.
 */
async function baseOffsets(directory: string): Promise<number[]> {
  const bases: number[] = []
  for (const name of await readdir(directory)) {
    const base = segmentBaseOffset(name)
    if (base !== undefined) bases.push(base)
    else if (UNCOUNTABLE.test(name)) {
      throw new SeglogError('OFFSET_TOO_LARGE', `${join(directory, name)} begins above 2^53 - 1`)
    }
  }
  return bases.sort((a, b) => a - b)
}

/** Closes segments of a log that does not come to be. */
export async function letGo(segments: readonly SegmentEntry[]): Promise<void> {
  await Promise.allSettled(segments.map(({ handle }) => native.segmentClose(handle, false)))
}

async function openSegment(
  directory: string,
  base: number,
  nextBase: number | undefined,
  options: SegmentOptions,
  clean: boolean,
): Promise<SegmentReport> {
  const path = join(directory, segmentName(base))
  if (nextBase === undefined) {
    return native.segmentOpen(path, base, { ...options, recover: !clean })
  }
  const found = await native.segmentOpen(path, base, { ...options, readOnly: true })
  // Only what a roll left behind is trimmed: a whole segment and a reserved tail.
  const whole = found.damage === Status.OK && found.nextOffset === nextBase
  if (found.validBytes === found.fileBytes || !whole) return found
  await native.segmentClose(found.handle, false)
  const trimmed = await native.segmentOpen(path, base, { ...options, recover: true })
  await native.segmentSeal(trimmed.handle)
  return { ...trimmed, fileBytes: found.fileBytes }
}

function damageText(base: number, { damage, validBytes }: SegmentReport, cutBytes: number): string {
  const found = statusError(damage, `${segmentName(base)}.log at byte ${validBytes}`, 0).message
  return cutBytes > 0 ? `${found}; cut ${cutBytes} bytes from there` : `${found}; left as it is`
}

/** Whether an older segment lost its end: there are bytes behind its last batch, and a gap. */
function isTorn({ validBytes, fileBytes, nextOffset }: SegmentReport, nextBase?: number): boolean {
  return nextBase !== undefined && nextOffset < nextBase && validBytes < fileBytes
}

/** Nobody appends across a gap: where there is one, compaction made it, or a file is gone. */
function gapText(nextOffset: number, nextBase: number | undefined): string | undefined {
  if (nextBase === undefined || nextOffset >= nextBase) return undefined
  const before = `before ${segmentName(nextBase)}.log`
  return `offsets ${nextOffset} to ${nextBase - 1} are missing ${before}, unless it was compacted`
}
