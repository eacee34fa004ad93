/**
 * How the files of a segment leave a log: under their names at once, from the disk later.
 *
 * Every file is renamed to `*.deleted` first, so that the next start does not take it for a part of
 * the log, and unlinked after a delay, as Kafka does (`file.delete.delay.ms`); until then those who
 * read it are not disturbed. Renames and unlinks run in the pool. What a killed process leaves is
 * removed at the next start.
 */
import { rename, unlink } from 'node:fs/promises'
import { join } from 'node:path'
import { ioError, isMissing } from '../atomic-file.js'
import type { Env, Timer } from '../env.js'
import { native } from '../native.js'
import { DELETED_ENDING, segmentName } from './log-files.js'
import type { SegmentEntry } from './segments.js'

/** The longest time that a timer can wait. */
const TIMER_MS_MAX = 2 ** 31 - 1

interface Removed {
  readonly segment: SegmentEntry
  /** Where the state of the producers below it lies. */
  snapshot: string | undefined
  timer: Timer | undefined
}

interface RemovalOptions {
  /** What has to be done first. */
  before?: Promise<void> | undefined
  /** The base offset whose snapshot of producers stays. */
  keptSnapshot?: number | undefined
}

export class SegmentRemoval {
  readonly #directory: string
  readonly #env: Pick<Env, 'after'>
  readonly #removed = new Set<Removed>()
  readonly #renaming = new Set<Promise<void>>()
  readonly #unlinking = new Set<Promise<void>>()
  #twins = 0

  constructor(directory: string, env: Pick<Env, 'after'>) {
    this.#directory = directory
    this.#env = env
  }

  /** Segments whose files wait for their end, for tests and metrics. */
  get waiting(): number {
    return this.#removed.size
  }

  /**
   * Renames the files of `segments`, which their log has let go of; resolves when all have their
   * new names. Handles stay open until the files are unlinked.
   * Rejects with IO.
   */
  remove(
    segments: readonly SegmentEntry[],
    delayMs: number,
    { before = Promise.resolve(), keptSnapshot }: RemovalOptions = {},
  ): Promise<void> {
    const renaming = before
      .then(() => this.#renameAll(segments, delayMs, keptSnapshot))
      .finally(() => this.#renaming.delete(renaming))
    this.#renaming.add(renaming)
    return renaming
  }

  async #renameAll(
    segments: readonly SegmentEntry[],
    delayMs: number,
    keptSnapshot: number | undefined,
  ): Promise<void> {
    for (const segment of segments) {
      const removed: Removed = { segment, snapshot: undefined, timer: undefined }
      const ending = this.#endingFor(segment)
      this.#removed.add(removed)
      await native.segmentRename(segment.handle, ending)
      const path = join(this.#directory, `${segmentName(segment.baseOffset)}.snapshot`)
      const isKept = segment.baseOffset === keptSnapshot
      if (!isKept && (await renameIfThere(path, path + ending))) removed.snapshot = path + ending
      removed.timer = this.#env.after(Math.min(delayMs, TIMER_MS_MAX), () =>
        this.#unlinkSoon(removed),
      )
    }
  }

  /** Another one of the same base may wait: whoever reads that must not find this one's bytes. */
  #endingFor({ baseOffset }: SegmentEntry): string {
    const isTaken = [...this.#removed].some(({ segment }) => segment.baseOffset === baseOffset)
    if (!isTaken) return DELETED_ENDING
    this.#twins++
    return `.${this.#twins}${DELETED_ENDING}`
  }

  #unlinkSoon(removed: Removed): void {
    removed.timer?.cancel()
    if (!this.#removed.delete(removed)) return
    const unlinking = this.#unlink(removed).finally(() => this.#unlinking.delete(unlinking))
    this.#unlinking.add(unlinking)
  }

  /** What stays of it is removed at the next start, so that nobody needs to hear of a failure. */
  async #unlink({ segment, snapshot }: Removed): Promise<void> {
    await native.segmentDelete(segment.handle).catch(() => {})
    if (snapshot !== undefined) await unlinkQuietly(snapshot)
  }

  /** Resolves when no rename is under way; never rejects. */
  async settled(): Promise<void> {
    await Promise.allSettled([...this.#renaming])
  }

  /** Unlinks at once what waits, and resolves when nothing is left to do. */
  async close(): Promise<void> {
    await this.settled()
    for (const removed of [...this.#removed]) this.#unlinkSoon(removed)
    await Promise.all([...this.#unlinking])
  }
}

/** Returns whether there was such a file. */
export async function renameIfThere(from: string, to: string): Promise<boolean> {
  try {
    await rename(from, to)
    return true
  } catch (error) {
    if (isMissing(error)) return false
    throw ioError(from, error)
  }
}

/** A file that stays is removed at the next start. */
export async function unlinkQuietly(path: string): Promise<void> {
  await unlink(path).catch(() => {})
}
