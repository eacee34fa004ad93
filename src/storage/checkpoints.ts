/**
 * Kafka's checkpoint files. All are text: a line with the version 0, a line with the number of
 * entries, then one entry a line.
 *
 *   recovery-point-offset-checkpoint, replication-offset-checkpoint (the high watermarks),
 *   log-start-offset-checkpoint, cleaner-offset-checkpoint, one each per log directory: `topic
 *     partition offset`
 *   leader-epoch-checkpoint, one per partition: `epoch startOffset`, both strictly rising
 *
 * What they hold can be derived anew from the logs. So a missing file reads as undefined, and one
 * that is damaged in any way reads as undefined too, with one line to `warn`; it is never believed
 * in part and never fatal. The caller lets no two writes of one file overlap.
 */
import assert from 'node:assert/strict'
import { readSmall, writeAtomically } from '../atomic-file.js'
import { SeglogError } from '../errors.js'

/** Names of the files with an offset per partition, in each log directory. */
export const OffsetCheckpoint = {
  RECOVERY_POINT: 'recovery-point-offset-checkpoint',
  HIGH_WATERMARK: 'replication-offset-checkpoint',
  LOG_START: 'log-start-offset-checkpoint',
  CLEANER: 'cleaner-offset-checkpoint',
} as const

/** The name of the file with the leader epochs, in each partition's directory. */
export const leaderEpochCheckpoint = 'leader-epoch-checkpoint'

export interface PartitionOffset {
  topic: string
  partition: number
  /** 0 to 2^53-1. */
  offset: number
}

export interface EpochStart {
  /** Leader epoch, 0 to 2^31-1. */
  epoch: number
  /** The first offset of that epoch, 0 to 2^53-1. */
  startOffset: number
}

/** Takes one line for people; called at most once per read. */
export type Warn = (line: string) => void

/** Reads a file of `OffsetCheckpoint`. Errors: IO, TOO_MANY_FILES, TOO_LARGE. */
export function readOffsets(path: string, warn: Warn): Promise<PartitionOffset[] | undefined> {
  return readEntries(path, warn, (line) => {
    const [, topic, partition, offset] = /^(\S+) +(\d+) +(\d+)$/.exec(line) ?? []
    const entry = { topic: topic ?? '', partition: Number(partition), offset: Number(offset) }
    return isInt32(entry.partition) && Number.isSafeInteger(entry.offset) ? entry : undefined
  })
}

/** Replaces a file of `OffsetCheckpoint` durably. Errors: NO_SPACE, TOO_MANY_FILES, IO. */
export function writeOffsets(path: string, entries: readonly PartitionOffset[]): Promise<void> {
  const lines = entries.map(({ topic, partition, offset }) => {
    assert(/^\S+$/.test(topic) && isInt32(partition) && isOffset(offset))
    return `${topic} ${partition} ${offset}`
  })
  return writeEntries(path, lines)
}

/**
 * Reads a leader epoch checkpoint; one that does not rise is damaged. Errors: IO, TOO_MANY_FILES,
 * TOO_LARGE.
 */
export async function readEpochs(path: string, warn: Warn): Promise<EpochStart[] | undefined> {
  let last: EpochStart = { epoch: -1, startOffset: -1 }
  return readEntries(path, warn, (line) => {
    const [, epoch, startOffset] = /^(\d+) +(\d+)$/.exec(line) ?? []
    const entry = { epoch: Number(epoch), startOffset: Number(startOffset) }
    const sound = isInt32(entry.epoch) && Number.isSafeInteger(entry.startOffset)
    if (!sound || !rises(last, entry)) return undefined
    last = entry
    return entry
  })
}

/** Replaces a leader epoch checkpoint durably. Errors: NO_SPACE, TOO_MANY_FILES, IO. */
export function writeEpochs(path: string, entries: readonly EpochStart[]): Promise<void> {
  let last: EpochStart = { epoch: -1, startOffset: -1 }
  const lines = entries.map((entry) => {
    assert(isInt32(entry.epoch) && isOffset(entry.startOffset) && rises(last, entry))
    last = entry
    return `${entry.epoch} ${entry.startOffset}`
  })
  return writeEntries(path, lines)
}

const isInt32 = (value: number) => Number.isInteger(value) && value >= 0 && value <= 2147483647
const isOffset = (value: number) => Number.isSafeInteger(value) && value >= 0
const rises = (last: EpochStart, next: EpochStart) =>
  next.epoch > last.epoch && next.startOffset > last.startOffset

function writeEntries(path: string, lines: string[]): Promise<void> {
  return writeAtomically(path, ['0', String(lines.length), ...lines, ''].join('\n'))
}

async function readEntries<T>(
  path: string,
  warn: Warn,
  parse: (line: string) => T | undefined,
): Promise<T[] | undefined> {
  const damaged = (why: string) => {
    warn(`${path} is damaged (${why}) and is left aside; its content is derived from the logs`)
    return undefined
  }
  let bytes: Buffer | undefined
  try {
    bytes = await readSmall(path)
  } catch (error) {
    if (error instanceof SeglogError && error.code === 'TOO_LARGE') return damaged('too large')
    throw error
  }
  if (bytes === undefined) return undefined
  const [version, count, ...lines] = bytes.toString('utf8').split('\n')
  if (version !== '0') return damaged('version 0 expected')
  // The last line ends in a line break too, so that the end of a cut entry is not taken for a
  // smaller number.
  if (lines.pop() !== '') return damaged('cut short')
  if (count !== String(lines.length)) return damaged(`${lines.length} entries, not ${count}`)
  const entries: T[] = []
  for (const [index, line] of lines.entries()) {
    const entry = parse(line)
    if (entry === undefined) return damaged(`line ${index + 3}`)
    entries.push(entry)
  }
  return entries
}
