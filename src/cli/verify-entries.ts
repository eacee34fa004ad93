/**
 * The entries of an index file one by one, with what makes it no whole file: an entry that the end
 * cuts, zeros that other entries follow. Zeros up to the end are space reserved for entries.
 *
 * A wrong file may be of any size and wrong at every entry: behind a bound of either it is left.
 */
import { type FileWindow, SPARSE_BYTES } from './file-window.js'
import { counted } from './output.js'

const FAULTS_MAX = 1000

export type IndexFaultKind =
  | 'index-torn'
  | 'index-zeros'
  | 'index-order'
  | 'index-past-end'
  | 'index-no-batch'
  | 'index-wrong-batch'
  | 'index-wrong-time'

/** What is wrong with an entry. */
export interface IndexFault {
  kind: IndexFaultKind
  /** Of the entry in its file. */
  position: number
  /** That the entry names. */
  offset?: number | undefined
  text: string
}

export class EntryReader {
  readonly #file: FileWindow
  readonly #entryBytes: number
  readonly #end: number
  #position = 0
  #faults: IndexFault[] = []
  #faultCount = 0

  constructor(file: FileWindow, entryBytes: number) {
    this.#file = file
    this.#entryBytes = entryBytes
    // No index is larger than its log.
    this.#end = Math.min(file.sizeBytes, 2 ** 31 + SPARSE_BYTES)
  }

  /** Where the entry is that `next` gives. */
  get position(): number {
    return this.#position
  }

  /** The bytes of the next entry, valid until the next call; undefined at the end. */
  next(): Buffer | undefined {
    this.#passZeros()
    const bytes = this.peek()
    if (bytes === undefined) return undefined
    if (bytes.length < this.#entryBytes) {
      const text = `the file ends after ${counted(bytes.length, 'byte')} of an entry`
      this.fault({ kind: 'index-torn', position: this.#position, text })
      this.#position = this.#end
      return undefined
    }
    this.#position += this.#entryBytes
    return bytes
  }

  /** As `next`, without going there; it may be cut or of zeros. */
  peek(): Buffer | undefined {
    if (this.#position >= this.#end) return undefined
    return this.#file.view(this.#position, this.#entryBytes)
  }

  fault(fault: IndexFault): void {
    this.#faultCount++
    if (this.#faultCount < FAULTS_MAX) this.#faults.push(fault)
    else if (this.#faultCount === FAULTS_MAX) {
      this.#faults.push({ ...fault, text: `${fault.text}; the rest of the file was not read` })
      this.#position = this.#end
    }
  }

  /** The faults since the last call. */
  takeFaults(): IndexFault[] {
    const faults = this.#faults
    if (faults.length > 0) this.#faults = []
    return faults
  }

  #passZeros(): void {
    const position = this.#position
    if (this.peek()?.some((byte) => byte !== 0) ?? true) return
    const nonZero = this.#file.firstNonZero(position)
    if (nonZero < 0) {
      this.#position = this.#end
      return
    }
    const next = nonZero - (nonZero % this.#entryBytes)
    // The first entry may be of zeros: time 0 at the base offset.
    if (position === 0 && next === this.#entryBytes) return
    const text = `${counted(next - position, 'zero')}, and entries behind them`
    this.fault({ kind: 'index-zeros', position, text })
    this.#position = Math.min(next, this.#end)
  }
}
