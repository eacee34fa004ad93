/** What a path is: the directory of a partition, a log directory, or something else. */
import { readdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { OffsetCheckpoint } from '../storage/checkpoints.js'
import { parsePartitionDirectory } from '../storage/log-files.js'
import { segmentNames } from './verify-partition.js'

const logDirectoryFiles = new Set<string>(['meta.properties', ...Object.values(OffsetCheckpoint)])

/** Names of what is in a directory; none where it cannot be read. */
function namesIn(path: string): string[] {
  try {
    return readdirSync(path)
  } catch {
    return []
  }
}

/** Whether there is a .log file in it. */
export function isPartition(path: string): boolean {
  return segmentNames(namesIn(path)).length > 0
}

/** Whether there are files of a broker in it, or partitions. */
export function isLogDirectory(path: string): boolean {
  return namesIn(path).some(
    (name) =>
      logDirectoryFiles.has(name) ||
      (parsePartitionDirectory(name) !== undefined && isPartition(join(path, name))),
  )
}

/** The outermost folder, from the path itself upwards, in which a broker has left its files. */
export function outermostBrokerDirectory(path: string): string | undefined {
  let found: string | undefined
  for (let folder = path; ; folder = dirname(folder)) {
    if (namesIn(folder).some((name) => logDirectoryFiles.has(name))) found = folder
    if (folder === dirname(folder)) return found
  }
}
