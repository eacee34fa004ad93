/**
 * A file seen through one window of fixed size, for tools that walk files of any length. Reads are
 * synchronous: a command has nothing else to do meanwhile.
 *
 * The size is taken when the file is opened; what a writer appends later is not seen.
 */
import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs'
import { basename } from 'node:path'
import { SeglogError } from '../errors.js'

export const WINDOW_BYTES = 1024 * 1024

/** No segment and no index is larger: positions in them have 31 bits. */
export const FILE_BYTES_MAX = 2 ** 31 - 1

/** How many zeros are believed to go on where a file is larger than any segment. */
export const SPARSE_BYTES = 16 * WINDOW_BYTES

const zeros = Buffer.alloc(WINDOW_BYTES)

export class FileWindow {
  readonly path: string
  readonly sizeBytes: number
  readonly #fd: number
  readonly #bytes: Buffer
  #start = 0
  #length = 0

  /** Errors: those of node:fs; BAD_ARGUMENT for what is not a regular file. */
  constructor(path: string, windowBytes = WINDOW_BYTES) {
    this.path = path
    // A FIFO without a writer would otherwise block the process here.
    this.#fd = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK)
    const stat = fstatSync(this.#fd)
    if (!stat.isFile()) {
      closeSync(this.#fd)
      throw new SeglogError('BAD_ARGUMENT', `${basename(path)} is not a regular file`)
    }
    this.sizeBytes = stat.size
    this.#bytes = Buffer.allocUnsafe(windowBytes)
  }

  /**
   * Up to `length` bytes from `position`, fewer only where the window or the file ends; valid until
   * the next call. Errors: SHORT, where the file has shrunk since it was opened.
   */
  view(position: number, length: number): Buffer {
    const wanted = Math.min(length, this.#bytes.length, this.sizeBytes - position)
    if (wanted <= 0) return this.#bytes.subarray(0, 0)
    if (position < this.#start || position + wanted > this.#start + this.#length) {
      this.#start = position
      this.#length = this.read(position, this.#bytes)
      if (this.#length < wanted) throw new SeglogError('SHORT', 'the file has shrunk')
    }
    const at = position - this.#start
    return this.#bytes.subarray(at, at + wanted)
  }

  /** Fills `target` from `position` on, past the window. Returns how many bytes there were. */
  read(position: number, target: Buffer): number {
    let filled = 0
    while (filled < target.length) {
      const read = readSync(this.#fd, target, filled, target.length - filled, position + filled)
      if (read === 0) break
      filled += read
    }
    return filled
  }

  /**
   * Position of the first byte from `position` on that is not zero, or -1. Where more follows than
   * a segment can hold, only `SPARSE_BYTES` are looked at: a sparse file may have any size.
   */
  firstNonZero(position: number): number {
    const isSparse = this.sizeBytes - position > FILE_BYTES_MAX
    const end = isSparse ? position + SPARSE_BYTES : this.sizeBytes
    while (position < end) {
      const bytes = this.view(position, Math.min(WINDOW_BYTES, end - position))
      if (!bytes.equals(zeros.subarray(0, bytes.length))) {
        return position + bytes.findIndex((byte) => byte !== 0)
      }
      position += bytes.length
    }
    return -1
  }

  close(): void {
    closeSync(this.#fd)
  }
}
