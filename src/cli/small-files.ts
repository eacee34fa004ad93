/**
 * The small files beside the logs, read entry by entry with the code that the broker reads them
 * with: checkpoints of offsets, leader epochs, snapshots of producers, meta.properties and
 * partition.metadata. Each is read as a whole, up to the bound that its reader has.
 */
import { statSync } from 'node:fs'
import { basename, dirname } from 'node:path'
import { readSmall } from '../atomic-file.js'
import { SeglogError } from '../errors.js'
import {
  leaderEpochCheckpoint,
  OffsetCheckpoint,
  readEpochs,
  readOffsets,
} from '../storage/checkpoints.js'
import { readMetaProperties, readTopicId } from '../storage/meta-files.js'
import { decodeSnapshot } from '../storage/producer-snapshot.js'

export type Fields = Record<string, number | string>

type Damage = (text: string) => void
type Read = (path: string, damage: Damage) => Promise<readonly object[]>

const SNAPSHOT = /^\d{20}\.snapshot$/

const readers = new Map<string, Read>([
  ...Object.values(OffsetCheckpoint).map((name) => [name, checkpoint(readOffsets)] as const),
  [leaderEpochCheckpoint, checkpoint(readEpochs)],
  ['meta.properties', async (path) => [(await readMetaProperties(dirname(path))) ?? {}]],
  ['partition.metadata', async (path) => [{ topicId: await readTopicId(dirname(path)) }]],
])

/** Kafka makes a checkpoint empty and writes it when it first has something to say. */
function checkpoint(read: (path: string, damage: Damage) => Promise<object[] | undefined>): Read {
  return async (path, damage) => {
    if (statSync(path).size === 0) return []
    return (await read(path, (text) => damage(text.replace(`${path} is `, '')))) ?? []
  }
}

async function snapshot(path: string, damage: Damage): Promise<readonly object[]> {
  const batches = decodeSnapshot((await readSmall(path)) ?? Buffer.alloc(0))
  if (batches === undefined) damage('not a snapshot of version 1 whose checksum is right')
  return batches ?? []
}

function readerOf(path: string): Read | undefined {
  const name = basename(path)
  return SNAPSHOT.test(name) ? snapshot : readers.get(name)
}

/** Whether `readEntries` knows what such a file holds. */
export function isSmallFile(path: string): boolean {
  return readerOf(path) !== undefined
}

/** Whether what the file holds is derived anew from the logs where it lacks. */
export function isDerived(path: string): boolean {
  return /-checkpoint$|\.snapshot$/.test(basename(path))
}

/**
 * What the file holds; of a damaged one `damage` is told, once. REQUIRES: isSmallFile. Errors:
 * BAD_ARGUMENT for what is not a regular file, IO, TOO_LARGE, those of node:fs.
 */
export async function readEntries(path: string, damage: Damage): Promise<readonly Fields[]> {
  // Reading a FIFO would wait for a writer.
  if (!statSync(path).isFile()) {
    throw new SeglogError('BAD_ARGUMENT', `${basename(path)} is not a regular file`)
  }
  try {
    const entries = (await readerOf(path)?.(path, damage)) ?? []
    return entries.map((entry) => ({ ...entry }) as Fields)
  } catch (error) {
    if (!(error instanceof SeglogError) || error.code !== 'CORRUPT') throw error
    damage(error.message.replace(`${path} is `, ''))
    return []
  }
}
