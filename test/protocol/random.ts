/**
 * Random numbers that a seed repeats, for tests that print their seed. Not for anything but tests.
 */

export interface Random {
  /** A whole number in [0, below). */
  below(below: number): number
  /** True with the given chance. */
  chance(probability: number): boolean
  pick<T>(items: readonly T[]): T
  bytes(length: number): Uint8Array
}

/** The generator "mulberry32". */
export function seeded(seed: number): Random {
  let state = seed >>> 0
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0
    let t = state
    t = Math.imul(t ^ (t >>> 15), t | 1)
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61)
    return ((t ^ (t >>> 14)) >>> 0) / 0x100000000
  }
  const below = (limit: number) => Math.floor(next() * limit)
  return {
    below,
    chance: (probability) => next() < probability,
    pick: (items) => items[below(items.length)]!,
    bytes: (length) => Uint8Array.from({ length }, () => below(256)),
  }
}
