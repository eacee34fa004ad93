/**
 * Verifies the small files beside the logs: checkpoints, meta.properties, partition.metadata. Each
 * is read by the code that the broker reads it with, so that what is sound here is sound there.
 */
import { statSync } from 'node:fs'
import { basename, dirname } from 'node:path'
import {
  leaderEpochCheckpoint,
  OffsetCheckpoint,
  type PartitionOffset,
  readEpochs,
  readOffsets,
} from '../storage/checkpoints.js'
import { readMetaProperties, readTopicId } from '../storage/meta-files.js'
import { type Findings, messageOf } from './verify-findings.js'

type Check = (path: string, fault: (text: string) => void) => Promise<unknown>

const checks = new Map<string, Check>([
  ...Object.values(OffsetCheckpoint).map((name) => [name, readOffsets] as const),
  [leaderEpochCheckpoint, readEpochs],
  ['meta.properties', (path) => readMetaProperties(dirname(path))],
  ['partition.metadata', (path) => readTopicId(dirname(path))],
])

/** Whether `verifySmallFile` knows what such a file holds. */
export function isSmallFile(path: string): boolean {
  return checks.has(basename(path))
}

/** Whether what the file holds is derived anew from the logs where it lacks. */
export function isDerived(path: string): boolean {
  return basename(path).endsWith('-checkpoint')
}

/** Verifies the file, unless it is of a kind that is not known. Returns whether it is sound. */
export async function verifySmallFile(path: string, findings: Findings): Promise<boolean> {
  const check = checks.get(basename(path))
  if (check === undefined) return true
  findings.files++
  let isSound = true
  const fault = (text: string) => {
    isSound = false
    findings.fault(path, 'content', text)
  }
  try {
    // Reading a FIFO would wait for a writer.
    if (statSync(path).isFile()) await check(path, fault)
    else fault('not a regular file')
  } catch (error) {
    fault(messageOf(error))
  }
  return isSound
}

/** A checkpoint of offsets that was found sound; empty where there is none. */
export async function soundOffsets(path: string): Promise<PartitionOffset[]> {
  try {
    if (!statSync(path).isFile()) return []
    return (await readOffsets(path, () => {})) ?? []
  } catch {
    return []
  }
}
