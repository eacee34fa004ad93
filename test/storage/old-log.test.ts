/** Directories of before Kafka 0.11: messages of magic 0 and 1 in segments without a time index. */
import assert from 'node:assert/strict'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { openLog } from '../../src/open-log.js'
import { message, messageSet } from '../records/old-messages.js'
import { temporaryDirectory } from '../support/tmp.js'
import { append, open, values } from './log-fixture.js'

const wrapped = (...offsets: number[]) => {
  const set = messageSet(0, ...offsets.map((offset) => ({ offset, value: `v${offset}` })))
  return message(0, { offset: offsets.at(-1) ?? 0, attributes: 1, value: gzipSync(set) })
}
const plain = (magic: number, ...offsets: number[]) =>
  messageSet(
    magic,
    ...offsets.map((offset) => ({ offset, value: `v${offset}`, timestamp: 10 * offset })),
  )

/** Two segments: plain messages and wrappers, then messages of magic 1. Offsets 0 to 13. */
function oldDirectory(t: TestContext): string {
  const directory = join(temporaryDirectory(t), 'old-0')
  mkdirSync(directory)
  const first = Buffer.concat([plain(0, 0, 1), wrapped(2, 3, 4, 5), wrapped(6), plain(0, 7)])
  writeFileSync(join(directory, '00000000000000000000.log'), first)
  // The index of Kafka 0.8 names the first offset of what was appended, not the last.
  const index = Buffer.alloc(8)
  index.writeInt32BE(2)
  index.writeInt32BE(56, 4)
  writeFileSync(join(directory, '00000000000000000000.index'), index)
  const second = Buffer.concat([wrapped(8, 9, 10), plain(1, 11, 12, 13)])
  writeFileSync(join(directory, '00000000000000000008.log'), second)
  return directory
}
const texts = (from: number, to: number) =>
  Array.from({ length: to - from }, (_, i) => `v${from + i}`)

for (const clean of [true, false]) {
  test(`an old directory opens ${clean ? 'after a clean stop' : 'after a crash'}`, async (t) => {
    const log = await open(t, oldDirectory(t), { clean })
    assert.deepEqual([log.startOffset, log.endOffset, log.segmentCount], [0, 14, 2])
    assert.equal(log.report.damage, undefined)
    for (let from = 0; from < 14; from++) assert.deepEqual(values(log, from), texts(from, 14))
    assert.equal(log.maxTimestamp, 130)
  })
}

test('batches go behind old messages, and both are read after a restart', async (t) => {
  const directory = oldDirectory(t)
  const log = await open(t, directory)
  assert.equal(append(log, 'v14', 'v15'), 14)
  await log.close()
  const again = await open(t, directory)
  assert.deepEqual(values(again), texts(0, 16))
})

test('the library reads an old directory from any offset to any other, and by time', async (t) => {
  const log = await openLog(oldDirectory(t))
  t.after(() => log.close())
  for (const [from, to] of [
    [0, 14],
    [3, 5],
    [4, 9],
    [9, 12],
  ] as const) {
    const found: string[] = []
    for await (const { offset, value } of log.read({ from, to })) {
      assert.equal(Number(offset), from + found.length)
      found.push(String(value))
    }
    assert.deepEqual(found, texts(from, to))
  }
  assert.equal(log.offsetForTimestamp(115), 12n)
})

test('a message that a crash has cut off is cut', async (t) => {
  const directory = oldDirectory(t)
  const torn = Buffer.concat([plain(0, 0, 1), wrapped(2, 3).subarray(0, -1)])
  writeFileSync(
    join(directory, '00000000000000000008.log'),
    Buffer.concat([plain(1, 8), torn.subarray(0, 10)]),
  )
  const log = await open(t, directory, { clean: false })
  assert.deepEqual([log.endOffset, log.report.cutBytes], [9, 10])
})

test('a range that ends inside a batch has what comes before its end', async (t) => {
  const log = await openLog(temporaryDirectory(t))
  t.after(() => log.close())
  for (const compression of ['none', 'gzip'] as const) {
    log.append([{ value: 'a' }, { value: 'b' }, { value: 'c' }], { compression })
  }
  const found: string[] = []
  for await (const { value } of log.read({ from: 1, to: 5 })) found.push(String(value))
  assert.deepEqual(found, ['b', 'c', 'a', 'b'])
})
