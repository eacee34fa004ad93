/**
 * Bits that turned in the newest segment after a clean stop: whatever was on disk and is sound
 * stays, and the log goes on behind the offsets that it had.
 */
import assert from 'node:assert/strict'
import { appendFileSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { Status } from '../../src/native.js'
import { buildBatch } from '../../src/records/encoder.js'
import { HEADER_BYTES } from '../../src/records/format.js'
import { temporaryDirectory } from '../support/tmp.js'
import { append, crashCopy, open, values } from './log-fixture.js'

const FILE = '00000000000000000000.log'
const BATCHES = 6

async function closed(t: TestContext): Promise<string> {
  const directory = join(temporaryDirectory(t), 't-0')
  const log = await open(t, directory)
  for (let i = 0; i < BATCHES; i++) append(log, `value ${i}`)
  await log.close()
  return directory
}

test('whichever bit turns, the other batches stay, and offsets go on', async (t) => {
  const directory = await closed(t)
  const whole = readFileSync(join(directory, FILE))
  const size = whole.length / BATCHES
  // The sum does not cover the leader epoch, in bytes 12 to 15.
  const bytes = Array.from({ length: HEADER_BYTES }, (_, i) => i).filter((i) => i < 12 || i > 15)
  for (const batch of [0, 3, BATCHES - 1]) {
    for (const byte of bytes) {
      // Nothing follows the last one that would tell its offset to be wrong.
      if (batch === BATCHES - 1 && byte < 8) continue
      const copy = crashCopy(directory, join(temporaryDirectory(t), 'copy'))
      const spoilt = Buffer.from(whole)
      spoilt[batch * size + byte]! ^= 1 << ((byte + batch) % 8)
      writeFileSync(join(copy, FILE), spoilt)
      const log = await open(t, copy, { clean: true, recoveryPoint: BATCHES })
      const where = `batch ${batch}, byte ${byte}`
      assert.equal(log.endOffset, BATCHES, where)
      assert.equal(append(log, 'new'), BATCHES, where)
      const sound = values(log, batch + 1)
      assert.equal(sound.length, BATCHES - batch, where)
      assert.ok(readFileSync(join(copy, FILE)).subarray(0, spoilt.length).equals(spoilt), where)
      await log.close()
    }
  }
})

test('a log that takes nothing behind what it keeps says nothing of the disk', async (t) => {
  const directory = await closed(t)
  const far = buildBatch([{ value: 'far' }])
  new DataView(far.buffer, far.byteOffset).setBigInt64(0, 2n ** 60n)
  appendFileSync(join(directory, FILE), far)
  const failed: unknown[] = []
  const onFailure = (error: unknown) => void failed.push(error)
  const log = await open(t, directory, { clean: false, recoveryPoint: BATCHES, onFailure })
  const batch = buildBatch([{ value: 'new' }])
  assert.equal(log.appendFromClient(batch, 0, batch.length, 0), Status.FENCED)
  assert.deepEqual(failed, [])
  assert.equal(values(log).length, BATCHES)
})
