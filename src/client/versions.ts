/**
 * Which version of an API to use: the highest that this client's table and the broker share.
 */
import { SeglogError } from '../errors.js'
import type { Api } from '../protocol/schema.js'

/** A table of any API, whatever its types. */
type Table = Pick<Api<never>, 'key' | 'name' | 'versions'>

interface Range {
  readonly apiKey: number
  readonly minVersion: number
  readonly maxVersion: number
}

export class VersionTable {
  /** Of a broker that was not asked yet. */
  static readonly unknown = new VersionTable([])
  readonly #ranges = new Map<number, Range>()

  constructor(ranges: readonly Range[]) {
    for (const range of ranges) this.#ranges.set(range.apiKey, range)
  }

  /** The highest version that both sides speak, at most `max`; undefined where there is none. */
  highest({ key, versions }: Table, max = versions[1]): number | undefined {
    const range = this.#ranges.get(key)
    if (!range) return undefined
    const version = Math.min(range.maxVersion, versions[1], max)
    return version >= Math.max(range.minVersion, versions[0]) ? version : undefined
  }

  /** As `highest`; errors with UNSUPPORTED_VERSION, naming the `broker`. */
  choose(table: Table, broker: string, max?: number): number {
    const version = this.highest(table, max)
    if (version !== undefined) return version
    const { name, key, versions } = table
    const range = this.#ranges.get(key)
    const ours = `${versions[0]} to ${max ?? versions[1]}`
    const theirs = range ? `versions ${range.minVersion} to ${range.maxVersion}` : 'none'
    const text = `${broker}: ${name}: versions ${ours} are wanted, and the broker serves ${theirs}`
    throw new SeglogError('UNSUPPORTED_VERSION', text)
  }
}
