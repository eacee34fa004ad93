/** Messages of magic 0 and 1, as Kafka before 0.11 wrote them, through the library. */
import assert from 'node:assert/strict'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { type OpenLog, openLog, SeglogError, type StoredRecord } from '../../src/index.js'
import { message, messageSet } from '../records/old-messages.js'
import { temporaryDirectory } from '../support/tmp.js'

const value = (offset: number) => `value ${offset}`
const plain = (magic: number, offset: number) =>
  message(magic, { offset, key: `${offset}`, value: value(offset), timestamp: 100 + offset })

/** In magic 1 the offsets inside of a wrapper begin at 0. */
function wrapped(magic: number, first: number, count: number): Buffer {
  const inner = Array.from({ length: count }, (_, i) => ({
    offset: magic === 1 ? i : first + i,
    key: `${first + i}`,
    value: value(first + i),
    timestamp: 100 + first + i,
  }))
  const set = gzipSync(messageSet(magic, ...inner))
  const timestamp = 100 + first + count - 1
  return message(magic, { offset: first + count - 1, attributes: 1, value: set, timestamp })
}

/** Offsets 0 to 9: two segments, the second one of magic 1. */
function oldDirectory(t: TestContext): string {
  const directory = join(temporaryDirectory(t), 'old-0')
  mkdirSync(directory)
  const first = [plain(0, 0), wrapped(0, 1, 3), plain(0, 4)]
  writeFileSync(join(directory, '00000000000000000000.log'), Buffer.concat(first))
  const second = [plain(1, 5), wrapped(1, 6, 3), plain(1, 9)]
  writeFileSync(join(directory, '00000000000000000005.log'), Buffer.concat(second))
  return directory
}

async function open(t: TestContext, directory: string, readOnly = false) {
  const log = await openLog(directory, { readOnly })
  t.after(() => log.close().catch(() => {}))
  return log
}

async function all(log: OpenLog, from = 0, to = 10): Promise<StoredRecord[]> {
  const found: StoredRecord[] = []
  for await (const records of log.readBatches({ from, to })) found.push(...records)
  return found
}

function check(records: readonly StoredRecord[], from: number, to: number): void {
  assert.equal(records.length, to - from)
  for (const [i, record] of records.entries()) {
    const offset = from + i
    assert.equal(record.offset, BigInt(offset))
    assert.equal(String(record.key), `${offset}`)
    assert.equal(String(record.value), value(offset))
    assert.equal(record.timestamp, offset < 5 ? -1 : 100 + offset)
    assert.deepEqual(record.headers, [])
  }
}

for (const readOnly of [false, true]) {
  const how = readOnly ? 'one who reads only' : 'its user'
  test(`${how} gets old messages, wrapped ones too, in any range`, async (t) => {
    const log = await open(t, oldDirectory(t), readOnly)
    assert.equal(log.endOffset, 10n)
    for (let from = 0; from < 10; from++) check(await all(log, from), from, 10)
    check(await all(log, 2, 7), 2, 7)
    const single: StoredRecord[] = []
    for await (const record of log.read({ from: 1, maxBytes: 1 })) single.push(record)
    check(single, 1, 4)
  })
}

test('old messages and batches behind them are read as one log', async (t) => {
  const directory = oldDirectory(t)
  const log = await open(t, directory)
  log.append([{ key: '10', value: value(10), timestamp: 110 }])
  check(await all(log, 0, 11), 0, 11)
  await log.close()
  const again = await open(t, directory)
  assert.equal(again.report.damage, undefined)
  check(await all(again, 0, 11), 0, 11)
})

test('a damaged old message is CORRUPT with where to read on', async (t) => {
  const directory = oldDirectory(t)
  const log = await open(t, directory)
  const file = join(directory, '00000000000000000000.log')
  const bytes = readFileSync(file)
  const at = bytes.indexOf(value(4))
  bytes[at] = (bytes[at] ?? 0) ^ 1
  writeFileSync(file, bytes)
  const reading = log.readBatches({ from: 3 })
  check((await reading.next()).value ?? [], 3, 4)
  const failed: unknown = await reading.next().catch((error: unknown) => error)
  assert.ok(failed instanceof SeglogError && failed.code === 'CORRUPT')
  assert.deepEqual([failed.offset, failed.nextOffset], [4n, 5n])
  check(await all(log, Number(failed.nextOffset)), 5, 10)
})
