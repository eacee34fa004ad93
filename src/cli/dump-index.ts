/**
 * Walks an .index (entries of 8 bytes: offset less the base offset, position in the log) or a
 * .timeindex (12 bytes: timestamp, offset less the base offset) up to the first damage.
 *
 * Entries must rise. Where the .log lies beside, an entry of the .index must also point at a batch
 * that begins at or below its offset. Zeros to the end are space reserved for entries.
 */
import { existsSync } from 'node:fs'
import { SeglogError } from '../errors.js'
import { HEADER_BYTES, parseBatchHeader } from '../records/index.js'
import type { Report } from './dump-report.js'
import { reportZeros } from './dump-zeros.js'
import { FileWindow } from './file-window.js'
import { counted, type Output } from './output.js'

const OFFSET_ENTRY_BYTES = 8
const TIME_ENTRY_BYTES = 12
/** Enough for one header: entries lie far apart in the log. */
const LOG_WINDOW_BYTES = 64

/** Reports one entry and returns what is wrong with it, or undefined. */
type EntryCheck = (bytes: Buffer, report: Report) => string | undefined

/** The first entry may be of zeros; what follows it rises. */
function isTail(file: FileWindow, position: number): boolean {
  return position > 0 || file.firstNonZero(position) < 0
}

async function walk(
  file: FileWindow,
  entryBytes: number,
  check: EntryCheck,
  report: Report,
  output: Output,
): Promise<boolean> {
  for (let position = 0; position < file.sizeBytes && !output.closed; position += entryBytes) {
    const bytes = file.view(position, entryBytes)
    if (bytes.every((byte) => byte === 0) && isTail(file, position)) {
      return reportZeros(file, position, 'entries', report)
    }
    if (bytes.length < entryBytes) {
      report.damage(
        'torn-tail',
        position,
        `the file ends after ${counted(bytes.length, 'byte')} of an entry`,
      )
      return true
    }
    // The window may have moved, so the bytes are looked up again.
    const problem = check(file.view(position, entryBytes), report)
    if (problem !== undefined) {
      report.damage('corrupt', position, problem)
      return true
    }
    if (output.full) await output.flush()
  }
  return false
}

/** What is wrong with an entry that points at `position` of the log, or undefined. */
function pointsAtBatch(log: FileWindow, offset: number, position: number): string | undefined {
  try {
    const header = parseBatchHeader(log.view(position, HEADER_BYTES), 0, position)
    if (header.baseOffset <= offset) return undefined
    return `offset ${offset}, but the batch it points at begins at ${header.baseOffset}`
  } catch (error) {
    if (!(error instanceof SeglogError)) throw error
    return `position ${position} of the log is no batch: ${error.message}`
  }
}

/** Returns whether damage was found. */
export async function dumpOffsetIndex(
  file: FileWindow,
  baseOffset: number,
  report: Report,
  output: Output,
): Promise<boolean> {
  const logPath = file.path.replace(/\.index$/, '.log')
  const log = logPath !== file.path && existsSync(logPath)
  const logFile = log ? new FileWindow(logPath, LOG_WINDOW_BYTES) : undefined
  let lastOffset = -1
  let lastPosition = -1
  try {
    const check: EntryCheck = (bytes) => {
      const relative = bytes.readInt32BE(0)
      const position = bytes.readInt32BE(4)
      const offset = baseOffset + relative
      report.entry({ offset, position })
      if (relative < 0 || position < 0) return 'a number below 0'
      if (offset <= lastOffset || position <= lastPosition) return 'an entry that does not rise'
      lastOffset = offset
      lastPosition = position
      return logFile === undefined ? undefined : pointsAtBatch(logFile, offset, position)
    }
    return await walk(file, OFFSET_ENTRY_BYTES, check, report, output)
  } finally {
    logFile?.close()
  }
}

/** Returns whether damage was found. */
export function dumpTimeIndex(
  file: FileWindow,
  baseOffset: number,
  report: Report,
  output: Output,
): Promise<boolean> {
  let lastTimestamp = -1
  let lastOffset = -1
  const check: EntryCheck = (bytes) => {
    const timestamp = bytes.readInt32BE(0) * 2 ** 32 + bytes.readUInt32BE(4)
    const relative = bytes.readInt32BE(8)
    const offset = baseOffset + relative
    report.entry({ timestamp, offset })
    if (relative < 0) return 'an offset below the base offset'
    if (!Number.isSafeInteger(timestamp)) return 'a timestamp beyond 2^53 - 1'
    if (timestamp < lastTimestamp || offset < lastOffset) return 'an entry that does not rise'
    lastTimestamp = timestamp
    lastOffset = offset
    return undefined
  }
  return walk(file, TIME_ENTRY_BYTES, check, report, output)
}
