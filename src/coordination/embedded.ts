/**
 * The coordination tree inside the process, kept in one file of the data directory.
 *
 * The file is JSON: `{ "version": 1, "znodes": { path: { "data": text, "version": n } } }`,
 * rewritten whole and atomically at each change (temporary file, sync, rename, sync of the
 * directory); it holds topics, not records, so it stays small. Ephemeral znodes are kept in memory
 * only: the session is the process. Changes run one after the other, and a change that could not be
 * written is not made.
 *
 * A file that does not parse is an error that names it: topics are never forgotten silently.
 */
import { readSmall, writeAtomically } from '../atomic-file.js'
import { SeglogError } from '../errors.js'
import type { Coordination, CreateOptions, ZNode } from './coordination.js'

interface Stored extends ZNode {
  ephemeral: boolean
}

interface TreeFile {
  version: number
  znodes: Record<string, { data: string; version: number }>
}

export class EmbeddedCoordination implements Coordination {
  readonly kind = 'embedded'
  readonly #path: string
  #znodes: Map<string, Stored>
  #written: string
  #changes: Promise<unknown> = Promise.resolve()

  private constructor(path: string, znodes: Map<string, Stored>) {
    this.#path = path
    this.#znodes = znodes
    this.#written = formatTree(znodes)
  }

  /** Reads the file, or begins an empty tree where there is none. Rejects with CORRUPT or IO. */
  static async open(path: string): Promise<EmbeddedCoordination> {
    return new EmbeddedCoordination(path, await readTree(path))
  }

  create(path: string, data: Buffer, options: CreateOptions = {}): Promise<void> {
    return this.#change((znodes) => {
      if (znodes.has(path)) throw new SeglogError('EXISTS', `znode ${path} exists`)
      for (let at = path.indexOf('/', 1); at > 0; at = path.indexOf('/', at + 1)) {
        const parent = path.slice(0, at)
        if (!znodes.has(parent)) znodes.set(parent, znode(Buffer.alloc(0)))
      }
      znodes.set(path, { ...znode(data), ephemeral: options.ephemeral ?? false })
    })
  }

  async get(path: string): Promise<ZNode | undefined> {
    const found = this.#znodes.get(path)
    return found && { data: Buffer.from(found.data), version: found.version }
  }

  async set(path: string, data: Buffer, version: number): Promise<number> {
    await this.#change((znodes) => {
      const present = expectVersion(znodes, path, version)
      znodes.set(path, { ...present, data, version: version + 1 })
    })
    return version + 1
  }

  delete(path: string, version: number): Promise<void> {
    return this.#change((znodes) => {
      expectVersion(znodes, path, version)
      znodes.delete(path)
    })
  }

  async children(path: string): Promise<string[]> {
    const prefix = path === '/' ? '/' : `${path}/`
    return [...this.#znodes.keys()]
      .filter((name) => name.startsWith(prefix) && !name.includes('/', prefix.length))
      .map((name) => name.slice(prefix.length))
      .sort()
  }

  async close(): Promise<void> {
    await this.#changes
  }

  #change(act: (znodes: Map<string, Stored>) => void): Promise<void> {
    const change = this.#changes.then(async () => {
      const changed = new Map(this.#znodes)
      act(changed)
      const text = formatTree(changed)
      // What ends with the session is not on disk, so a full disk does not keep it from changing.
      if (text !== this.#written) await writeAtomically(this.#path, text)
      this.#written = text
      this.#znodes = changed
    })
    this.#changes = change.catch(() => {})
    return change
  }
}

function znode(data: Buffer): Stored {
  return { data: Buffer.from(data), version: 0, ephemeral: false }
}

function expectVersion(znodes: Map<string, Stored>, path: string, version: number): Stored {
  const present = znodes.get(path)
  if (!present) throw new SeglogError('NOT_FOUND', `no znode ${path}`)
  if (present.version !== version) {
    throw new SeglogError(
      'CONFLICT',
      `znode ${path} has version ${present.version}, not ${version}`,
    )
  }
  return present
}

function formatTree(znodes: Map<string, Stored>): string {
  const kept = [...znodes].filter(([, { ephemeral }]) => !ephemeral)
  const file: TreeFile = { version: 1, znodes: {} }
  for (const [path, { data, version }] of kept) {
    file.znodes[path] = { data: data.toString('utf8'), version }
  }
  return `${JSON.stringify(file, undefined, 1)}\n`
}

/** What a person may have edited is looked at before it is believed. */
function stored(path: string, node: unknown): Stored {
  const { data, version } = (node ?? {}) as { data?: unknown; version?: unknown }
  if (!/^(\/[^/\0]+)+$/.test(path)) {
    throw new SeglogError('CORRUPT', `${JSON.stringify(path)} is no path of a znode`)
  }
  if (typeof data !== 'string' || typeof version !== 'number') {
    throw new SeglogError('CORRUPT', `${path} is no znode with data and version`)
  }
  if (!Number.isSafeInteger(version) || version < 0) {
    throw new SeglogError('CORRUPT', `${path} has version ${version}`)
  }
  return { data: Buffer.from(data, 'utf8'), version, ephemeral: false }
}

async function readTree(path: string): Promise<Map<string, Stored>> {
  const bytes = await readSmall(path)
  if (bytes === undefined) return new Map()
  try {
    const file = JSON.parse(bytes.toString('utf8')) as TreeFile | null
    if (file?.version !== 1) {
      throw new SeglogError('UNSUPPORTED', `version ${file?.version} is not known`)
    }
    return new Map(Object.entries(file.znodes).map(([name, node]) => [name, stored(name, node)]))
  } catch (cause) {
    throw new SeglogError('CORRUPT', `${path} is damaged: ${cause}`, { cause })
  }
}
