/** A flush that keeps the thread: what it covers, and when it refuses. */
import assert from 'node:assert/strict'
import { cpSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { openLog } from '../../src/open-log.js'
import { temporaryDirectory } from '../support/tmp.js'

test('flushSync brings everything appended before to the disk, over rolls too', async (t) => {
  const directory = temporaryDirectory(t)
  const log = await openLog(join(directory, 'log'), { segmentBytes: 1000 })
  for (let i = 1; i <= 200; i++) {
    log.append([{ value: Buffer.alloc(i) }])
    if (i % 7 !== 0) continue
    log.flushSync()
    assert.equal(log.recoveryPoint, BigInt(i))
  }
  log.flushSync()
  assert.equal(log.recoveryPoint, log.endOffset)
  log.flushSync()
  await log.close()
})

test('flushSync and appendDurable may overlap', async (t) => {
  const log = await openLog(join(temporaryDirectory(t), 'log'), { segmentBytes: 4000 })
  const awaited: Promise<unknown>[] = []
  for (let i = 0; i < 300; i++) {
    awaited.push(log.appendDurable([{ value: `awaited ${i}` }]))
    log.append([{ value: `flushed ${i}` }])
    log.flushSync()
    assert.equal(log.recoveryPoint, log.endOffset)
  }
  await Promise.all(awaited)
  let count = 0
  for await (const { value } of log.read()) {
    assert.equal(String(value), `${count % 2 === 0 ? 'awaited' : 'flushed'} ${count >> 1}`)
    count++
  }
  assert.equal(count, 600)
  await log.close()
})

test('flushSync refuses while a truncation is under way, in a view, and when closed', async (t) => {
  const directory = join(temporaryDirectory(t), 'log')
  const log = await openLog(directory)
  for (let i = 0; i < 10; i++) log.append([{ value: 'x' }])
  const truncated = log.truncate(5n)
  assert.throws(() => log.flushSync(), { code: 'READ_ONLY' })
  await truncated
  log.flushSync()
  const copy = join(temporaryDirectory(t), 'copy')
  await log.close()
  cpSync(directory, copy, { recursive: true })
  const view = await openLog(copy, { readOnly: true })
  assert.throws(() => view.flushSync(), { code: 'READ_ONLY' })
  await view.close()
  assert.throws(() => log.flushSync(), { code: 'CLOSED' })
})
