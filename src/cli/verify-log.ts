/**
 * Walks all of a .log file, over every damage: a batch that is unsound is named and passed by its
 * length where that can be believed, else the next sound batch is looked for.
 *
 * Base offset and leader epoch lie outside the checksum, so an offset that leaps ahead is told from
 * those behind it that seem to go back: it is the one that the next batch contradicts. Gaps are no
 * fault: compaction leaves them.
 */
import type { SeglogError } from '../errors.js'
import { type BatchHeader, HEADER_BYTES, MAGIC } from '../records/index.js'
import { FILE_BYTES_MAX, type FileWindow } from './file-window.js'
import { counted } from './output.js'
import { checkRecords, checksumMatches, headerAt } from './verify-batch.js'
import { Resync, type ResyncBounds } from './verify-resync.js'

/** Relative offsets have 31 bits in the indexes. */
const RELATIVE_OFFSET_MAX = 2 ** 31 - 1

/** So many faults are listed of one file; memory is bounded by it. */
const FAULTS_MAX = 10_000

export type LogFaultKind =
  | 'magic'
  | 'header'
  | 'length'
  | 'crc'
  | 'offset'
  | 'records'
  | 'zeros'
  | 'torn-tail'
  | 'size'

/** Bytes of the file; `to` is exclusive. */
export interface ByteRange {
  from: number
  to: number
}

/** Damage between two sound batches. */
export interface Loss extends ByteRange {
  /** The offset that was due there. */
  offsetFrom: number
  /** The last offset before the sound batch behind it; undefined where none follows. */
  offsetTo: number | undefined
  /** It holds a batch whose checksum is right, and so no write that was cut short. */
  holdsWhole: boolean
}

export type LogEvent =
  | { type: 'batch'; header: BatchHeader; position: number; records: number }
  | { type: 'fault'; kind: LogFaultKind; range: ByteRange; offset: number; text: string }
  | { type: 'note'; kind: string; position: number; text: string }

/** Where the file stands in its log. */
export interface LogPlace {
  /** That of its name, where it has one. */
  baseOffset: number | undefined
  /** That of the segment behind it. */
  nextBaseOffset?: number | undefined
}

interface Fault {
  kind: LogFaultKind
  /** -1 where nothing more was found. */
  next: number
  text: string
  offset?: number
}

interface Sound {
  header: BatchHeader
  records: number
  note: string | undefined
}

export class LogWalk {
  readonly #file: FileWindow
  readonly #place: LogPlace
  readonly #end: number
  readonly #offsetMax: number
  readonly #resync: Resync
  #sawOldMagic = false
  /** One above the last offset of a sound batch. */
  nextOffset: number
  /** Behind the last sound batch. */
  endPosition = 0
  /** What is not sound, in order; never two directly behind each other. */
  readonly losses: Loss[] = []
  #faults = 0
  /** That of the sound batch before. */
  #leaderEpoch = -1

  constructor(file: FileWindow, place: LogPlace) {
    this.#file = file
    this.#place = place
    this.#end = Math.min(file.sizeBytes, FILE_BYTES_MAX)
    this.#resync = new Resync(file)
    const { baseOffset, nextBaseOffset = Infinity } = place
    const relative = (baseOffset ?? Infinity) + RELATIVE_OFFSET_MAX
    this.#offsetMax = Math.min(relative, nextBaseOffset - 1, Number.MAX_SAFE_INTEGER)
    this.nextOffset = baseOffset ?? 0
  }

  /** Whether all was read: false where the walk was given up. */
  get isComplete(): boolean {
    const { sizeBytes } = this.#file
    return this.#faults < FAULTS_MAX && !this.#resync.exhausted && sizeBytes <= FILE_BYTES_MAX
  }

  /** Whether damage follows the last sound batch. */
  get isTorn(): boolean {
    return (this.losses.at(-1)?.to ?? -1) > this.endPosition
  }

  *events(): Generator<LogEvent, void, undefined> {
    let position = 0
    while (position < this.#end) {
      const found = this.#examine(position)
      if ('reserved' in found) {
        const text = `${counted(found.reserved, 'zero')} to the end: space reserved for appends`
        yield { type: 'note', kind: 'zero-tail', position, text }
        break
      }
      if ('kind' in found) {
        yield this.#faultEvent(position, found)
        if (found.next < 0 || this.#faults >= FAULTS_MAX) break
        position = found.next
        continue
      }
      const { header, note, records } = found
      if (note !== undefined) yield { type: 'note', kind: 'records', position, text: note }
      if (header.leaderEpoch < this.#leaderEpoch) {
        const text = `leader epoch ${header.leaderEpoch} behind one of ${this.#leaderEpoch}`
        yield { type: 'note', kind: 'leader-epoch', position, text }
      }
      this.#leaderEpoch = header.leaderEpoch
      const loss = this.losses.at(-1)
      if (loss !== undefined) loss.offsetTo ??= header.baseOffset - 1
      this.nextOffset = header.lastOffset + 1
      this.endPosition = position + header.sizeBytes
      if (header.magic < MAGIC) this.#sawOldMagic = true
      yield { type: 'batch', header, position, records }
      position = this.endPosition
    }
    yield* this.#sizeEvents(position)
  }

  *#sizeEvents(position: number): Generator<LogEvent, void, undefined> {
    const { sizeBytes } = this.#file
    const offset = this.nextOffset
    if (sizeBytes > FILE_BYTES_MAX) {
      const range = { from: FILE_BYTES_MAX, to: sizeBytes }
      const text = `the file has ${sizeBytes} bytes, more than a segment can; the rest was not read`
      yield { type: 'fault', kind: 'size', range, offset, text }
    } else if (this.#faults >= FAULTS_MAX) {
      const text = `${FAULTS_MAX} faults; the rest of the file was not read`
      yield { type: 'note', kind: 'given-up', position, text }
    }
    if (this.#resync.exhausted) {
      const text =
        'too many bytes look like batches and are none; some sound ones may be passed over'
      yield { type: 'note', kind: 'given-up', position, text }
    }
  }

  #faultEvent(position: number, { kind, next, text, offset }: Fault): LogEvent {
    const range = { from: position, to: next < 0 ? this.#end : next }
    this.#faults++
    const loss = this.losses.at(-1)
    const holdsWhole = kind === 'records'
    if (loss?.to === range.from) {
      loss.to = range.to
      loss.holdsWhole ||= holdsWhole
    } else {
      const offsets = { offsetFrom: this.nextOffset, offsetTo: undefined }
      this.losses.push({ ...range, ...offsets, holdsWhole })
    }
    return { type: 'fault', kind, range, offset: offset ?? this.nextOffset, text }
  }

  #examine(position: number): Fault | { reserved: number } | Sound {
    const head = this.#file.view(position, HEADER_BYTES)
    if (head.every((byte) => byte === 0)) return this.#zeros(position)
    const header = headerAt(this.#file, position)
    if (header instanceof Error) return this.#badHeader(position, header)
    const left = this.#end - position
    const offset = this.#plausible(header) ? header.baseOffset : this.nextOffset
    if (header.sizeBytes > left) {
      const next = this.#search(position)
      const kind = next < 0 ? 'torn-tail' : 'length'
      const text = `it says it has ${header.sizeBytes} bytes, and the file ends after ${left}`
      return { kind, next, offset, text: kind === 'torn-tail' ? this.#torn(text) : text }
    }
    const next = position + header.sizeBytes
    if (!checksumMatches(this.#file, position, header)) {
      return { kind: 'crc', next: this.#believe(position, next), offset, text: this.#crcText(next) }
    }
    const wrongOffset = this.#wrongOffset(header, next)
    if (wrongOffset !== undefined) {
      return { kind: 'offset', next, offset: header.baseOffset, text: wrongOffset }
    }
    const { fault, note, records } = checkRecords(this.#file, position, header)
    if (fault !== undefined) return { kind: 'records', next, offset, text: fault }
    return { header, note, records }
  }

  #crcText(next: number): string {
    const text = 'the checksum does not match the bytes of the batch'
    return next === this.#end ? this.#torn(text) : text
  }

  #zeros(position: number): Fault | { reserved: number } {
    const nonZero = this.#file.firstNonZero(position)
    if (nonZero < 0) return { reserved: this.#file.sizeBytes - position }
    const text = `${counted(nonZero - position, 'zero')}, and other bytes behind them`
    return { kind: 'zeros', next: this.#search(position), text }
  }

  #badHeader(position: number, { code, message }: SeglogError): Fault {
    if (code === 'SHORT') {
      const left = this.#end - position
      const text = this.#torn(`the file ends after ${counted(left, 'byte')} of a header`)
      return { kind: 'torn-tail', next: -1, text }
    }
    const kind = code === 'BAD_MAGIC' ? 'magic' : code === 'OFFSET_TOO_LARGE' ? 'offset' : 'header'
    return { kind, next: this.#search(position), text: message.replace(/^\w+ at \d+: /, '') }
  }

  /** May a batch of these offsets stand behind the last sound one? */
  #plausible({ baseOffset, lastOffset }: BatchHeader): boolean {
    return baseOffset >= this.nextOffset && lastOffset <= this.#offsetMax
  }

  #wrongOffset(header: BatchHeader, next: number): string | undefined {
    const { baseOffset, lastOffset } = header
    const { nextBaseOffset } = this.#place
    if (baseOffset < this.nextOffset) return `offset ${this.nextOffset} or more is due`
    if (lastOffset > this.#offsetMax) {
      return nextBaseOffset !== undefined && lastOffset >= nextBaseOffset
        ? `offsets to ${lastOffset}, but the next segment begins at ${nextBaseOffset}`
        : `offsets to ${lastOffset}, further from the base offset than 2^31 - 1`
    }
    if (baseOffset === this.nextOffset || this.#end - next < HEADER_BYTES) return undefined
    const behind = headerAt(this.#file, next)
    if (behind instanceof Error || behind.baseOffset > lastOffset) return undefined
    if (behind.baseOffset < this.nextOffset) return undefined
    return `offset ${this.nextOffset} is due, and the batch behind begins at ${behind.baseOffset}`
  }

  /** Where to go on behind a batch with a wrong checksum whose length may be right. */
  #believe(position: number, next: number): number {
    if (next === this.#end) return next
    const header = headerAt(this.#file, next)
    if (!(header instanceof Error) && this.#plausible(header)) return next
    if (this.#file.view(next, HEADER_BYTES).every((byte) => byte === 0)) return next
    const found = this.#search(position)
    return found < 0 ? next : found
  }

  #search(position: number): number {
    const bounds: ResyncBounds = {
      end: this.#end,
      offsetMin: this.nextOffset,
      offsetMax: this.#offsetMax,
      oldMagic: this.#sawOldMagic,
    }
    return this.#resync.find(position + 1, bounds)
  }

  /** Only the end of the newest segment may be under way. */
  #torn(text: string): string {
    if (this.#place.nextBaseOffset !== undefined) return text
    return `${text}; a write that was cut short, or one under way where a broker has the log open`
  }
}
