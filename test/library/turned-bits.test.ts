/** One bit turned in a header of an older segment, and what a reader makes of it. */
import assert from 'node:assert/strict'
import { cpSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { SeglogError } from '../../src/errors.js'
import { type OpenLog, openLog } from '../../src/open-log.js'
import { temporaryDirectory } from '../support/tmp.js'

const RECORDS = 40
const HEADER_BYTES = 61
/** Nobody sums the leader epoch, and nothing can be compared with it. */
const isEpoch = (byte: number) => byte >= 12 && byte < 16

/** Reads as docs/library.md says: behind damage from `nextOffset` on. */
async function readAround(log: OpenLog): Promise<{ read: number[]; damaged: number[] }> {
  const [read, damaged]: [number[], number[]] = [[], []]
  let from = log.startOffset
  while (from < log.endOffset) {
    try {
      for await (const { offset } of log.read({ from })) read.push(Number(offset))
      break
    } catch (error) {
      assert.ok(error instanceof SeglogError && error.code === 'CORRUPT', String(error))
      assert.ok(error.nextOffset !== undefined && error.nextOffset > from)
      damaged.push(Number(error.offset))
      from = error.nextOffset
    }
  }
  return { read, damaged }
}

test('whichever bit of a header is turned, that batch alone is an error', async (t) => {
  const sound = temporaryDirectory(t)
  const writer = await openLog(sound, { segmentBytes: 2048 })
  for (let i = 0; i < RECORDS; i++) writer.append([{ value: Buffer.alloc(100, i) }])
  await writer.close()
  const [, segment = ''] = readdirSync(sound).filter((name) => name.endsWith('.log'))
  const original = readFileSync(join(sound, segment))
  const base = Number(segment.slice(0, 20))
  const sizeBytes = 12 + original.readInt32BE(8)
  const hit = base + 3
  const copy = join(temporaryDirectory(t), 'log')
  cpSync(sound, copy, { recursive: true })
  for (let byte = 0; byte < HEADER_BYTES; byte++) {
    for (const bit of [0, 3, 7]) {
      const turned = Buffer.from(original)
      turned[3 * sizeBytes + byte]! ^= 1 << bit
      writeFileSync(join(copy, segment), turned)
      const log = await openLog(copy, { segmentBytes: 2048 })
      const { read, damaged } = await readAround(log)
      const where = `byte ${byte}, bit ${bit}`
      const missing = Array.from({ length: RECORDS }, (_, i) => i).filter((i) => !read.includes(i))
      assert.deepEqual(missing, isEpoch(byte) ? [] : [hit], where)
      assert.deepEqual(damaged, isEpoch(byte) ? [] : [hit], where)
      await log.close()
      assert.equal(readFileSync(join(copy, segment)).length, original.length)
    }
  }
})
