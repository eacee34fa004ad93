/**
 * Logs small enough that a handful of records fill a segment, and an array that says what they
 * hold.
 */
import assert from 'node:assert/strict'
import { readdirSync } from 'node:fs'
import type { TestContext } from 'node:test'
import { type Env, systemEnv } from '../../src/env.js'
import { iterateBatches } from '../../src/records/batch.js'
import { buildBatch } from '../../src/records/encoder.js'
import { iterateRecords } from '../../src/records/reader.js'
import { Log } from '../../src/storage/log.js'
import { defaultLogOptions, type LogOptions } from '../../src/storage/log-options.js'
import { copyLive } from '../support/copy.js'

export const NOW = 1_700_000_000_000

export const small: LogOptions = {
  ...defaultLogOptions,
  segmentBytes: 1024,
  indexIntervalBytes: 128,
}

/** Opens a log that is closed with the test, whatever became of it. */
export async function open(
  t: TestContext,
  directory: string,
  options: Partial<LogOptions> = {},
  env: Env = systemEnv,
): Promise<Log> {
  const log = await Log.open(directory, { ...small, ...options }, NOW, env)
  t.after(() => log.close().catch(() => {}))
  return log
}

/** Appends one batch of text values and returns its base offset, which must not be a status. */
export function append(log: Log, ...values: string[]): number {
  const batch = buildBatch(
    values.map((value) => ({ value })),
    { timestamp: NOW },
  )
  const base = log.appendFromClient(batch, 0, batch.length, 0)
  assert.ok(base >= 0, `status ${base}`)
  return base
}

/** Every value of the log from `from` on, checking that offsets have no gap. */
export function values(log: Log, from = log.startOffset, maxBytes = 1 << 20): string[] {
  const found: string[] = []
  let next = from
  for (let slice = log.slice(next, maxBytes); slice; slice = log.slice(next, maxBytes)) {
    for (const batch of iterateBatches(slice.bytes())) {
      for (const record of iterateRecords(batch)) {
        if (record.offset < next) continue
        assert.equal(record.offset, next)
        found.push(Buffer.from(record.value ?? []).toString())
        next++
      }
    }
  }
  assert.equal(next, log.endOffset)
  return found
}

/** The files of a directory with this ending, sorted. */
export function filesOf(directory: string, ending: string): string[] {
  return readdirSync(directory)
    .filter((name) => name.endsWith(ending))
    .sort()
}

/**
 * What a process that is killed now would leave on disk: the files as they are while the log is
 * open.
 */
export function crashCopy(directory: string, to: string): string {
  copyLive(directory, to)
  return to
}
