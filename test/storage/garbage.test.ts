/**
 * Garbage behind what was synced, as a loss of power leaves it where the length of a file reached
 * the disk and its bytes did not: it is cut, whatever it looks like.
 */
import assert from 'node:assert/strict'
import { appendFileSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { buildBatch } from '../../src/records/encoder.js'
import { temporaryDirectory } from '../support/tmp.js'
import { append, crashCopy, open, values } from './log-fixture.js'

const FILE = '00000000000000000000.log'

test('garbage of any byte and length is cut, and the log takes records again', async (t) => {
  for (const byte of [1, 2, 0x7f, 0xff]) {
    for (const length of [1, 40, 87, 5000]) {
      const directory = temporaryDirectory(t)
      const log = await open(t, directory)
      append(log, 'kept')
      await log.flush()
      const copy = crashCopy(directory, join(temporaryDirectory(t), 'copy'))
      appendFileSync(join(copy, FILE), Buffer.alloc(length, byte))
      const again = await open(t, copy, { clean: false, recoveryPoint: 1 })
      assert.equal(again.report.cutBytes, length, `${length} of ${byte}`)
      append(again, 'new')
      assert.deepEqual(values(again), ['kept', 'new'])
      await again.close()
      await log.close()
    }
  }
})

test('a whole batch at an offset that cannot be counted is kept', async (t) => {
  const directory = temporaryDirectory(t)
  const log = await open(t, directory)
  append(log, 'kept')
  await log.close()
  const batch = buildBatch([{ value: 'far' }])
  new DataView(batch.buffer, batch.byteOffset).setBigInt64(0, 2n ** 60n)
  const path = join(directory, FILE)
  writeFileSync(path, Buffer.concat([readFileSync(path), batch]))
  const { size } = statSync(path)
  const again = await open(t, directory, { clean: false, recoveryPoint: 1 })
  assert.match(again.report.damage ?? '', /OFFSET_TOO_LARGE; left as it is/)
  assert.equal(statSync(path).size, size)
})
