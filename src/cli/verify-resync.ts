/**
 * Finds the next batch behind bytes that are none: the first place whose header is plausible, whose
 * offsets may stand there and whose checksum is right.
 *
 * A plausible header may lie about its length, and hostile bytes may hold one at every place. So
 * the bytes that are summed in vain are counted, and behind a bound the search is given up.
 */
import { BatchField, HEADER_BYTES, MAGIC } from '../records/index.js'
import type { FileWindow } from './file-window.js'
import { checksumMatches, headerAt } from './verify-batch.js'

const CHUNK_BYTES = 1024 * 1024
const TWO_32 = 2 ** 32

export interface ResyncBounds {
  /** End of the bytes that count. */
  end: number
  /** Least and greatest offset that a batch may have. */
  offsetMin: number
  offsetMax: number
  /** Look for messages of magic 0 and 1 too. */
  oldMagic: boolean
}

export class Resync {
  readonly #file: FileWindow
  #budgetBytes: number

  constructor(file: FileWindow) {
    this.#file = file
    this.#budgetBytes = 4 * file.sizeBytes + 64 * 1024 * 1024
  }

  /** The search was given up: what it did not find may be there. */
  get exhausted(): boolean {
    return this.#budgetBytes <= 0
  }

  /** Position of the first batch at or behind `from`, or -1. */
  find(from: number, bounds: ResyncBounds): number {
    const chunk = Buffer.allocUnsafe(CHUNK_BYTES)
    const step = CHUNK_BYTES - HEADER_BYTES
    for (let start = from; start < bounds.end && !this.exhausted; start += step) {
      const wanted = Math.min(CHUNK_BYTES, bounds.end - start)
      const bytes = chunk.subarray(0, this.#file.read(start, chunk.subarray(0, wanted)))
      const found = this.#findIn(bytes, start, Math.min(step, bytes.length), bounds)
      if (found >= 0) return found
    }
    return -1
  }

  #findIn(bytes: Buffer, start: number, count: number, bounds: ResyncBounds): number {
    const highMin = Math.floor(bounds.offsetMin / TWO_32)
    const highMax = Math.floor(bounds.offsetMax / TWO_32)
    const magicMin = bounds.oldMagic ? 0 : MAGIC
    const last = Math.min(count, bytes.length - BatchField.MAGIC)
    for (let at = 0; at < last; at++) {
      const magic = bytes[at + BatchField.MAGIC] ?? 255
      if (magic > MAGIC || magic < magicMin) continue
      const high = bytes.readUInt32BE(at)
      if (high < highMin || high > highMax) continue
      if (this.#isBatch(start + at, bounds)) return start + at
      if (this.exhausted) return -1
    }
    return -1
  }

  #isBatch(position: number, { end, offsetMin, offsetMax }: ResyncBounds): boolean {
    const header = headerAt(this.#file, position)
    if (header instanceof Error) return false
    if (header.baseOffset < offsetMin || header.lastOffset > offsetMax) return false
    if (header.sizeBytes > end - position) return false
    this.#budgetBytes -= header.sizeBytes
    return checksumMatches(this.#file, position, header)
  }
}
