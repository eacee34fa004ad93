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
import { LogWalk } from './verify-log.js'
import { verifySmallFile } from './verify-small-files.js'
import { TimeIndexCheck } from './verify-time-index.js'

export interface SegmentFile {
  path: string
  baseOffset: number | undefined
  /** Of the segment behind it. */
  nextBaseOffset?: number | undefined
}

/** What became known of a log. Undefined offsets: there is no segment that could be read. */
export interface VerifiedLog {
  startOffset: number | undefined
  nextOffset: number | undefined
}

const SEGMENT_FILE = /^\d{20}\.(log|index|timeindex)$/

/** The names of the .log files of a folder, in the order of their offsets. */
export function segmentNames(names: readonly string[]): string[] {
  return names.filter((name) => /^\d{20}\.log$/.test(name)).sort()
}

export async function verifyPartition(directory: string, findings: Findings): Promise<VerifiedLog> {
  const names = readdirSync(directory).sort()
  const logs = segmentNames(names)
  const verified: VerifiedLog = { startOffset: undefined, nextOffset: undefined }
  for (const [i, name] of logs.entries()) {
    const path = join(directory, name)
    const baseOffset = segmentBaseOffset(name)
    const nextName = logs[i + 1]
    const nextBaseOffset = nextName === undefined ? undefined : segmentBaseOffset(nextName)
    if (baseOffset === undefined) {
      findings.fault(path, 'name', 'it begins above 2^53 - 1')
      continue
    }
    verified.startOffset ??= baseOffset
    const nextOffset = await verifySegment({ path, baseOffset, nextBaseOffset }, findings)
    if (nextOffset !== undefined) verified.nextOffset = nextOffset
    if (findings.closed) return verified
  }
  for (const name of names) {
    if (logs.includes(name)) continue
    await verifyOther(join(directory, name), findings)
    await findings.settle()
  }
  return verified
}

/** A file of the folder that is no .log. */
async function verifyOther(path: string, findings: Findings): Promise<void> {
  const name = basename(path)
  if (SEGMENT_FILE.test(name)) {
    if (!existsSync(logOf(path))) findings.note(path, 'orphan', 'an index without its .log')
  } else if (/\.(deleted|cleaned|swap)$/.test(name)) {
    findings.note(path, 'left-over', 'a file that is no part of the log; not verified')
  } else {
    await verifySmallFile(path, findings)
  }
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

/** Returns one above the last offset, or undefined where the file cannot be read. */
export async function verifySegment(
  segment: SegmentFile,
  findings: Findings,
): Promise<number | undefined> {
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

  constructor(segment: SegmentFile, files: SegmentWindows, findings: Findings) {
    this.#segment = segment
    this.#files = files
    this.#findings = findings
    this.#walk = new LogWalk(files.log, segment)
    const { timeIndex } = files
    this.#times = timeIndex && new TimeIndexCheck(timeIndex, segment.baseOffset ?? 0)
  }

  async run(): Promise<number> {
    const { log, index } = this.#files
    await this.#log()
    const { endPosition, nextOffset, damaged } = this.#walk
    const isTorn = (damaged.at(-1)?.to ?? -1) > endPosition
    this.#times?.onEnd(isTorn)
    this.#timeFaults()
    if (index !== undefined) {
      const { baseOffset = 0 } = this.#segment
      // Of lost batches at the end an entry may still tell.
      const known = isTorn ? Infinity : nextOffset
      const facts = { baseOffset, endPosition, nextOffset: known, damaged }
      for (const fault of checkOffsetIndex(index, log, facts)) {
        this.#indexFault(index.path, fault)
        await this.#findings.settle()
      }
    }
    this.#gap(nextOffset)
    return nextOffset
  }

  async #log(): Promise<void> {
    const { path } = this.#segment
    const findings = this.#findings
    for (const event of this.#walk.events()) {
      if (event.type === 'batch') {
        findings.batches++
        findings.records += event.header.count
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
