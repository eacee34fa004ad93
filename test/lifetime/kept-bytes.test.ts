/**
 * Bytes that were handed out stay what they were, whatever becomes of the files that they were read
 * from, and of the memory of all that let go of them.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import type { StoredRecord } from '../../src/library/stored-record.js'
import { openLog } from '../../src/open-log.js'
import { iterateBatches } from '../../src/records/batch.js'
import { iterateRecords } from '../../src/records/reader.js'
import { temporaryDirectory } from '../support/tmp.js'

setFlagsFromString('--expose-gc')
const collect: () => void = runInNewContext('gc')

const VALUE_BYTES = 3000

/** Each byte of the value at `offset`. */
const byteAt = (offset: number) => (offset * 7 + 1) % 256

/** Reads every byte of every record in `bytes`; returns how many records there were. */
function readAll(bytes: Uint8Array, from: number): number {
  let next = from
  for (const batch of iterateBatches(bytes)) {
    for (const { offset, value } of iterateRecords(batch)) {
      assert.equal(offset, next)
      assert.equal(value?.length, VALUE_BYTES)
      assert.ok(value.every((byte) => byte === byteAt(offset)))
      next++
    }
  }
  return next - from
}

test('bytes outlive rolls, deletions, cuts, a close and collections of garbage', async (t) => {
  const directory = temporaryDirectory(t)
  const log = await openLog(directory, { segmentBytes: 10 * VALUE_BYTES, fileDeleteDelayMs: 0 })
  const append = (count: number) => {
    for (let left = count; left > 0; left--) {
      const offset = Number(log.endOffset)
      log.append([{ value: Buffer.alloc(VALUE_BYTES, byteAt(offset)) }])
    }
  }
  append(40)
  const kept = [0, 15, 36].map((from) => {
    const bytes = log.slice(from, 1 << 20)?.bytes()
    assert.ok(bytes)
    return { from, bytes, count: readAll(bytes, from) }
  })
  const records: StoredRecord[] = []
  for await (const record of log.read({ from: 5, to: 9 })) records.push(record)
  const unread = log.slice(2, 1 << 20)
  const check = () => {
    for (let left = 3; left > 0; left--) collect()
    for (const { from, bytes, count } of kept) assert.equal(readAll(bytes, from), count)
    for (const [i, { value }] of records.entries()) {
      assert.ok(value?.every((byte) => byte === byteAt(5 + i)))
    }
  }
  log.roll()
  check()
  await log.deleteBefore(20)
  await log.flush()
  check()
  await log.truncate(25)
  append(3)
  check()
  await log.close()
  check()
  assert.throws(() => unread?.bytes(), { code: 'CLOSED' })
})

test('a close settles a hundred reads and appends, and nothing comes after it', async (t) => {
  const log = await openLog(temporaryDirectory(t), { segmentBytes: 10 * VALUE_BYTES })
  for (let i = 0; i < 30; i++) log.append([{ value: Buffer.alloc(VALUE_BYTES, byteAt(i)) }])
  const reads = Array.from({ length: 100 }, async (_, i) => {
    for await (const { offset, value } of log.read({ from: i % 30 })) {
      assert.ok(value?.every((byte) => byte === byteAt(Number(offset))))
    }
  })
  const appends = Array.from({ length: 100 }, () => log.appendDurable([{ value: 'a' }]))
  const closing = log.close()
  const settled = await Promise.allSettled([...reads, ...appends])
  for (const result of settled.slice(0, 100)) {
    if (result.status === 'rejected') assert.equal(result.reason.code, 'CLOSED')
  }
  // They were in the log before the close, which brings them to the disk.
  assert.ok(settled.slice(100).every(({ status }) => status === 'fulfilled'))
  await closing
  await log.close()
  assert.throws(() => log.append([{ value: 'b' }]), { code: 'CLOSED' })
  await assert.rejects(log.read().next(), { code: 'CLOSED' })
})
