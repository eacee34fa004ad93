/**
 * Copies of what a repair changes: the whole files as they were, under the same relative paths,
 * synced before the first change and never removed.
 *
 * A log directory may hold no folder that is no partition, or Kafka refuses to start. So the copies
 * go beside the outermost log directory that holds the path.
 */
import { constants, existsSync, readdirSync } from 'node:fs'
import { copyFile, mkdir, open, utimes } from 'node:fs/promises'
import { basename, dirname, join, relative, resolve } from 'node:path'
import { syncDirectory } from '../atomic-file.js'
import { SeglogError } from '../errors.js'
import { outermostBrokerDirectory } from './verify-target.js'

export class Backup {
  /** Where the copies go. */
  readonly directory: string
  /** Paths below the copies are relative to it. */
  readonly #root: string
  readonly #copied = new Set<string>()

  /**
   * `path` is the partition or log directory to be repaired, absolute. Errors: BAD_ARGUMENT, where
   * the chosen place is taken or lies in a log directory.
   */
  constructor(path: string, chosen: string | undefined, nowMs: number) {
    const beside = outermostBrokerDirectory(path) ?? path
    const time = new Date(nowMs).toISOString().replace(/[-:]|\.\d+/g, '')
    this.directory = chosen === undefined ? `${beside}.backup-${time}` : resolve(chosen)
    this.#root = dirname(path)
    if (existsSync(this.directory) && readdirSync(this.directory).length > 0) {
      throw new SeglogError('BAD_ARGUMENT', `${this.directory} is there already and not empty`)
    }
    const within = relative(path, this.directory)
    const isWithin = within === '' || !within.startsWith('..')
    if (isWithin || outermostBrokerDirectory(this.directory) !== undefined) {
      const text = `${this.directory} lies in a log directory, where Kafka takes no other folder`
      throw new SeglogError('BAD_ARGUMENT', text)
    }
  }

  get isUsed(): boolean {
    return this.#copied.size > 0
  }

  /** Copies a file, once, and syncs the copy. Where there is no such file, nothing is done. */
  async take(path: string): Promise<void> {
    if (this.#copied.has(path) || !existsSync(path)) return
    const copy = join(this.directory, relative(this.#root, path))
    await mkdir(dirname(copy), { recursive: true })
    await copyFile(path, copy, constants.COPYFILE_EXCL | constants.COPYFILE_FICLONE)
    const [source, file] = [await open(path, 'r'), await open(copy, 'r+')]
    try {
      const { atime, mtime } = await source.stat()
      await utimes(copy, atime, mtime)
      await file.sync()
    } finally {
      await source.close()
      await file.close()
    }
    await this.#syncFolders(dirname(copy))
    this.#copied.add(path)
  }

  async #syncFolders(from: string): Promise<void> {
    for (let folder = from; ; folder = dirname(folder)) {
      await syncDirectory(folder)
      if (folder === dirname(this.directory) || basename(folder) === '') return
    }
  }
}
