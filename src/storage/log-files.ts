/**
 * Names in a log directory, as Apache Kafka has them: `<topic>-<partition>` folders and `%020d.log`
 * files with their indexes beside them. Pure; no file is touched here.
 */

/** The log of one partition of one topic. */
export interface TopicPartition {
  topic: string
  partition: number
}

const SEGMENT = /^(\d{20})\.log$/
const SNAPSHOT = /^(\d{20})\.snapshot$/
const PARTITION = /^(.+)-(\d{1,10})$/
const FILE_NAME_MAX = 255
const DELETED = /-\d{1,10}\.[0-9a-f]{32}-delete$/
/** Folders that Kafka sets aside; they belong to no partition that is served. */
const SET_ASIDE = /-(delete|future|stray)$/

/** The files of one segment: the log, its indexes and the producers below its base offset. */
export const SEGMENT_ENDINGS = ['.log', '.index', '.timeindex', '.snapshot'] as const
/** Behind the name of a file that waits to be unlinked. */
export const DELETED_ENDING = '.deleted'

/** `%020d` of the offset: file names sort as their offsets do. */
export function segmentName(baseOffset: number): string {
  return String(baseOffset).padStart(20, '0')
}

/** The base offset in the name of a .log file, or undefined for any other file. */
export function segmentBaseOffset(fileName: string): number | undefined {
  return offsetIn(SEGMENT, fileName)
}

/** The offset in the name of a .snapshot file, or undefined for any other file. */
export function snapshotOffset(fileName: string): number | undefined {
  return offsetIn(SNAPSHOT, fileName)
}

function offsetIn(pattern: RegExp, fileName: string): number | undefined {
  const digits = pattern.exec(fileName)?.[1]
  if (digits === undefined) return undefined
  const offset = Number(digits)
  return Number.isSafeInteger(offset) ? offset : undefined
}

export function partitionDirectory({ topic, partition }: TopicPartition): string {
  return `${topic}-${partition}`
}

/**
 * Where a partition that is being deleted waits for it: `<topic>-<partition>.<unique>-delete`. The
 * topic is cut where the whole would be longer than a file name may be, as Kafka does it.
 */
export function deletedDirectory({ topic, partition }: TopicPartition, unique: string): string {
  const suffix = `-${partition}.${unique}-delete`
  return topic.slice(0, FILE_NAME_MAX - suffix.length) + suffix
}

export function isDeletedDirectory(name: string): boolean {
  return DELETED.test(name)
}

/** The partition that a folder holds, or undefined for a folder that is set aside or foreign. */
export function parsePartitionDirectory(name: string): TopicPartition | undefined {
  if (SET_ASIDE.test(name)) return undefined
  const match = PARTITION.exec(name)
  if (!match?.[1] || !match[2]) return undefined
  const partition = Number(match[2])
  if (partition > 0x7fffffff || String(partition) !== match[2]) return undefined
  return { topic: match[1], partition }
}

/** Where there is a gap, compaction made it, or a file is gone, or an end of it. */
export function gapText(nextOffset: number, nextBase: number, cutBytes: number): string {
  const before = `before ${segmentName(nextBase)}.log`
  const lost = `offsets ${nextOffset} to ${nextBase - 1} are missing ${before}`
  return cutBytes > 0 ? `${lost}; cut there` : `${lost}, unless it was compacted`
}
