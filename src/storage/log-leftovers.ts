/**
 * Files that an end in the middle of something left in a log's folder, and what becomes of them at
 * the next start, as Kafka's LogLoader has it.
 *
 *   *.deleted            was about to be unlinked: removed
 *   *.cleaned            a compaction or split that was not finished: removed, and with it every
 *                        .swap that does not begin below the first of them (KAFKA-6264)
 *   *.swap               a finished one: segments in its range are removed, then it takes its name
 *   .index, .timeindex   without a .log of the same name: removed
 *
 * Every step may be cut short and is then done again by the next start. Files of other names are
 * left alone.
 */
import { open, rename, unlink } from 'node:fs/promises'
import { join } from 'node:path'
import { ioError, isMissing, syncDirectory } from '../atomic-file.js'
import { parseBatchHeader } from '../records/batch.js'
import { HEADER_BYTES } from '../records/format.js'

const FILE = /^(\d{20})\.(log|index|timeindex|txnindex|snapshot)(\.deleted|\.cleaned|\.swap)?$/
/** A file that the engine makes ahead, and Kafka's files with names of their own. */
const DELETED = /\.deleted$/

interface Leftover {
  readonly name: string
  readonly offset: number
  readonly kind: string
  /** '' for a file of the log itself. */
  readonly state: string
}

/** Bytes that the walk to the end of a swapped segment reads at once. */
const CHUNK_BYTES = 1024 * 1024

/**
 * Settles what `names`, all files of the folder, says; resolves with the names that are there
 * afterwards. Rejects with IO.
 */
export async function settleLeftovers(
  directory: string,
  names: readonly string[],
): Promise<string[]> {
  const left = new Set(names)
  const remove = async (name: string) => {
    await unlinkIfThere(join(directory, name))
    left.delete(name)
  }
  for (const name of names) if (DELETED.test(name)) await remove(name)

  const cleaned = parse(left).filter(({ state }) => state === '.cleaned')
  const unfinished = Math.min(...cleaned.map(({ offset }) => offset))
  const isVoid = ({ state, offset }: Leftover) => state === '.swap' && offset >= unfinished
  for (const file of parse(left)) {
    if (file.state === '.cleaned' || isVoid(file)) await remove(file.name)
  }

  const swaps = parse(left).filter(({ state }) => state === '.swap')
  await removeReplaced(directory, left, swaps, remove)
  for (const { name } of swaps) {
    const settled = name.slice(0, -'.swap'.length)
    await rename(join(directory, name), join(directory, settled)).catch((error: unknown) => {
      throw ioError(join(directory, name), error)
    })
    left.delete(name)
    left.add(settled)
  }

  for (const { name, offset, kind, state } of parse(left)) {
    if (state !== '' || kind === 'log' || kind === 'snapshot') continue
    const log = `${String(offset).padStart(20, '0')}.log`
    if (!left.has(log)) await remove(name)
  }
  if (left.size !== names.length || swaps.length > 0) await syncDirectory(directory)
  return [...left]
}

function parse(names: Iterable<string>): Leftover[] {
  const files: Leftover[] = []
  for (const name of names) {
    const [, digits, kind, state = ''] = FILE.exec(name) ?? []
    const offset = Number(digits)
    if (kind !== undefined && Number.isSafeInteger(offset))
      files.push({ name, offset, kind, state })
  }
  return files
}

/** Removes the segments whose place the swapped ones take. */
async function removeReplaced(
  directory: string,
  left: Set<string>,
  swaps: readonly Leftover[],
  remove: (name: string) => Promise<void>,
): Promise<void> {
  const logs = swaps.filter(({ kind }) => kind === 'log')
  if (logs.length === 0) return
  const ends: number[] = []
  for (const { name, offset } of logs) ends.push(await endOf(join(directory, name), offset))
  const from = Math.min(...logs.map(({ offset }) => offset))
  const to = Math.max(...ends)
  for (const { name, offset, kind, state } of parse(left)) {
    if (state === '' && kind !== 'snapshot' && offset >= from && offset < to) await remove(name)
  }
}

/** One above the last offset of a .log file, as its headers say up to the first that is none. */
async function endOf(path: string, baseOffset: number): Promise<number> {
  const file = await open(path, 'r').catch((error: unknown) => {
    throw ioError(path, error)
  })
  try {
    const chunk = new Uint8Array(CHUNK_BYTES)
    let end = baseOffset
    for (let position = 0; ; ) {
      const { bytesRead } = await file.read(chunk, 0, CHUNK_BYTES, position)
      let at = 0
      while (bytesRead - at >= HEADER_BYTES) {
        const header = headerAt(chunk, at)
        if (header === undefined) return end
        end = header.lastOffset + 1
        at += header.sizeBytes
      }
      if (at === 0) return end
      position += at
    }
  } catch (error) {
    throw ioError(path, error)
  } finally {
    await file.close()
  }
}

function headerAt(bytes: Uint8Array, at: number) {
  try {
    return parseBatchHeader(bytes, at)
  } catch {
    return undefined
  }
}

async function unlinkIfThere(path: string): Promise<void> {
  try {
    await unlink(path)
  } catch (error) {
    if (isMissing(error)) return
    throw ioError(path, error)
  }
}
