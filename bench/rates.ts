/**
 * Tables of rates: who does how many of something a second, at several sizes, and how many times
 * faster the first one is than each of the others.
 */
import { ratiosOf, type Spread, spreadOf } from './statistics.js'

export interface RateCell {
  /** One number for each round. */
  perSecond: number[]
  spread: Spread
  /** How many times the rate of the first row is this one, a ratio for each round. */
  ratio?: Spread
}

export interface RateRow {
  name: string
  /** In the order of `sizes`. Null where this one does not do it. */
  cells: (RateCell | null)[]
}

export interface RateTable {
  title: string
  /** What is counted: records, batches. */
  unit: string
  /** Bytes. */
  sizes: number[]
  rows: RateRow[]
}

/** A row before it is compared: rates for each size, in the order of rounds. */
export interface Rates {
  name: string
  perSecond: (readonly number[])[]
}

export function rateTable(
  title: string,
  unit: string,
  sizes: readonly number[],
  rates: readonly Rates[],
): RateTable {
  const first = rates[0]
  const rows = rates.map(({ name, perSecond }) => ({
    name,
    cells: perSecond.map((each, index): RateCell | null => {
      if (each.length === 0) return null
      const cell: RateCell = { perSecond: [...each], spread: spreadOf(each) }
      const own = first?.perSecond[index] ?? []
      // Rates, not times: the quotient is turned round.
      if (name !== first?.name && own.length > 0) cell.ratio = spreadOf(ratiosOf(each, own))
      return cell
    }),
  }))
  return { title, unit, sizes: [...sizes], rows }
}
