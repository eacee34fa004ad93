/**
 * The batches of a sealed segment, read from its file by the pool, a run of whole batches at a
 * time, so that a cold disk holds nobody up. The bytes of a run are overwritten by the next one.
 *
 * The descriptor stays as it is when the file gets another name meanwhile. Errors: NOT_FOUND (the
 * file is gone), CORRUPT (what lies there is no batch), IO, TOO_MANY_FILES. CRCs are for the
 * caller.
 */
import { type FileHandle, open } from 'node:fs/promises'
import { ioError } from '../../atomic-file.js'
import { SeglogError } from '../../errors.js'
import { batchBytes } from '../../records/batch.js'
import { LENGTH_OVERHEAD_BYTES } from '../../records/format.js'

const RUN_BYTES = 512 * 1024
/** Length and magic lie in them. */
const PROBE_BYTES = LENGTH_OVERHEAD_BYTES + 5

export class SegmentBatches {
  readonly #path: string
  readonly #file: FileHandle
  readonly #sizeBytes: number
  #buffer: Buffer
  #position = 0

  private constructor(path: string, file: FileHandle, sizeBytes: number) {
    this.#path = path
    this.#file = file
    this.#sizeBytes = sizeBytes
    this.#buffer = Buffer.allocUnsafeSlow(Math.min(RUN_BYTES, sizeBytes))
  }

  /** `sizeBytes`: how much of it is batches. */
  static async open(path: string, sizeBytes: number): Promise<SegmentBatches> {
    const file = await open(path, 'r').catch((error: unknown) => {
      const isGone = error instanceof Error && 'code' in error && error.code === 'ENOENT'
      throw isGone ? new SeglogError('NOT_FOUND', `${path} is gone`) : ioError(path, error)
    })
    return new SegmentBatches(path, file, sizeBytes)
  }

  /** Whether there is nothing behind the run that was read last. */
  get isAtEnd(): boolean {
    return this.#position >= this.#sizeBytes
  }

  /** The next whole batches, one at least; undefined at the end. */
  async next(): Promise<Uint8Array | undefined> {
    if (this.isAtEnd) return undefined
    let filled = await this.#fill(0)
    let whole = this.#wholeBytes(filled)
    if (whole === 0) {
      this.#growTo(this.#sizeOfFirst(filled))
      filled = await this.#fill(filled)
      whole = this.#wholeBytes(filled)
      if (whole === 0) throw this.#corrupt('the segment ends inside a batch')
    }
    this.#position += whole
    return this.#buffer.subarray(0, whole)
  }

  close(): Promise<void> {
    return this.#file.close().catch(() => {})
  }

  /** Reads on behind the first `filled` bytes of the buffer. Resolves with how many it has then. */
  async #fill(filled: number): Promise<number> {
    const left = this.#sizeBytes - this.#position
    const wanted = Math.min(this.#buffer.length, left)
    try {
      while (filled < wanted) {
        const at = this.#position + filled
        const { bytesRead } = await this.#file.read(this.#buffer, filled, wanted - filled, at)
        if (bytesRead === 0) throw this.#corrupt('the file ends early')
        filled += bytesRead
      }
    } catch (error) {
      throw ioError(this.#path, error)
    }
    return filled
  }

  #wholeBytes(filled: number): number {
    const bytes = this.#buffer.subarray(0, filled)
    let at = 0
    while (filled - at >= PROBE_BYTES) {
      const size = batchBytes(bytes, at, this.#position)
      if (size > filled - at) break
      at += size
    }
    return at
  }

  #sizeOfFirst(filled: number): number {
    if (filled < PROBE_BYTES) throw this.#corrupt('too few bytes for a batch')
    const size = batchBytes(this.#buffer.subarray(0, filled), 0, this.#position)
    if (size > this.#sizeBytes - this.#position) throw this.#corrupt(`a batch of ${size} bytes`)
    return size
  }

  #growTo(sizeBytes: number): void {
    const grown = Buffer.allocUnsafeSlow(sizeBytes)
    this.#buffer.copy(grown)
    this.#buffer = grown
  }

  #corrupt(what: string): SeglogError {
    return new SeglogError('CORRUPT', `${this.#path} at byte ${this.#position}: ${what}`)
  }
}
