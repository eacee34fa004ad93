/**
 * Lines to a stream with bounded memory: they are gathered and handed over in large pieces, and the
 * caller waits where the reader is slow. A reader that goes away, as `head` does, closes the output
 * instead of ending the process. Any other error is kept in `failed`; whoever owns the stream
 * reports it.
 */

const PIECE_CHARACTERS = 64 * 1024

/** A number with its word, which is in the plural unless it is one: 1 fault, 2 faults. */
export function counted(count: number, word: string, words = `${word}s`): string {
  return `${count} ${count === 1 ? word : words}`
}

/** Where a subcommand writes. */
export interface Io {
  stdout: NodeJS.WritableStream
  stderr: NodeJS.WritableStream
}

export class Output {
  readonly #stream: NodeJS.WritableStream
  readonly #onError = (error: NodeJS.ErrnoException) => {
    this.closed = true
    if (error.code !== 'EPIPE') this.failed = true
  }
  #pending: string[] = []
  #characters = 0
  /** True once the reader is gone: nothing more needs to be written. */
  closed = false
  /** True where lines were lost although a reader wants them, as on a full disk. */
  failed = false

  constructor(stream: NodeJS.WritableStream) {
    this.#stream = stream
    stream.on('error', this.#onError)
  }

  /** Takes a line without its end. */
  line(text: string): void {
    if (this.closed) return
    this.#pending.push(text)
    this.#characters += text.length + 1
  }

  /** True when `flush` is due. */
  get full(): boolean {
    return this.#characters >= PIECE_CHARACTERS
  }

  /** Hands over what was taken and waits until the stream has passed it on. */
  async flush(): Promise<void> {
    if (this.#pending.length === 0) return
    const text = `${this.#pending.join('\n')}\n`
    this.#pending = []
    this.#characters = 0
    if (this.closed) return
    await new Promise<void>((resolve) => {
      this.#stream.write(text, (error) => {
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
