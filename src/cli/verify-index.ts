/**
 * Checks each entry of an .index (8 bytes: offset less the base offset, position in the log) by
 * itself against the log, then against the sound one before it: so a wrong entry is named, and not
 * those around it.
 *
 * An entry is sound where a lookup that starts from it misses nothing: it points at a batch that
 * begins at or below its offset, and its offset lies before the batch of the next entry. Kafka's
 * versions write the first or the last offset of a batch or of several that were appended at once.
 * Where the log itself is damaged nothing is said of its entries.
 */
import { HEADER_BYTES, MAGIC } from '../records/index.js'
import type { FileWindow } from './file-window.js'
import { headerAt } from './verify-batch.js'
import { EntryReader, type IndexFault, type IndexFaultKind } from './verify-entries.js'
import type { ByteRange } from './verify-log.js'

const ENTRY_BYTES = 8

/** What the walk over the log found. */
export interface LogFacts {
  baseOffset: number
  /** Behind the last sound batch. */
  endPosition: number
  nextOffset: number
  losses: readonly ByteRange[]
}

/** Whether the damage holds this byte of the log. Ranges come in order. */
export function isDamaged(ranges: readonly ByteRange[], position: number): boolean {
  let low = 0
  let high = ranges.length
  while (low < high) {
    const middle = (low + high) >> 1
    const range = ranges[middle]
    if (range !== undefined && range.to <= position) low = middle + 1
    else high = middle
  }
  const range = ranges[low]
  return range !== undefined && range.from <= position
}

interface Entry {
  position: number
  offset: number
  logPosition: number
}

export function* checkOffsetIndex(
  file: FileWindow,
  log: FileWindow,
  facts: LogFacts,
): Generator<IndexFault, void, undefined> {
  const entries = new EntryReader(file, ENTRY_BYTES)
  let last: Entry | undefined
  for (let bytes = entries.next(); bytes !== undefined; bytes = entries.next()) {
    const position = entries.position - ENTRY_BYTES
    const offset = facts.baseOffset + bytes.readInt32BE(0)
    const entry = { position, offset, logPosition: bytes.readInt32BE(4) }
    if (!isDamaged(facts.losses, entry.logPosition)) {
      const fault = entryFault(entry, last, log, facts)
      if (fault !== undefined) entries.fault(fault)
      if (fault?.position !== position) last = entry
    }
    yield* entries.takeFaults()
  }
  yield* entries.takeFaults()
}

function entryFault(
  entry: Entry,
  last: Entry | undefined,
  log: FileWindow,
  facts: LogFacts,
): IndexFault | undefined {
  const { position, offset, logPosition } = entry
  const fault = (kind: IndexFaultKind, text: string) => ({ kind, position, offset, text })
  if (logPosition < 0 || logPosition >= facts.endPosition) {
    return fault('index-past-end', `it points at byte ${logPosition}, where the log has no batch`)
  }
  if (offset < facts.baseOffset || offset >= facts.nextOffset) {
    return fault('index-past-end', `offset ${offset} is not in the log`)
  }
  const header = headerAt(log, logPosition)
  if (header instanceof Error || logPosition + HEADER_BYTES > log.sizeBytes) {
    return fault('index-no-batch', `no batch begins at byte ${logPosition} of the log`)
  }
  const isOurs = header.baseOffset >= facts.baseOffset && header.lastOffset < facts.nextOffset
  if (!isOurs) return fault('index-no-batch', `no batch begins at byte ${logPosition} of the log`)
  // A compressed message of magic 0 or 1 does not tell its first offset.
  if (header.baseOffset > offset && header.magic >= MAGIC) {
    const text = `the batch at byte ${logPosition} of the log begins at ${header.baseOffset}`
    return fault('index-wrong-batch', text)
  }
  if (last === undefined) return undefined
  if (logPosition > last.logPosition && last.offset >= header.baseOffset && header.magic >= MAGIC) {
    const text = `the entry at byte ${position} shows that offset ${last.offset} lies further on`
    return { ...fault('index-wrong-batch', text), position: last.position, offset: last.offset }
  }
  if (offset <= last.offset || logPosition <= last.logPosition) {
    return fault('index-order', 'it does not rise above the entry before')
  }
  return undefined
}
