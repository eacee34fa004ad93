/**
 * Judges a directory that a crash left: opens it, compares it with what its writer told, appends to
 * it, and, with `again`, opens it twice more, once as what a second crash would leave.
 */
import assert from 'node:assert/strict'
import { existsSync, mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import type { StoredRecord } from '../../src/library/stored-record.js'
import { type OpenLog, openLog } from '../../src/open-log.js'
import { iterateBatches } from '../../src/records/batch.js'
import { type Random, seeded } from '../protocol/random.js'
import { copyLive } from '../support/copy.js'
import { endOf, generationAt, type History } from './history.js'
import { NOW, recordAt, type Scenario } from './scenario.js'

/** What was lost: the process with its memory, or all that was not synced. */
export type Loss = 'process' | 'power'

export async function check(
  directory: string,
  chosen: Scenario,
  history: History,
  loss: Loss,
  again = true,
): Promise<{ records: number; cut: boolean }> {
  const random = seeded(chosen.seed + 1)
  const path = join(directory, 'log-0')
  const log = await openLog(path, chosen.options)
  const { damage } = log.report
  const found = await readAll(log)
  judge(found, log, chosen, history, loss)
  checkLookups(log, found, random)
  appendMore(log, chosen)
  const grown = await readAll(log)
  assert.equal(grown.length, found.length + 3, 'what was appended after the crash')

  if (!again) {
    await log.close()
    return { records: found.length, cut: damage !== undefined }
  }
  // A second crash at once must find what the first recovery left, and nothing twice.
  const copy = `${path}-copy`
  copyLive(path, copy)
  await log.close()
  for (const place of [copy, path]) {
    const reopened = await openLog(place, chosen.options)
    const records = await readAll(reopened)
    assert.deepEqual(textOf(records), textOf(grown), `opened again: ${place}`)
    assert.equal(reopened.report.damage, undefined, 'damage that a recovery left behind')
    checkLookups(reopened, records, random)
    await reopened.close()
  }
  rmSync(copy, { recursive: true })
  return { records: found.length, cut: damage !== undefined }
}

async function readAll(log: OpenLog): Promise<StoredRecord[]> {
  const records: StoredRecord[] = []
  for await (const record of log.read()) records.push(record)
  return records
}

const textOf = (records: readonly StoredRecord[]) =>
  records.map(({ offset, key, value }) => `${offset} ${key} ${value?.length}`)

function appendMore(log: OpenLog, chosen: Scenario): void {
  for (let i = 0; i < 3; i++) {
    const timestamp = NOW + Number(log.endOffset) * 10
    log.append([{ key: 'after', value: Buffer.alloc(chosen.valueBytesMax, i), timestamp }])
  }
}

function judge(
  records: readonly StoredRecord[],
  log: OpenLog,
  chosen: Scenario,
  history: History,
  loss: Loss,
): void {
  const known = loss === 'process' ? history.acknowledged : history.durable
  const start = Number(log.startOffset)
  const end = Number(log.endOffset)
  // A truncation takes whole batches, a little more than it was told to.
  const needed = endOf(known) - (history.unsettled ? chosen.recordsMax : 0)
  assert.ok(end >= needed, `${loss}: the log ends at ${end}, but ${needed} was reported`)
  assert.ok(start <= history.startMax, `${loss}: begins at ${start}, not ${history.startMax}`)
  let next = start
  let before = 0
  for (const record of records) {
    assert.equal(Number(record.offset), next, `${loss}: a gap in the log`)
    const generation = Number(String(record.key).split(':')[0])
    const where = `${loss}: offset ${next}, generation ${generation}`
    if (next < needed) assert.equal(generation, generationAt(known, next), `${where}: not the one`)
    // What stood before the first record of a log whose start was deleted, nobody knows.
    if (next > start || start === 0) checkOrder(history, generation, before, next, where)
    assert.ok(next < history.generations[generation]!.to, `${where}: was never appended`)
    checkContent(record, recordAt(chosen, generation, next), where)
    before = generation
    next++
  }
  assert.equal(next, end, `${loss}: the log says that it ends at ${end}`)
}

/** No record stands behind one that was cut off before it was written. */
function checkOrder(
  { generations }: History,
  generation: number,
  before: number,
  offset: number,
  where: string,
): void {
  assert.ok(generation >= before && generation < generations.length, where)
  assert.ok(offset >= generations[generation]!.from - 100, `${where}: below its truncation`)
  for (let g = before + 1; g <= generation; g++) {
    assert.ok(offset <= generations[g]!.from, `${where}: behind a record that was cut off`)
  }
}

function checkContent(
  record: StoredRecord,
  expected: ReturnType<typeof recordAt>,
  where: string,
): void {
  const { value, headers = [] } = expected
  assert.equal(record.timestamp, expected.timestamp, where)
  assert.equal(String(record.key), expected.key, where)
  assert.ok(value ? record.value?.equals(Buffer.from(value)) : record.value === null, where)
  assert.equal(record.headers.length, Array.isArray(headers) ? headers.length : 0, where)
}

const LOOKUPS = 60

/** Lookups by offset and by time against a walk over all records. */
function checkLookups(log: OpenLog, records: readonly StoredRecord[], random: Random): void {
  if (records.length === 0) return
  const step = Math.max(1, Math.floor(records.length / LOOKUPS))
  for (let i = random.below(step); i < records.length; i += step) {
    const { offset, timestamp } = records[i]!
    const [batch] = [...iterateBatches(log.slice(offset, 1)!.bytes())]
    const { baseOffset, lastOffset } = batch!.header
    const holds = BigInt(baseOffset) <= offset && offset <= BigInt(lastOffset)
    assert.ok(holds, `a lookup of ${offset} gave ${baseOffset} to ${lastOffset}`)
    const expected = records.find((record) => record.timestamp >= timestamp)?.offset
    assert.equal(log.offsetForTimestamp(timestamp), expected, `a lookup of time ${timestamp}`)
  }
}

/** A fresh directory for a check, in place of the one before. */
export function freshFolder(path: string): string {
  if (existsSync(path)) rmSync(path, { recursive: true })
  mkdirSync(path, { recursive: true })
  return path
}
