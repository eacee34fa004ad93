/**
 * Verifies the files of one log: each segment with its indexes, and how the segments follow each
 * other. Only reads. An index is opened before its log, so that of a log that grows meanwhile no
 * entry is seen whose batch is not.
 */
import { existsSync, readdirSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { segmentBaseOffset } from '../storage/log-files.js'
import { FileWindow } from './file-window.js'
import type { IndexFault } from './verify-entries.js'
import { type Findings, messageOf } from './verify-findings.js'
import { checkOffsetIndex } from './verify-index.js'
import { LogWalk, type Loss } from './verify-log.js'
import { verifySmallFile } from './verify-small-files.js'
import { TimeIndexCheck } from './verify-time-index.js'

export interface SegmentFile {
  path: string
  baseOffset: number | undefined
  /** Of the segment behind it. */
  nextBaseOffset?: number | undefined
}

/** What became known of a segment. */
export interface VerifiedSegment extends SegmentFile {
  /** Behind the last sound batch. */
  endPosition: number
  /** One above the last offset of a sound batch. */
  nextOffset: number
  losses: readonly Loss[]
  /** Whether all of the .log was read. */
  isComplete: boolean
  /** Whether damage follows the last sound batch. */
  isTorn: boolean
  /** An index lacks, or has faults. */
  needsIndexes: boolean
}

/** What became known of a log. */
export interface VerifiedLog {
  /** Those that could be read, in the order of their offsets. */
  segments: (VerifiedSegment & { baseOffset: number })[]
  /** Other files that are not sound. */
  faultyFiles: string[]
}

const SEGMENT_FILE = /^\d{20}\.(log|index|timeindex)$/

/** The names of the .log files of a folder, in the order of their offsets. */
export function segmentNames(names: readonly string[]): string[] {
  return names.filter((name) => /^\d{20}\.log$/.test(name)).sort()
}

export async function verifyPartition(directory: string, findings: Findings): Promise<VerifiedLog> {
  const names = readdirSync(directory).sort()
  const logs = segmentNames(names)
  const verified: VerifiedLog = { segments: [], faultyFiles: [] }
  for (const [i, name] of logs.entries()) {
    const path = join(directory, name)
    const baseOffset = segmentBaseOffset(name)
    const nextName = logs[i + 1]
    const nextBaseOffset = nextName === undefined ? undefined : segmentBaseOffset(nextName)
    if (baseOffset === undefined) {
      findings.fault(path, 'name', 'it begins above 2^53 - 1')
      continue
    }
    const segment = await verifySegment({ path, baseOffset, nextBaseOffset }, findings)
    if (segment !== undefined) verified.segments.push({ ...segment, baseOffset })
    if (findings.closed) return verified
  }
  for (const name of names) {
    if (logs.includes(name)) continue
    const path = join(directory, name)
    if (!(await verifyOther(path, findings))) verified.faultyFiles.push(path)
    await findings.settle()
  }
  return verified
}

/** A file of the folder that is no .log. Returns whether it is sound by itself. */
async function verifyOther(path: string, findings: Findings): Promise<boolean> {
  const name = basename(path)
  if (SEGMENT_FILE.test(name)) {
    if (!existsSync(logOf(path))) findings.note(path, 'orphan', 'an index without its .log')
  } else if (/\.(deleted|cleaned|swap)$/.test(name)) {
    findings.note(path, 'left-over', 'a file that is no part of the log; not verified')
  } else {
    return verifySmallFile(path, findings)
  }
  return true
}

function logOf(path: string): string {
  return join(dirname(path), `${basename(path).slice(0, 20)}.log`)
}

/** Opens what is there; what cannot be read is a fault, what is missing is left to the caller. */
function openFile(path: string, findings: Findings, windowBytes?: number): FileWindow | undefined {
  try {
    const file = new FileWindow(path, windowBytes)
    findings.files++
    return file
  } catch (error) {
    findings.fault(path, 'unreadable', messageOf(error))
    return undefined
  }
}

const INDEX_WINDOW_BYTES = 64 * 1024

/** An index beside a log; where it is missing, a note says so. */
function openIndex(logPath: string, suffix: string, findings: Findings): FileWindow | undefined {
  const path = logPath.replace(/\.log$/, suffix)
  if (path === logPath) return undefined
  if (existsSync(path)) return openFile(path, findings, INDEX_WINDOW_BYTES)
  findings.note(path, 'missing', 'no such file; it is made anew when the log is opened')
  return undefined
}

/** Returns undefined where the .log cannot be read. */
export async function verifySegment(
  segment: SegmentFile,
  findings: Findings,
): Promise<VerifiedSegment | undefined> {
  const isNamed = segment.baseOffset !== undefined
  const index = isNamed ? openIndex(segment.path, '.index', findings) : undefined
  const timeIndex = isNamed ? openIndex(segment.path, '.timeindex', findings) : undefined
  const log = openFile(segment.path, findings)
  try {
    if (log === undefined) return undefined
    return await new SegmentCheck(segment, { log, index, timeIndex }, findings).run()
  } catch (error) {
    findings.fault(segment.path, 'unreadable', messageOf(error))
    return undefined
  } finally {
    for (const file of [index, timeIndex, log]) file?.close()
  }
}

interface SegmentWindows {
  log: FileWindow
  index: FileWindow | undefined
  timeIndex: FileWindow | undefined
}

class SegmentCheck {
  readonly #segment: SegmentFile
  readonly #files: SegmentWindows
  readonly #findings: Findings
  readonly #walk: LogWalk
  readonly #times: TimeIndexCheck | undefined
  #indexFaults = 0

  constructor(segment: SegmentFile, files: SegmentWindows, findings: Findings) {
    this.#segment = segment
    this.#files = files
    this.#findings = findings
    this.#walk = new LogWalk(files.log, segment)
    const { timeIndex } = files
    this.#times = timeIndex && new TimeIndexCheck(timeIndex, segment.baseOffset ?? 0)
  }

  async run(): Promise<VerifiedSegment> {
    const { log, index, timeIndex } = this.#files
    await this.#log()
    const { endPosition, nextOffset, losses, isTorn, isComplete } = this.#walk
    this.#times?.onEnd(isTorn || !isComplete)
    this.#timeFaults()
    if (index !== undefined) {
      const { baseOffset = 0 } = this.#segment
      // Of lost batches at the end an entry may still tell.
      const known = isTorn || !isComplete ? Infinity : nextOffset
      const facts = { baseOffset, endPosition, nextOffset: known, losses }
      for (const fault of checkOffsetIndex(index, log, facts)) {
        this.#indexFault(index.path, fault)
        await this.#findings.settle()
      }
    }
    this.#gap(nextOffset)
    const needsIndexes = this.#indexFaults > 0 || index === undefined || timeIndex === undefined
    return {
      ...this.#segment,
      ...{ endPosition, nextOffset, losses, isComplete, isTorn, needsIndexes },
    }
  }

  async #log(): Promise<void> {
    const { path } = this.#segment
    const findings = this.#findings
    for (const event of this.#walk.events()) {
      if (event.type === 'batch') {
        findings.batches++
        findings.records += event.records
        this.#times?.onBatch(event.header)
        this.#timeFaults()
      } else if (event.type === 'fault') {
        const { kind, range, offset, text } = event
        const place = { position: range.from, endPosition: range.to, offset }
        findings.add({ severity: 'fault', kind, path, ...place, text })
        this.#times?.onDamage()
      } else {
        const { kind, position, text } = event
        findings.add({ severity: 'note', kind, path, position, text })
      }
      await findings.settle()
      if (findings.closed) return
    }
  }

  #timeFaults(): void {
    const path = this.#files.timeIndex?.path
    if (path === undefined || this.#times === undefined) return
    for (const fault of this.#times.takeFaults()) this.#indexFault(path, fault)
  }

  #indexFault(path: string, fault: IndexFault): void {
    this.#indexFaults++
    this.#findings.add({ severity: 'fault', path, ...fault })
  }

  #gap(nextOffset: number): void {
    const { path, nextBaseOffset } = this.#segment
    if (nextBaseOffset === undefined || nextOffset >= nextBaseOffset) return
    const range = `offsets ${nextOffset} to ${nextBaseOffset - 1}`
    const text = `${range} lack before the next segment; compaction leaves gaps, and so does damage`
    this.#findings.add({ severity: 'note', kind: 'gap', path, offset: nextOffset, text })
  }
}
