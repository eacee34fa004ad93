/**
 * What the large requests that are being received may take in memory, over all connections
 * (`queued.max.request.bytes`). Above it a connection that is within such a request is not read,
 * but for the one that began first: it always makes progress, so that the rest gets its turn. A
 * peer that stops in the middle keeps its place until it is closed as idle. Small requests are not
 * counted and never wait.
 */

/** A request of which less than this has come is not counted. */
const COUNTED_BYTES_MIN = 64 * 1024

/** A connection that is told when it may be read again. */
export interface Receiver {
  resumeReceiving(): void
}

export class ReceiveBudget {
  /** In the order in which their requests became large. */
  readonly #held = new Map<Receiver, number>()
  readonly #waiting = new Set<Receiver>()
  #usedBytes = 0

  /** Below 0 there is no bound. */
  constructor(readonly maxBytes: number) {}

  /**
   * Notes how much of an unfinished request `receiver` holds, 0 where none. False: it is to stop
   * reading until it is told to go on.
   */
  hold(receiver: Receiver, bytes: number): boolean {
    if (this.maxBytes < 0) return true
    const counted = bytes < COUNTED_BYTES_MIN ? 0 : bytes
    this.#usedBytes += counted - (this.#held.get(receiver) ?? 0)
    if (counted > 0) this.#held.set(receiver, counted)
    else this.#held.delete(receiver)
    this.#waiting.delete(receiver)
    this.#wake()
    const [first] = this.#held.keys()
    if (counted === 0 || receiver === first || this.#usedBytes <= this.maxBytes) return true
    this.#waiting.add(receiver)
    return false
  }

  #wake(): void {
    const [first] = this.#held.keys()
    for (const receiver of [...this.#waiting]) {
      if (receiver !== first && this.#usedBytes > this.maxBytes) continue
      this.#waiting.delete(receiver)
      receiver.resumeReceiving()
    }
  }
}
