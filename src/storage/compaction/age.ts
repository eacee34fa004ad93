/** How long segments have waited for their compaction (KIP-354). */
import { open } from 'node:fs/promises'
import { join } from 'node:path'
import { ioError } from '../../atomic-file.js'
import { HEADER_BYTES } from '../../records/format.js'
import { segmentName } from '../log-files.js'
import { timestampAt } from '../log-state.js'

/**
 * The least timestamp of the first batches of segments, ms; of one that has none, the time of the
 * file's last change. Infinity for no segments. Rejects with IO, TOO_MANY_FILES.
 */
export async function firstTimestampOf(
  directory: string,
  segments: readonly { baseOffset: number }[],
): Promise<number> {
  let first = Infinity
  for (const { baseOffset } of segments) {
    const path = join(directory, `${segmentName(baseOffset)}.log`)
    try {
      first = Math.min(first, await timestampOf(path))
    } catch (error) {
      throw ioError(path, error)
    }
  }
  return first
}

async function timestampOf(path: string): Promise<number> {
  const file = await open(path, 'r')
  try {
    const header = new Uint8Array(HEADER_BYTES)
    const { bytesRead } = await file.read(header, 0, HEADER_BYTES, 0)
    const timestamp = bytesRead === HEADER_BYTES ? timestampAt(header, 0) : -1
    return timestamp >= 0 ? timestamp : (await file.stat()).mtimeMs
  } finally {
    await file.close()
  }
}
