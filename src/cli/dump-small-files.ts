/**
 * Dumps the small files beside the logs, entry by entry: checkpoints of offsets, leader epochs,
 * meta.properties and partition.metadata. They are read as a whole, up to the bound that their
 * reader has.
 */
import { statSync } from 'node:fs'
import { basename, dirname } from 'node:path'
import { SeglogError } from '../errors.js'
import {
  leaderEpochCheckpoint,
  OffsetCheckpoint,
  readEpochs,
  readOffsets,
} from '../storage/checkpoints.js'
import { readMetaProperties, readTopicId } from '../storage/meta-files.js'
import type { Report } from './dump-report.js'
import type { Output } from './output.js'

type Fields = Record<string, number | string>
type Read = (path: string, warn: (text: string) => void) => Promise<readonly Fields[]>

const readers = new Map<string, Read>([
  ...Object.values(OffsetCheckpoint).map((name) => [name, offsets] as const),
  [
    leaderEpochCheckpoint,
    async (path, warn) => ((await readEpochs(path, warn)) ?? []).map((entry) => ({ ...entry })),
  ],
  ['meta.properties', async (path) => one(await readMetaProperties(dirname(path)))],
  [
    'partition.metadata',
    async (path) => {
      const topicId = await readTopicId(dirname(path))
      return topicId === undefined ? [] : [{ topicId }]
    },
  ],
])

async function offsets(path: string, warn: (text: string) => void): Promise<Fields[]> {
  return ((await readOffsets(path, warn)) ?? []).map((entry) => ({ ...entry }))
}

function one(fields: object | undefined): Fields[] {
  return fields === undefined ? [] : [{ ...fields }]
}

export function isSmallFile(path: string): boolean {
  return readers.has(basename(path))
}

/** Returns whether damage was found. */
export async function dumpSmallFile(
  path: string,
  report: Report,
  output: Output,
): Promise<boolean> {
  if (!statSync(path).isFile()) {
    throw new SeglogError('BAD_ARGUMENT', `${basename(path)} is not a regular file`)
  }
  report.file(path, undefined)
  let isDamaged = false
  const damage = (text: string) => {
    isDamaged = true
    report.damage('corrupt', 0, text)
  }
  try {
    const entries = (await readers.get(basename(path))?.(path, damage)) ?? []
    for (const entry of entries) {
      report.entry(entry)
      if (output.full) await output.flush()
    }
  } catch (error) {
    if (!(error instanceof SeglogError) || error.code !== 'CORRUPT') throw error
    damage(error.message)
  }
  return isDamaged
}
