/**
 * What the suite `log` asks of a store: take records in order, give them back in order. Each store
 * is used as its own documentation advises for speed, and gets the same values. Its key is the
 * number of the record, in the form that the store takes fastest; in a log that is the offset.
 */
import { createRequire } from 'node:module'
import { join } from 'node:path'

/** Takes one record of a read; false ends it. The bytes are looked at during the call only. */
export type Visit = (value: Uint8Array) => boolean

export interface Store {
  /**
   * All values as one unit, in the page cache when it returns or resolves: a crash of the process
   * does not lose them.
   */
  append(values: readonly Buffer[]): undefined | PromiseLike<unknown>
  /**
   * As `append`, and on the disk, in the way that is fastest for one call at a time. REQUIRES:
   * opened as durable.
   */
  appendDurable(values: readonly Buffer[]): undefined | PromiseLike<unknown>
  /** The same without keeping the thread, where the store can: calls may overlap. */
  appendAwaited?(values: readonly Buffer[]): PromiseLike<unknown>
  /** Everything from the first record on, in order. */
  read(visit: Visit): void | Promise<void>
  close(): void | Promise<void>
}

export interface StoreKind {
  readonly name: string
  /** How it is used, for the report. */
  readonly note: string
  /** The npm package that is the store, where it is not part of the project. */
  readonly package?: string
  /** `directory` is empty. */
  open(directory: string, durable: boolean): Store | Promise<Store>
}

/** Read at once by readers that take chunks. */
export const CHUNK_BYTES = 1 << 20

/** Loads the package of another store. Throws where it is not installed. */
export function loadStore<T>(name: string): T {
  // Where `npm run bench` installs them: outside of the checkout.
  const storesDirectory = process.env.SEGLOG_BENCH_STORES
  if (storesDirectory === undefined) throw new Error(`${name}: start this with npm run bench`)
  return createRequire(join(storesDirectory, 'package.json'))(name) as T
}

/** Why a store cannot take part, or undefined. */
export function missingStore(kind: StoreKind): string | undefined {
  if (kind.package === undefined) return undefined
  try {
    loadStore(kind.package)
    return undefined
  } catch {
    return `the package ${kind.package} is not installed: npm run bench -- log installs it`
  }
}
