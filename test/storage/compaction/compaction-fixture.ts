/** Keyed records in small segments, and what a reader of the whole log finds. */
import assert from 'node:assert/strict'
import { iterateBatches } from '../../../src/records/batch.js'
import { type BatchOptions, buildBatch } from '../../../src/records/encoder.js'
import { iterateRecords } from '../../../src/records/reader.js'
import type { CompactionReport } from '../../../src/storage/compaction/compact.js'
import type { Log } from '../../../src/storage/log.js'
import { NOW } from '../log-fixture.js'

export interface Found {
  offset: number
  key: string | null
  value: string | null
  timestamp: number
}

/** Appends one batch of [key, value] and returns its base offset. */
export function put(
  log: Log,
  pairs: readonly (readonly [string | null, string | null])[],
  options: BatchOptions = {},
): number {
  const records = pairs.map(([key, value]) => ({ key, value }))
  const batch = buildBatch(records, { timestamp: NOW, ...options })
  const base = log.appendFromClient(batch, 0, batch.length, 0)
  assert.ok(base >= 0, `status ${base}`)
  return base
}

/** Every record that a reader gets, offsets rising. */
export function recordsOf(log: Log): Found[] {
  const found: Found[] = []
  let next = log.startOffset
  for (let slice = log.slice(next, 700); slice; slice = log.slice(next, 700)) {
    for (const batch of iterateBatches(slice.bytes())) {
      for (const { offset, key, value, timestamp } of iterateRecords(batch)) {
        if (offset < next) continue
        found.push({ offset, key: textOf(key), value: textOf(value), timestamp })
        next = offset + 1
      }
      next = Math.max(next, batch.header.lastOffset + 1)
    }
  }
  assert.equal(next, log.endOffset, 'a reader comes to the end')
  return found
}

function textOf(bytes: Uint8Array | null): string | null {
  return bytes === null ? null : Buffer.from(bytes).toString()
}

/** The last value of each key; deleted ones are left out. */
export function lastValues(log: Log): Record<string, string> {
  const values = new Map<string, string>()
  for (const { key, value } of recordsOf(log)) {
    if (key === null) continue
    if (value === null) values.delete(key)
    else values.set(key, value)
  }
  return sorted(values)
}

export function sorted(values: ReadonlyMap<string, string>): Record<string, string> {
  return Object.fromEntries([...values].sort(([a], [b]) => (a < b ? -1 : 1)))
}

/** Brings what there is to the disk, rolls, and compacts all of it. */
export async function compactAll(
  log: Log,
  bufferBytes = 1 << 20,
): Promise<CompactionReport | undefined> {
  log.roll()
  await log.flush()
  return log.compact({ limitOffset: log.endOffset, bufferBytes })
}
