/**
 * For each key its last offset, in bounded memory: what compaction decides by.
 *
 * An open-addressing table of slots of 16 bytes of hash and 8 of offset, as Kafka's. Keys
 * themselves are not kept: two keys with the same 16 bytes of SHA-256 count as one, which nobody
 * can bring about. Never filled beyond nine tenths. JS thread.
 */
import { createHash } from 'node:crypto'

const HASH_WORDS = 4
const WORDS = 6
const SLOT_BYTES = WORDS * 4
const FILL_MAX = 0.9
const SLOTS_MAX = 2 ** 26
const TWO_32 = 2 ** 32

export class OffsetMap {
  readonly #words: Uint32Array
  readonly #slots: number
  readonly #sizeMax: number
  readonly #hash = new Uint32Array(HASH_WORDS)
  #size = 0

  /** Room for `keys`, or for as many as `bytesMax` bytes hold, which is one at least. */
  constructor(keys: number, bytesMax: number) {
    const affordable = Math.max(2, Math.floor(Math.min(bytesMax / SLOT_BYTES, SLOTS_MAX)))
    this.#slots = Math.min(affordable, Math.ceil(keys / FILL_MAX) + 2)
    this.#sizeMax = Math.max(1, Math.floor(this.#slots * FILL_MAX))
    this.#words = new Uint32Array(this.#slots * WORDS)
  }

  get size(): number {
    return this.#size
  }

  /** Keys that it has room for. */
  get sizeMax(): number {
    return this.#sizeMax
  }

  /** Takes a later offset of a key. Returns false, and takes nothing, where there is no room. */
  put(key: Uint8Array, offset: number): boolean {
    const at = this.#find(key)
    const words = this.#words
    if (isEmpty(words, at)) {
      if (this.#size >= this.#sizeMax) return false
      this.#size++
      words.set(this.#hash, at)
    }
    words[at + HASH_WORDS] = Math.floor((offset + 1) / TWO_32)
    words[at + HASH_WORDS + 1] = (offset + 1) >>> 0
    return true
  }

  /** The last offset of a key, or -1. */
  get(key: Uint8Array): number {
    const at = this.#find(key) + HASH_WORDS
    return this.#words[at]! * TWO_32 + this.#words[at + 1]! - 1
  }

  /** Where the slot of a key is, or the empty one that it would have. */
  #find(key: Uint8Array): number {
    const digest = createHash('sha256').update(key).digest()
    const hash = this.#hash
    for (let i = 0; i < HASH_WORDS; i++) hash[i] = digest.readUInt32LE(i * 4)
    const words = this.#words
    for (let slot = hash[0]! % this.#slots; ; slot = (slot + 1) % this.#slots) {
      const at = slot * WORDS
      if (isEmpty(words, at) || isSame(words, at, hash)) return at
    }
  }
}

/** Offsets are kept plus one, so that no slot in use is 0. */
function isEmpty(words: Uint32Array, at: number): boolean {
  return words[at + HASH_WORDS] === 0 && words[at + HASH_WORDS + 1] === 0
}

function isSame(words: Uint32Array, at: number, hash: Uint32Array): boolean {
  for (let i = 0; i < HASH_WORDS; i++) if (words[at + i] !== hash[i]) return false
  return true
}
