/**
 * One bound for the bytes of requests that all connections hold together
 * (`queued.max.request.bytes`).
 *
 * Below the bound nobody notices. Above it the connections that hold much are not read any more,
 * except for the one whose request is the smallest, so that there is always one that gets on. One
 * that may get on and sends nothing for a while is closed: it would keep the others waiting.
 * Connections that hold little go on as ever, which is why the sum may pass the bound by
 * `LITTLE_BYTES` for each of them.
 */
import type { Env, Timer } from '../env.js'

/** A connection, as far as it matters here. */
export interface Holder {
  /** Bytes of requests that it has received and not answered. */
  readonly heldBytes: number
  /** Bytes that the request under way takes when it is whole. */
  readonly wantedBytes: number
  /** Monotonic ms of its last byte. */
  readonly activeAtMs: number
  /** Whether it is to be read. */
  hold(held: boolean): void
  /** Ends it. */
  evict(): void
}

export const LITTLE_BYTES = 64 * 1024
/** How long the one that gets on may be silent. */
const SILENT_MS = 5000
const LOOK_MS = 1000

export class RequestMemory {
  readonly #maxBytes: number
  readonly #env: Env
  /** What each connection that holds something was counted with. */
  readonly #counted = new Map<Holder, number>()
  readonly #held = new Set<Holder>()
  #totalBytes = 0
  #timer: Timer | undefined

  /** Below 0: no bound. */
  constructor(maxBytes: number, env: Env) {
    this.#maxBytes = maxBytes
    this.#env = env
  }

  get totalBytes(): number {
    return this.#totalBytes
  }

  /** Call after the bytes of a holder changed. */
  changed(holder: Holder): void {
    if (this.#maxBytes < 0) return
    const before = this.#counted.get(holder) ?? 0
    const now = holder.heldBytes
    if (before === now) return
    this.#totalBytes += now - before
    if (now > 0) this.#counted.set(holder, now)
    else this.#counted.delete(holder)
    if (this.#totalBytes > this.#maxBytes || this.#held.size > 0) this.#settle()
  }

  /** The connection is gone, and what it held with it. */
  gone(holder: Holder): void {
    this.#totalBytes -= this.#counted.get(holder) ?? 0
    this.#counted.delete(holder)
    this.#held.delete(holder)
    if (this.#held.size > 0) this.#settle()
  }

  close(): void {
    this.#timer?.cancel()
    this.#timer = undefined
  }

  #settle(): void {
    const crowded = this.#totalBytes > this.#maxBytes
    const favoured = crowded ? this.#smallest() : undefined
    for (const [holder, bytes] of this.#counted) {
      const held = crowded && bytes > LITTLE_BYTES && holder !== favoured
      if (held === this.#held.has(holder)) continue
      if (held) this.#held.add(holder)
      else this.#held.delete(holder)
      holder.hold(held)
    }
    if (crowded) this.#timer ??= this.#env.after(LOOK_MS, () => this.#look())
  }

  #smallest(): Holder | undefined {
    let found: Holder | undefined
    for (const [holder, bytes] of this.#counted) {
      if (bytes <= LITTLE_BYTES) continue
      if (found === undefined || holder.wantedBytes < found.wantedBytes) found = holder
    }
    return found
  }

  #look(): void {
    this.#timer = undefined
    if (this.#totalBytes <= this.#maxBytes) return
    const favoured = this.#smallest()
    if (favoured && this.#env.monotonic() - favoured.activeAtMs > SILENT_MS) favoured.evict()
    this.#settle()
  }
}
