/**
 * Long reads, whose next chunk another thread reads meanwhile: what was cut, deleted or closed
 * since is not given out of it.
 */
import assert from 'node:assert/strict'
import { cpSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { type OpenLog, openLog } from '../../src/open-log.js'
import { temporaryDirectory } from '../support/tmp.js'

const COUNT = 30_000

/** Records of some 130 bytes, one a batch, over a dozen chunks; each says its offset. */
async function filled(t: TestContext, options: { compressed?: boolean } = {}) {
  const directory = join(temporaryDirectory(t), 'log')
  const log = await openLog(directory, { segmentBytes: 1 << 20 })
  t.after(() => log.close().catch(() => {}))
  const compression = options.compressed ? 'lz4' : undefined
  for (let i = 0; i < COUNT; i++) append(log, i, 'old', compression)
  return { directory, log }
}

function append(log: OpenLog, offset: number, kind: string, compression?: 'lz4'): void {
  const value = `${offset} ${kind} ${'.'.repeat(50 + (offset % 30))}`
  log.append([{ value }], compression === undefined ? undefined : { compression })
}

type Read = { offset: number; value: string }

/** Takes what is left of an iterator, or so many arrays of it. */
async function take(arrays: AsyncIterator<{ offset: bigint; value: Buffer | null }[]>, most = 1e9) {
  const found: Read[] = []
  for (let i = 0; i < most; i++) {
    const { done, value } = await arrays.next()
    if (done) break
    for (const record of value) {
      found.push({ offset: Number(record.offset), value: String(record.value) })
    }
  }
  return found
}

function assertRow(found: readonly Read[], from: number, kindOf: (offset: number) => string): void {
  for (const [i, { offset, value }] of found.entries()) {
    assert.equal(offset, from + i)
    assert.ok(value.startsWith(`${offset} ${kindOf(offset)} `), `${offset}: ${value}`)
  }
}

for (const compressed of [false, true]) {
  const how = compressed ? 'compressed' : 'plain'
  test(`every ${how} record of many chunks comes once, in order`, async (t) => {
    const { log } = await filled(t, { compressed })
    const found = await take(log.readBatches())
    assert.equal(found.length, COUNT)
    assertRow(found, 0, () => 'old')
    const some = await take(log.readBatches({ from: 1234, to: 23_456, maxBytes: 3e6 }))
    assertRow(some, 1234, () => 'old')
    assert.ok(some.length > 1000)
  })
}

test('what was cut and written anew between two chunks is read as it is then', async (t) => {
  const { log } = await filled(t)
  const arrays = log.readBatches()
  const before = await take(arrays, 2)
  const next = before.length
  await log.truncate(next + 10)
  const cut = Number(log.endOffset)
  assert.ok(cut >= next && cut <= next + 10)
  while (Number(log.endOffset) < COUNT) append(log, Number(log.endOffset), 'new')
  const after = await take(arrays)
  assert.equal(after.length, COUNT - next)
  assertRow(after, next, (offset) => (offset < cut ? 'old' : 'new'))
})

test('what was deleted between two chunks is not given', async (t) => {
  const { log } = await filled(t)
  const arrays = log.readBatches()
  const next = (await take(arrays, 2)).length
  await log.deleteBefore(next + 5000)
  await assert.rejects(take(arrays), { code: 'OFFSET_OUT_OF_RANGE' })
})

test('after a close nothing is given that was read ahead', async (t) => {
  const { log } = await filled(t)
  const arrays = log.readBatches()
  await take(arrays, 2)
  await log.close()
  await assert.rejects(take(arrays), { code: 'CLOSED' })
})

test('a damaged batch ends the chunk that another thread reads, too', async (t) => {
  const { directory, log } = await filled(t)
  await log.close()
  const copy = join(temporaryDirectory(t), 'copy')
  cpSync(directory, copy, { recursive: true })
  const { readFileSync, writeFileSync } = await import('node:fs')
  const first = join(copy, `${'0'.repeat(20)}.log`)
  const bytes = readFileSync(first)
  bytes[700_000]! ^= 0x40
  writeFileSync(first, bytes)
  const again = await openLog(copy)
  const found: Read[] = []
  const arrays = again.readBatches()
  const reading = (async () => {
    for (;;) found.push(...(await take(arrays, 1)))
  })()
  await assert.rejects(reading, { code: 'CORRUPT' })
  assertRow(found, 0, () => 'old')
  assert.ok(found.length > 3000)
  await again.close()
})

test('readers that are left in the middle hold nothing', async (t) => {
  const { log } = await filled(t)
  for (let i = 0; i < 300; i++) await take(log.readBatches({ from: i * 7 }), 2)
  // Each of them had a chunk of 256 KiB under way, of which 64 MiB are lent at most.
  const found = await take(log.readBatches())
  assert.equal(found.length, COUNT)
})
