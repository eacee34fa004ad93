/** Verifies the small files beside the logs: see small-files.ts. */
import { statSync } from 'node:fs'
import { type PartitionOffset, readOffsets } from '../storage/checkpoints.js'
import { isSmallFile, readEntries } from './small-files.js'
import { type Findings, messageOf } from './verify-findings.js'

/** Verifies the file, unless it is of a kind that is not known. Returns whether it is sound. */
export async function verifySmallFile(path: string, findings: Findings): Promise<boolean> {
  if (!isSmallFile(path)) return true
  findings.files++
  let isSound = true
  const fault = (text: string) => {
    isSound = false
    findings.fault(path, 'content', text)
  }
  try {
    await readEntries(path, fault)
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
