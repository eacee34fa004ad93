/**
 * Verifies a log directory: its own files, every partition in it, and whether its checkpoints go
 * beyond the logs. Checkpoints are read first, so that a broker at work does not make them seem to.
 */
import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { OffsetCheckpoint } from '../storage/checkpoints.js'
import { isDeletedDirectory, parsePartitionDirectory } from '../storage/log-files.js'
import { type Findings, messageOf } from './verify-findings.js'
import { type VerifiedLog, verifyPartition } from './verify-partition.js'
import { isSmallFile, soundOffsets, verifySmallFile } from './verify-small-files.js'

const SET_ASIDE = /-(future|stray)$/

export interface VerifiedDirectory {
  /** By the name of the folder. */
  logs: Map<string, VerifiedLog>
  /** Names of those of its own files that are not sound. */
  faultyFiles: string[]
}

export async function verifyLogDirectory(
  directory: string,
  findings: Findings,
): Promise<VerifiedDirectory> {
  const faultyFiles: string[] = []
  const names = readdirSync(directory).sort()
  for (const name of names) {
    const path = join(directory, name)
    if (isSmallFile(path) && !(await verifySmallFile(path, findings))) faultyFiles.push(name)
  }
  const checkpoints = new Map<string, Awaited<ReturnType<typeof soundOffsets>>>()
  for (const name of Object.values(OffsetCheckpoint)) {
    checkpoints.set(name, await soundOffsets(join(directory, name)))
  }
  const logs = new Map<string, VerifiedLog>()
  for (const name of names) {
    const log = await verifyFolder(join(directory, name), name, findings)
    if (log !== undefined) logs.set(name, log)
    if (findings.closed) return { logs, faultyFiles }
  }
  for (const [name, offsets] of checkpoints) {
    const path = join(directory, name)
    for (const { topic, partition, offset } of offsets) {
      const { nextOffset } = logs.get(`${topic}-${partition}`)?.segments.at(-1) ?? {}
      if (nextOffset === undefined || offset <= nextOffset) continue
      const text = `${topic}-${partition} ends at ${nextOffset}, and the file says ${offset}`
      findings.add({ severity: 'note', kind: 'beyond-end', path, offset, text })
    }
  }
  return { logs, faultyFiles }
}

async function verifyFolder(
  path: string,
  name: string,
  findings: Findings,
): Promise<VerifiedLog | undefined> {
  try {
    if (!statSync(path).isDirectory()) return undefined
    if (isDeletedDirectory(name)) {
      findings.note(path, 'deleted', 'a partition that is being deleted; not verified')
      return undefined
    }
    if (parsePartitionDirectory(name) === undefined && !SET_ASIDE.test(name)) {
      findings.note(path, 'foreign', 'no partition; Kafka refuses to start with such a folder')
      return undefined
    }
    return await verifyPartition(path, findings)
  } catch (error) {
    findings.fault(path, 'unreadable', messageOf(error))
    return undefined
  }
}
