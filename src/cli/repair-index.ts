/**
 * Makes the two indexes of a segment anew from its sound batches, by Kafka's rule: a batch gets an
 * entry when it begins more than the interval behind the batch of the entry before; with it goes a
 * time entry where the largest timestamp so far has grown, and one more at the end.
 *
 * Written beside and renamed, so that a crash leaves the old or the new file; Kafka removes a
 * `.cleaned` that is left over.
 */
import { closeSync, fsyncSync, openSync, renameSync, writeSync } from 'node:fs'
import { dirname } from 'node:path'
import { syncDirectory } from '../atomic-file.js'
import type { BatchHeader } from '../records/index.js'
import { defaultLogOptions } from '../storage/log-options.js'
import { FileWindow } from './file-window.js'
import { LogWalk } from './verify-log.js'
import type { SegmentFile } from './verify-partition.js'

const PIECE_BYTES = 64 * 1024

/** A file that takes the place of another once it is whole. */
export class Replacement {
  readonly #path: string
  readonly #fd: number
  #pieces: Buffer[] = []
  #pendingBytes = 0

  constructor(path: string) {
    this.#path = path
    this.#fd = openSync(`${path}.cleaned`, 'w')
  }

  write(bytes: Buffer): void {
    this.#pieces.push(bytes)
    this.#pendingBytes += bytes.length
    if (this.#pendingBytes >= PIECE_BYTES) this.#drain()
  }

  #drain(): void {
    const bytes = Buffer.concat(this.#pieces)
    for (let at = 0; at < bytes.length; ) at += writeSync(this.#fd, bytes, at)
    this.#pieces = []
    this.#pendingBytes = 0
  }

  /** Syncs and takes the place. */
  async finish(): Promise<void> {
    this.#drain()
    fsyncSync(this.#fd)
    closeSync(this.#fd)
    renameSync(`${this.#path}.cleaned`, this.#path)
    await syncDirectory(dirname(this.#path))
  }
}

/** The paths of the two indexes of a .log file. */
export function indexPaths(logPath: string): [index: string, timeIndex: string] {
  const stem = logPath.replace(/\.log$/, '')
  return [`${stem}.index`, `${stem}.timeindex`]
}

/** Errors: those of node:fs. */
export async function makeIndexes(segment: SegmentFile & { baseOffset: number }): Promise<void> {
  const [indexPath, timeIndexPath] = indexPaths(segment.path)
  const log = new FileWindow(segment.path)
  try {
    const entries = new IndexEntries(segment.baseOffset, {
      index: new Replacement(indexPath),
      timeIndex: new Replacement(timeIndexPath),
    })
    for (const event of new LogWalk(log, segment).events()) {
      if (event.type === 'batch') entries.add(event.header, event.position)
    }
    await entries.finish()
  } finally {
    log.close()
  }
}

class IndexEntries {
  readonly #baseOffset: number
  readonly #files: { index: Replacement; timeIndex: Replacement }
  #lastIndexed = 0
  #latest = { timestamp: -1, offset: 0 }
  #lastTimestamp = -1

  constructor(baseOffset: number, files: { index: Replacement; timeIndex: Replacement }) {
    this.#baseOffset = baseOffset
    this.#files = files
  }

  add({ lastOffset, maxTimestamp }: BatchHeader, position: number): void {
    if (maxTimestamp > this.#latest.timestamp) {
      this.#latest = { timestamp: maxTimestamp, offset: lastOffset }
    }
    if (position - this.#lastIndexed <= defaultLogOptions.indexIntervalBytes) return
    this.#lastIndexed = position
    const entry = Buffer.alloc(8)
    entry.writeInt32BE(lastOffset - this.#baseOffset, 0)
    entry.writeInt32BE(position, 4)
    this.#files.index.write(entry)
    this.#addTime()
  }

  #addTime(): void {
    const { timestamp, offset } = this.#latest
    if (timestamp <= this.#lastTimestamp) return
    this.#lastTimestamp = timestamp
    const entry = Buffer.alloc(12)
    entry.writeBigInt64BE(BigInt(timestamp), 0)
    entry.writeInt32BE(offset - this.#baseOffset, 8)
    this.#files.timeIndex.write(entry)
  }

  async finish(): Promise<void> {
    this.#addTime()
    await this.#files.index.finish()
    await this.#files.timeIndex.finish()
  }
}
