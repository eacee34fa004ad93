/**
 * Checks a .timeindex (entries of 12 bytes: timestamp, offset less the base offset) in step with
 * the walk over its log.
 *
 * An entry (T, O) says that no batch up to the one that holds O is later than T, and that this one
 * is as late. Entries rise in both; of two that do not, the one that the entry behind contradicts
 * is wrong. Behind damage of the log, what the lost batches held is not held against an entry.
 */
import { type BatchHeader, MAGIC } from '../records/index.js'
import type { FileWindow } from './file-window.js'
import { EntryReader, type IndexFault, type IndexFaultKind } from './verify-entries.js'

const ENTRY_BYTES = 12

interface Entry {
  position: number
  timestamp: number
  offset: number
}

export class TimeIndexCheck {
  readonly #entries: EntryReader
  readonly #baseOffset: number
  #last: Entry | undefined
  #next: Entry | undefined
  #latest = -1
  #damaged = false

  constructor(file: FileWindow, baseOffset: number) {
    this.#entries = new EntryReader(file, ENTRY_BYTES)
    this.#baseOffset = baseOffset
    this.#advance()
  }

  /** A sound batch, in the order of the log. */
  onBatch(header: BatchHeader): void {
    while (this.#next !== undefined && this.#next.offset <= header.lastOffset) {
      if (this.#judge(this.#next, header)) this.#last = this.#next
      this.#advance()
    }
    this.#latest = Math.max(this.#latest, header.maxTimestamp)
  }

  onDamage(): void {
    this.#damaged = true
  }

  /** The log has ended. `isTorn`: by damage, so that what lay behind is not known. */
  onEnd(isTorn: boolean): void {
    while (this.#next !== undefined) {
      const { offset } = this.#next
      if (!isTorn) this.#fault('index-past-end', this.#next, `offset ${offset} is not in the log`)
      this.#advance()
    }
  }

  takeFaults(): IndexFault[] {
    return this.#entries.takeFaults()
  }

  #fault(kind: IndexFaultKind, { position, offset }: Entry, text: string): false {
    this.#entries.fault({ kind, position, offset, text })
    return false
  }

  #judge(entry: Entry, header: BatchHeader): boolean {
    const { timestamp, offset } = entry
    if (offset < header.baseOffset && header.magic >= MAGIC) {
      return this.#damaged || this.#fault('index-no-batch', entry, 'no batch holds the offset')
    }
    if (header.maxTimestamp !== timestamp) {
      const text = `it says ${timestamp}, and the batch of its offset has ${header.maxTimestamp}`
      return this.#fault('index-wrong-time', entry, text)
    }
    if (this.#latest > timestamp) {
      const text = `it says ${timestamp}, and a batch before has ${this.#latest}`
      return this.#fault('index-wrong-time', entry, text)
    }
    return true
  }

  /** Goes to the next entry that may be right by its neighbours. */
  #advance(): void {
    this.#next = undefined
    while (this.#next === undefined) {
      const entry = this.#read()
      if (entry === undefined) return
      const behind = this.#peek()
      const last = this.#last
      if (entry.offset < this.#baseOffset || !Number.isSafeInteger(entry.timestamp)) {
        this.#fault('index-past-end', entry, 'an offset or a timestamp out of range')
      } else if (last !== undefined && !rises(last, entry)) {
        this.#fault('index-order', entry, 'it does not rise above the entry before')
      } else if (behind !== undefined && !rises(entry, behind) && (!last || rises(last, behind))) {
        this.#fault('index-order', entry, 'the entry behind it does not rise above it')
      } else {
        this.#next = entry
      }
    }
  }

  #read(): Entry | undefined {
    const bytes = this.#entries.next()
    return bytes && this.#entry(bytes, this.#entries.position - ENTRY_BYTES)
  }

  /** The entry that is read next; undefined for what is no entry. */
  #peek(): Entry | undefined {
    const bytes = this.#entries.peek()
    if (bytes === undefined || bytes.length < ENTRY_BYTES) return undefined
    if (bytes.every((byte) => byte === 0)) return undefined
    return this.#entry(bytes, this.#entries.position)
  }

  #entry(bytes: Buffer, position: number): Entry {
    const timestamp = Number(bytes.readBigInt64BE(0))
    return { position, timestamp, offset: this.#baseOffset + bytes.readInt32BE(8) }
  }
}

function rises(from: Entry, to: Entry): boolean {
  return to.timestamp > from.timestamp && to.offset > from.offset
}
