/**
 * Repairs one log by what verifying it found. Everything that is changed is copied before:
 *
 *   damage behind the last sound batch of the newest segment is cut off, as an open would;
 *   damage before that is kept, or, where asked for, left out of a rewritten segment, whose other
 *     batches keep their offsets;
 *   indexes that lack or have faults are made anew, and so are those of a segment that changed;
 *   a checkpoint or snapshot with faults is removed: it is derived from the log when that opens.
 */
import { readdirSync } from 'node:fs'
import { open, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { syncDirectory } from '../atomic-file.js'
import { FileWindow, WINDOW_BYTES } from './file-window.js'
import type { Backup } from './repair-backup.js'
import { indexPaths, makeIndexes, Replacement } from './repair-index.js'
import type { Actions } from './repair-report.js'
import { isDerived } from './small-files.js'
import type { Loss } from './verify-log.js'
import type { VerifiedLog, VerifiedSegment } from './verify-partition.js'

export interface RepairOptions {
  /** Leave out damaged batches before sound ones. */
  dropDamaged: boolean
  /** Say what would be done, and change nothing. */
  dryRun: boolean
}

type Segment = VerifiedSegment & { baseOffset: number }

export class PartitionRepair {
  readonly #options: RepairOptions
  readonly #backup: Backup
  readonly #actions: Actions

  constructor(options: RepairOptions, backup: Backup, actions: Actions) {
    this.#options = options
    this.#backup = backup
    this.#actions = actions
  }

  async run(log: VerifiedLog): Promise<void> {
    const newest = log.segments.at(-1)
    let lostEnd = false
    for (const segment of log.segments) {
      const isNewest = segment === newest
      const { removed } = await this.#segment(segment, isNewest)
      lostEnd = isNewest && segment.isTorn && removed
    }
    const beyond = newest !== undefined && lostEnd ? snapshotsBeyond(newest) : []
    for (const path of beyond) {
      await this.#remove(path, 'a snapshot of producers beyond the end of the log')
    }
    for (const path of log.faultyFiles) {
      if (!beyond.includes(path)) await this.#file(path)
    }
  }

  /** A small file that is not sound. */
  async #file(path: string): Promise<void> {
    if (!isDerived(path)) {
      this.#actions.kept(path, 'it cannot be derived from anything; restore it by hand')
      return
    }
    await this.#remove(path, 'what it held is derived from the logs when they are opened')
  }

  async #remove(path: string, text: string): Promise<void> {
    await this.#change([path], async () => {
      await rm(path)
      await syncDirectory(dirname(path))
    })
    this.#actions.done('remove', path, text)
  }

  /** `removed`: its damage is gone, as far as it was not kept. */
  async #segment(segment: Segment, isNewest: boolean): Promise<{ removed: boolean }> {
    const { path, losses, isComplete } = segment
    if (!isComplete) {
      this.#actions.kept(path, 'it cannot be read to its end, so nothing of it is changed')
      return { removed: false }
    }
    // Only a copy that lacks them is written anew; a torn tail alone is cut in place.
    const isCut = isNewest && segment.isTorn && losses.at(-1)?.holdsWhole === false
    const middle = isCut ? losses.slice(0, -1) : losses
    const isRewritten = this.#options.dropDamaged && middle.length > 0
    const files = [path, ...indexPaths(path)]
    if (isRewritten) {
      await this.#change(files, () => rewrite(segment))
    } else if (isCut) {
      await this.#change(files, () => cut(segment))
    }
    for (const loss of isRewritten ? losses : isCut ? losses.slice(-1) : []) {
      const action = isRewritten ? 'drop' : 'cut'
      this.#actions.lost(action, path, loss, lostOffsets(segment, loss))
    }
    if (!isRewritten) {
      for (const loss of middle) {
        this.#actions.keptLoss(path, loss, lostOffsets(segment, loss))
      }
    }
    const removed = isRewritten || isCut
    if (removed || segment.needsIndexes) await this.#indexes(segment)
    return { removed }
  }

  async #indexes(segment: Segment): Promise<void> {
    await this.#change(indexPaths(segment.path), () => makeIndexes(segment))
    for (const path of indexPaths(segment.path)) {
      this.#actions.done('index', path, 'from the log')
    }
  }

  async #change(paths: readonly string[], change: () => Promise<void>): Promise<void> {
    if (this.#options.dryRun) return
    for (const path of paths) await this.#backup.take(path)
    await change()
  }
}

/** Snapshots that count batches which are gone. */
function snapshotsBeyond({ path, nextOffset }: Segment): string[] {
  const folder = dirname(path)
  return readdirSync(folder)
    .filter((name) => Number(/^(\d{20})\.snapshot$/.exec(name)?.[1] ?? 0) > nextOffset)
    .map((name) => join(folder, name))
}

/** In words: what the damage takes with it. */
function lostOffsets({ nextBaseOffset }: Segment, { offsetFrom, offsetTo }: Loss): string {
  const last = offsetTo ?? (nextBaseOffset === undefined ? undefined : nextBaseOffset - 1)
  if (last === undefined) return `offsets from ${offsetFrom} on`
  if (last < offsetFrom) return 'no offset that is not stored elsewhere'
  return last === offsetFrom ? `offset ${last}` : `offsets ${offsetFrom} to ${last}`
}

async function cut({ path, endPosition }: VerifiedSegment): Promise<void> {
  const file = await open(path, 'r+')
  try {
    await file.truncate(endPosition)
    await file.sync()
  } finally {
    await file.close()
  }
}

/** Replaces the .log by one that holds its sound batches alone. */
async function rewrite({ path, losses, endPosition }: VerifiedSegment): Promise<void> {
  const log = new FileWindow(path)
  try {
    const copy = new Replacement(path)
    let from = 0
    for (const loss of [...losses, { from: endPosition, to: endPosition }]) {
      const to = Math.min(loss.from, endPosition)
      for (let at = from; at < to; at += WINDOW_BYTES) {
        const bytes = Buffer.allocUnsafe(Math.min(WINDOW_BYTES, to - at))
        log.read(at, bytes)
        copy.write(bytes)
      }
      from = loss.to
    }
    await copy.finish()
  } finally {
    log.close()
  }
}
