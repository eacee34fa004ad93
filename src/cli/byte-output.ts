/**
 * Bytes to a stream with bounded memory, as output.ts does it for lines: gathered, handed over in
 * large pieces, with a wait where the reader is slow. A reader that goes away closes the output.
 */

const PIECE_BYTES = 64 * 1024

export class ByteOutput {
  readonly #stream: NodeJS.WritableStream
  readonly #onError = (error: NodeJS.ErrnoException) => {
    this.closed = true
    if (error.code !== 'EPIPE') this.failed = true
  }
  #pending: Uint8Array[] = []
  #bytes = 0
  /** True once the reader is gone: nothing more needs to be written. */
  closed = false
  /** True where bytes were lost although a reader wants them, as on a full disk. */
  failed = false

  constructor(stream: NodeJS.WritableStream) {
    this.#stream = stream
    stream.on('error', this.#onError)
  }

  /** Takes bytes, which are not to be changed until they are flushed. */
  write(bytes: Uint8Array): void {
    if (this.closed) return
    this.#pending.push(bytes)
    this.#bytes += bytes.length
  }

  /** True when `flush` is due. */
  get full(): boolean {
    return this.#bytes >= PIECE_BYTES
  }

  /** Hands over what was taken and waits until the stream has passed it on. */
  async flush(): Promise<void> {
    if (this.#bytes === 0) return
    const bytes = Buffer.concat(this.#pending)
    this.#pending = []
    this.#bytes = 0
    if (this.closed) return
    await new Promise<void>((resolve) => {
      this.#stream.write(bytes, (error) => {
        if (error) this.#onError(error)
        resolve()
      })
    })
  }

  /** Hands over the rest and lets go of the stream, which stays open. */
  async end(): Promise<void> {
    await this.flush()
    this.#stream.off('error', this.#onError)
  }
}
