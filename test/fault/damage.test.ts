/**
 * Bits that turn on the disk: opening never fails for them, what they did not hit is read, what
 * they hit is an error where it is read, and never another record.
 */
import assert from 'node:assert/strict'
import { cpSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { SeglogError } from '../../src/errors.js'
import { type OpenLog, openLog } from '../../src/open-log.js'
import { iterateBatches } from '../../src/records/batch.js'
import { iterateRecords } from '../../src/records/reader.js'
import { type Random, seeded } from '../protocol/random.js'
import { temporaryDirectory } from '../support/tmp.js'

const options = { segmentBytes: 3000, indexIntervalBytes: 300 }
const HEADER_BYTES = 61

interface Sound {
  path: string
  /** Where each batch lies: its file, position and offsets. */
  batches: { file: string; position: number; end: number; first: number; last: number }[]
}

const textAt = (offset: number) => `value ${offset} `.repeat(1 + (offset % 7))

/** A log of several segments that was closed. */
async function soundLog(t: TestContext): Promise<Sound> {
  const path = join(temporaryDirectory(t), 'log-0')
  const log = await openLog(path, options)
  const random = seeded(1)
  while (log.endOffset < 300n) {
    const from = Number(log.endOffset)
    const records = Array.from({ length: 1 + random.below(4) }, (_, i) => ({
      value: textAt(from + i),
      timestamp: 1_700_000_000_000 + from + i,
    }))
    log.append(records)
  }
  await log.close()
  const batches: Sound['batches'] = []
  for (const file of logsOf(path)) {
    for (const { header, position } of iterateBatches(readFileSync(join(path, file)))) {
      const { baseOffset: first, lastOffset: last, sizeBytes } = header
      batches.push({ file, position, end: position + sizeBytes, first, last })
    }
  }
  return { path, batches }
}

/** What a damaged batch may be called by those who read it. */
const damages = new Set<string | undefined>(['CORRUPT', 'BAD_MAGIC'])

const logsOf = (path: string) =>
  readdirSync(path)
    .filter((name) => name.endsWith('.log'))
    .sort()

/** The value at an offset, or the code of the error that reading it gave. */
function valueAt(log: OpenLog, offset: number): { value?: string; code?: string } {
  try {
    const slice = log.slice(offset, 1)
    if (!slice) return { code: 'END' }
    for (const batch of iterateBatches(slice.bytes())) {
      for (const record of iterateRecords(batch)) {
        if (record.offset === offset) return { value: Buffer.from(record.value ?? []).toString() }
      }
    }
    return { code: 'GAP' }
  } catch (error) {
    if (error instanceof SeglogError) return { code: error.code }
    throw error
  }
}

/** A copy of the log with one bit turned, and the batch that it hit. */
function turnBit(
  t: TestContext,
  { path, batches }: Sound,
  random: Random,
  from: number,
  files: string[],
) {
  const copy = join(temporaryDirectory(t), 'log-0')
  cpSync(path, copy, { recursive: true })
  const hit = random.pick(batches.filter(({ file }) => files.includes(file)))
  const at = hit.position + from + random.below(hit.end - hit.position - from)
  const bytes = readFileSync(join(copy, hit.file))
  bytes[at] = bytes[at]! ^ (1 << random.below(8))
  writeFileSync(join(copy, hit.file), bytes)
  return { copy, hit, at }
}

const sizes = (path: string) => logsOf(path).map((name) => statSync(join(path, name)).size)

test('a bit that turned in a sealed segment costs its batch and nothing else', async (t) => {
  const sound = await soundLog(t)
  const random = seeded(2)
  const sealed = logsOf(sound.path).slice(0, -1)
  for (let round = 0; round < 25; round++) {
    const { copy, hit, at } = turnBit(t, sound, random, HEADER_BYTES, sealed)
    const where = `round ${round}, byte ${at} of ${hit.file}`
    const log = await openLog(copy, options)
    assert.equal(log.endOffset, BigInt(sound.batches.at(-1)!.last + 1), where)
    for (let offset = 0; offset < Number(log.endOffset); offset++) {
      const hurt = offset >= hit.first && offset <= hit.last
      const expected = hurt ? { code: 'CORRUPT' } : { value: textAt(offset) }
      assert.deepEqual(valueAt(log, offset), expected, `${where}, offset ${offset}`)
    }
    await log.close()
    assert.deepEqual(sizes(copy), sizes(sound.path), `${where}: a file changed its size`)
  }
})

test('a bit that turned anywhere gives no other record and ends no process', async (t) => {
  const sound = await soundLog(t)
  const random = seeded(3)
  for (let round = 0; round < 40; round++) {
    const { copy, hit, at } = turnBit(t, sound, random, 0, logsOf(sound.path))
    const where = `round ${round}, byte ${at} of ${hit.file}`
    // Base offset and leader epoch are outside the sum, so that a leader can set them.
    const unguarded = at - hit.position < 8 || (at - hit.position >= 12 && at - hit.position < 16)
    const log = await openLog(copy, options)
    for (let offset = 0; offset < Number(log.endOffset); offset++) {
      const { value, code } = valueAt(log, offset)
      if (offset < hit.first) assert.equal(value, textAt(offset), `${where}, offset ${offset}`)
      else if (!unguarded) {
        assert.ok(value === undefined || value === textAt(offset), `${where}: ${value}`)
        assert.ok(value !== undefined || damages.has(code), `${where}, offset ${offset}: ${code}`)
      }
    }
    await log.close()
  }
})

test('damage in the newest segment is reported with its file and position', async (t) => {
  const sound = await soundLog(t)
  const random = seeded(4)
  const active = logsOf(sound.path).slice(-1)
  for (let round = 0; round < 15; round++) {
    const { copy, hit } = turnBit(t, sound, random, 16, active)
    // Nothing says any more what was on disk, so that all of the segment is read.
    for (const name of ['.kafka_cleanshutdown', 'recovery-point-offset-checkpoint']) {
      rmSync(join(copy, name))
    }
    const log = await openLog(copy, options)
    const { damage = '' } = log.report
    assert.ok(damage.includes(`${hit.file} at byte ${hit.position}:`), `${damage}, ${hit.position}`)
    assert.equal(valueAt(log, hit.first - 1).value, textAt(hit.first - 1))
    await log.close()
  }
})
