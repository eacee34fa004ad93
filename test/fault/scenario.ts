/**
 * What a seed stands for: the options of a log, what is done to it, and each record of it. Records
 * depend on seed, generation and offset alone, so that whoever knows these can judge any record;
 * the generation rises with every truncation.
 */

import type { OpenLogOptions } from '../../src/library/options.js'
import type { CompressionName } from '../../src/records/compression.js'
import type { RecordInput } from '../../src/records/record.js'
import { type Random, seeded } from '../protocol/random.js'

export interface Scenario {
  seed: number
  options: OpenLogOptions
  steps: number
  /** Chances of each step; what is left of 1 is a plain append. */
  chances: Record<'durable' | 'flush' | 'roll' | 'pause' | 'truncate' | 'deleteBefore', number>
  recordsMax: number
  valueBytesMax: number
  codecs: readonly CompressionName[]
  /** Whether the writer closes its log at the end. */
  closes: boolean
}

export const NOW = 1_700_000_000_000

export function scenario(seed: number): Scenario {
  const random = seeded(seed)
  const segmentBytes = random.pick([600, 2000, 8000, 40_000, 400_000, 1_200_000])
  const flushes = random.pick([{}, {}, { messages: 1 }, { messages: 50 }, { ms: 5 }])
  const often = random.pick([0, 0.05, 0.3])
  const recordsMax = random.pick([1, 3, 12])
  const valueBytesMax = segmentBytes > 100_000 ? 900 : random.pick([10, 100, 900, 6000])
  // Opening and closing a log takes a while per segment, and what matters happens with few.
  const stepBytes = 61 + (recordsMax / 2) * (20 + valueBytesMax / 4)
  const most = Math.min((30 * segmentBytes) / stepBytes, 3000 / recordsMax)
  const steps = Math.min(random.pick([60, 200, 900]), Math.ceil(most))
  return {
    seed,
    options: {
      segmentBytes,
      indexIntervalBytes: random.pick([1, 200, 4096]),
      flush: flushes,
    },
    steps,
    chances: {
      durable: often,
      flush: random.pick([0, 0.02]),
      roll: random.pick([0, 0.02, 0.1]),
      pause: random.pick([0.01, 0.2]),
      truncate: random.pick([0, 0.02]),
      deleteBefore: random.pick([0, 0.01]),
    },
    recordsMax,
    valueBytesMax,
    codecs: random.pick([['none'], ['none'], ['none', 'gzip', 'snappy', 'lz4', 'zstd']] as const),
    closes: random.chance(0.3),
  }
}

/** The only record that may stand at an offset in a generation. */
export function recordAt(
  { seed, valueBytesMax }: Scenario,
  generation: number,
  offset: number,
): RecordInput & { timestamp: number } {
  const random = seeded(seed * 31 + generation * 7919 + offset)
  const value = random.chance(0.1)
    ? null
    : Buffer.alloc(random.below(random.below(valueBytesMax + 1) + 1), random.below(256))
  const headers = random.chance(0.2) ? [{ key: `h${offset}`, value: random.bytes(3) }] : []
  // Times rise on the whole, and not from record to record.
  const timestamp = NOW + offset * 10 + random.below(300)
  return { key: `${generation}:${offset}`, value, headers, timestamp }
}

export function recordsFrom(
  chosen: Scenario,
  generation: number,
  offset: number,
  random: Random,
): RecordInput[] {
  const length = 1 + random.below(chosen.recordsMax)
  return Array.from({ length }, (_, i) => recordAt(chosen, generation, offset + i))
}
