/**
 * Brings a log to the disk: one sync at a time, shared by all who ask meanwhile (group commit), and
 * the memory of a failure.
 *
 * A sync or a write that fails fences the log, because the kernel forgets what it could not write:
 * a later sync that succeeds would say nothing. Where a file or the directory cannot even be opened
 * for its sync, nothing was lost and nothing is fenced: the flush rejects, and the next one tries
 * again, as does the next seal where a seal found no descriptor.
 *
 * A new name in the directory is synced before what stands in the file counts as durable.
 */
import { join } from 'node:path'
import { ioError } from '../atomic-file.js'
import { SeglogError } from '../errors.js'
import { native, Status, statusError } from '../native.js'
import { syncPath, syncPathNow } from '../native-files.js'
import { segmentName } from './log-files.js'
import type { SegmentEntry } from './segments.js'

/** The log as its flusher sees it. */
export interface Flushable {
  readonly directory: string
  readonly endOffset: number
  readonly recoveryPoint: number
  readonly activeHandle: number
  /** All below `offset` is on disk. */
  flushed(offset: number): void
  /** The log was fenced, once. */
  failed(error: SeglogError): void
}

/** A segment that waits for its seal keeps a descriptor and mappings. */
const SEALS_MAX = 64

/** Nothing was tried for want of a descriptor, and nothing is lost. */
const isWantOfFiles = (error: unknown): error is SeglogError =>
  error instanceof SeglogError && error.code === 'TOO_MANY_FILES'

export class Flusher {
  readonly #log: Flushable
  /** Base offsets of older segments that the last user may not have synced. */
  readonly #unsynced: Set<number>
  readonly #sealing = new Set<Promise<void>>()
  /** Handles of the segments that are being sealed, the oldest first. */
  readonly #unsettled = new Set<number>()
  /** Segments whose seal found no descriptor, by base offset. */
  readonly #unsealed = new Map<number, SegmentEntry>()
  #directoryDirty: boolean
  #round: Promise<void> | undefined
  #roundEnd = 0
  /** The round, as long as what is appended now is part of it. */
  #gathering: Promise<void> | undefined
  /** All sealed segments end at or below. */
  #sealedEnd = 0
  #fenced: SeglogError | undefined
  #held: Promise<void> | undefined

  /** `directoryDirty`: names of files may not be on disk yet. */
  constructor(log: Flushable, unsynced: Iterable<number>, directoryDirty: boolean) {
    this.#log = log
    this.#unsynced = new Set(unsynced)
    this.#directoryDirty = directoryDirty
  }

  /** Why nothing may be written any more. */
  get fenced(): SeglogError | undefined {
    return this.#fenced
  }

  /** Everything below is on disk, or will be when the sync that runs is done. */
  get coveredOffset(): number {
    return this.#round !== undefined ? this.#roundEnd : this.#log.recoveryPoint
  }

  fence(error: unknown): void {
    if (this.#fenced) return
    this.#fenced = error instanceof SeglogError ? error : ioError(this.#log.directory, error)
    this.#log.failed(this.#fenced)
  }

  /** A file was made, renamed or removed. */
  directoryChanged(): void {
    this.#directoryDirty = true
  }

  /**
   * Seals a segment that was rolled; the next flush waits for it. A seal syncs, so that the
   * recovery point follows the rolls of a log that is never flushed.
   */
  seal(segment: SegmentEntry): void {
    this.#sealAgain()
    this.#seal(segment)
  }

  #sealAgain(): void {
    for (const segment of this.#unsealed.values()) this.#seal(segment)
  }

  #seal(segment: SegmentEntry): void {
    const { handle, baseOffset, nextOffset } = segment
    this.#unsealed.delete(baseOffset)
    this.#unsettled.add(handle)
    const sealing = native
      .segmentSeal(handle)
      .catch((error) => {
        if (isWantOfFiles(error)) this.#unsealed.set(baseOffset, segment)
        else this.fence(error)
      })
      .finally(() => {
        this.#sealing.delete(sealing)
        this.#unsettled.delete(handle)
        this.#follow(nextOffset)
      })
    this.#sealing.add(sealing)
  }

  /** Whether so many seals are under way that the next roll should wait for one. */
  get isSealingMany(): boolean {
    return this.#unsettled.size >= SEALS_MAX
  }

  /**
   * Has the oldest seal under way done at once, while everything waits, so that its descriptor is
   * free. Returns false where none is under way. Where the seal fails, the log is fenced.
   */
  sealOldest(): boolean {
    const [handle] = this.#unsettled
    if (handle === undefined) return false
    this.#unsettled.delete(handle)
    const status = native.segmentSealNow(handle)
    // Without a descriptor it is left to the seal under way, and to those after it.
    if (status < 0 && status !== Status.TOO_MANY_FILES) {
      this.fence(statusError(status, this.#log.directory))
    }
    return true
  }

  #follow(endOffset: number): void {
    this.#sealedEnd = Math.max(this.#sealedEnd, endOffset)
    const isBehind = this.#sealing.size > 0 || this.#unsealed.size > 0 || this.#unsynced.size > 0
    if (isBehind || this.#round || this.#held || this.#fenced) return
    const end = this.#sealedEnd
    if (end <= this.#log.recoveryPoint) return
    this.#roundEnd = end
    // Whoever waits for this round tries again after a failure that fenced nothing.
    this.#round = this.#syncNames()
      .then(() => this.#log.flushed(end))
      .catch(() => {
        this.#sealedEnd = 0
      })
      .finally(() => {
        this.#round = undefined
        this.#follow(0)
      })
  }

  async #syncNames(): Promise<void> {
    if (!this.#directoryDirty) return
    // What changes from here on is for the next one.
    this.#directoryDirty = false
    try {
      await this.#syncPath(this.#log.directory)
    } catch (error) {
      this.#directoryDirty = true
      throw error
    }
  }

  /** A path that cannot be opened has not failed to reach the disk, and fences nothing. */
  async #syncPath(path: string): Promise<void> {
    let unopened: SeglogError | undefined
    await this.#orFence([
      syncPath(path).then((error) => {
        unopened = error
      }),
    ])
    if (unopened) throw unopened
  }

  /** The file of a segment is gone, or is the active one. */
  forget(baseOffset: number): void {
    this.#unsynced.delete(baseOffset)
    this.#unsealed.delete(baseOffset)
  }

  /** A segment whose file was written and not synced is active no longer. */
  owe(baseOffset: number): void {
    this.#unsynced.add(baseOffset)
  }

  /**
   * Resolves once everything below `offset`, or below the log's end where that is lower by then, is
   * on disk with the names of its files. Rejects with IO or FENCED, the log being fenced, and with
   * TOO_MANY_FILES, after which another call may do better.
   */
  flush(offset: number, isOver: () => boolean): Promise<void> {
    // All who come before it begins share the promise of one round.
    return this.#gathering ?? this.#flush(offset, isOver)
  }

  async #flush(offset: number, isOver: () => boolean): Promise<void> {
    const target = () => Math.min(offset, this.#log.endOffset)
    while (this.#log.recoveryPoint < target() || this.#directoryDirty) {
      if (this.#held !== undefined) {
        await this.#held
        continue
      }
      if (isOver()) return
      if (this.#fenced) throw this.#fenced
      await (this.#round ?? this.#begin())
    }
  }

  #begin(): Promise<void> {
    this.#gathering = this.#round = this.#sync().finally(() => {
      this.#round = undefined
      this.#follow(0)
    })
    return this.#round
  }

  /**
   * As `flush` up to the log's end, before it returns. Throws what that rejects with, and READ_ONLY
   * while something holds the syncs.
   */
  flushNow(): void {
    if (this.#fenced) throw this.#fenced
    const { directory, endOffset, recoveryPoint, activeHandle } = this.#log
    if (recoveryPoint >= endOffset && !this.#directoryDirty) return
    if (this.#held !== undefined) {
      throw new SeglogError('READ_ONLY', `${directory} is being changed; call again after it`)
    }
    this.#sealAgain()
    for (const handle of this.#unsettled) this.#orFenceNow(native.segmentSealNow(handle))
    this.#orFenceNow(native.segmentFlushNow(activeHandle))
    for (const baseOffset of this.#unsynced) {
      this.#syncPathNow(join(directory, `${segmentName(baseOffset)}.log`))
      this.#unsynced.delete(baseOffset)
    }
    if (this.#directoryDirty) this.#syncPathNow(directory)
    this.#directoryDirty = false
    this.#log.flushed(endOffset)
  }

  #orFenceNow(status: number): void {
    if (status >= 0) return
    const error = statusError(status, this.#log.directory)
    if (!isWantOfFiles(error)) this.fence(error)
    throw error
  }

  #syncPathNow(path: string): void {
    let unopened: SeglogError | undefined
    try {
      unopened = syncPathNow(path)
    } catch (error) {
      this.fence(error)
      throw error
    }
    if (unopened) throw unopened
  }

  async #sync(): Promise<void> {
    this.#roundEnd = this.#log.endOffset
    // Whoever appends as soon as the round before is over belongs to this one.
    await new Promise<void>((resolve) => process.nextTick(resolve))
    this.#gathering = undefined
    const end = this.#log.endOffset
    this.#roundEnd = end
    this.#sealAgain()
    await this.#orFence([...this.#sealing, native.segmentFlush(this.#log.activeHandle)])
    if (this.#unsealed.size > 0) {
      const text = `${this.#log.directory} has segments that cannot be opened for their sync`
      throw new SeglogError('TOO_MANY_FILES', text)
    }
    await this.#syncOlder()
    await this.#syncNames()
    if (this.#fenced) throw this.#fenced
    this.#log.flushed(end)
  }

  async #syncOlder(): Promise<void> {
    for (const baseOffset of [...this.#unsynced]) {
      if (!this.#unsynced.has(baseOffset)) continue
      await this.#syncPath(join(this.#log.directory, `${segmentName(baseOffset)}.log`))
      this.#unsynced.delete(baseOffset)
    }
  }

  async #orFence(syncs: Promise<void>[]): Promise<void> {
    try {
      await Promise.all(syncs)
    } catch (error) {
      if (isWantOfFiles(error)) throw error
      this.fence(error)
    }
    if (this.#fenced) throw this.#fenced
  }

  /** Lets no sync begin while `work` runs, which itself begins when none is under way. */
  async hold<T>(work: () => Promise<T>): Promise<T> {
    let release = () => {}
    this.#held = new Promise<void>((resolve) => {
      release = resolve
    })
    try {
      await this.settled()
      return await work()
    } finally {
      this.#sealedEnd = 0
      this.#held = undefined
      release()
    }
  }

  /** Resolves when no sync and no seal is under way; never rejects. */
  async settled(): Promise<void> {
    await this.#round?.catch(() => {})
    await Promise.all(this.#sealing)
  }

  /** The last sync of a log whose segments are closed: of older files and of the directory. */
  async finish(): Promise<void> {
    if (this.#fenced) throw this.#fenced
    await this.#syncOlder()
    this.#directoryDirty = true
    await this.#syncNames()
  }
}
