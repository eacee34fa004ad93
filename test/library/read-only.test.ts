import assert from 'node:assert/strict'
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { appendFileSync, mkdirSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { type OpenLogOptions, openLog, SeglogError } from '../../src/index.js'
import { temporaryDirectory } from '../support/tmp.js'
import { until } from '../support/until.js'

async function open(t: TestContext, directory: string, options: OpenLogOptions = {}) {
  const log = await openLog(directory, options)
  t.after(() => log.close().catch(() => {}))
  return log
}

type Log = Awaited<ReturnType<typeof open>>

const code = (expected: string) => (error: unknown) =>
  error instanceof SeglogError && error.code === expected

async function values(log: Log, from = log.startOffset): Promise<string[]> {
  const found: string[] = []
  for await (const { value } of log.read({ from })) found.push(String(value))
  return found
}

/** Names, sizes and contents of a folder. */
const picture = (directory: string) =>
  readdirSync(directory).map((name) => {
    const path = join(directory, name)
    return [name, statSync(path).mtimeMs, readFileSync(path).toString('latin1')]
  })

/** A writer of this process, and one who reads beside it. */
async function pair(t: TestContext) {
  const directory = join(temporaryDirectory(t), 'orders-0')
  const writer = await open(t, directory, { segmentBytes: 100_000 })
  const view = () => open(t, directory, { readOnly: true })
  return { directory, writer, view }
}

test('one who reads only sees what was there, and more with each refresh', async (t) => {
  const { writer, view } = await pair(t)
  writer.append([{ value: 'a' }])
  const log = await view()
  writer.append([{ value: 'b' }, { value: 'c', timestamp: 5 }])
  assert.deepEqual(await values(log), ['a'])
  await log.refresh()
  assert.deepEqual(await values(log), ['a', 'b', 'c'])
  assert.deepEqual([log.startOffset, log.endOffset], [0n, 3n])
  writer.roll()
  writer.append([{ value: 'd' }], { compression: 'gzip' })
  await log.refresh()
  assert.deepEqual(await values(log), ['a', 'b', 'c', 'd'])
  assert.equal(log.offsetForTimestamp(0), 0n)
  assert.equal(log.slice(3)?.bytes().length, writer.slice(3)?.bytes().length)
})

test('a deletion into a segment and of whole ones is seen by the next refresh', async (t) => {
  const { writer, view } = await pair(t)
  for (let i = 0; i < 9; i++) {
    writer.append([{ value: `${i}` }])
    if (i % 3 === 2) writer.roll()
  }
  const log = await view()
  assert.equal(log.startOffset, 0n)
  await writer.deleteBefore(7)
  await log.refresh()
  assert.equal(log.startOffset, 7n)
  assert.deepEqual(await values(log), ['7', '8'])
  await assert.rejects(log.read({ from: 6 }).next(), code('OFFSET_OUT_OF_RANGE'))
})

test('a cut and what is written in its place is seen by the next refresh', async (t) => {
  const { writer, view } = await pair(t)
  for (let i = 0; i < 6; i++) {
    writer.append([{ value: `${i}` }])
    if (i % 3 === 2) writer.roll()
  }
  await writer.flush()
  const log = await view()
  for (const cut of [5, 2]) {
    await writer.truncate(cut)
    for (const value of ['x', 'y', 'z']) writer.append([{ value }])
    await log.refresh()
    assert.deepEqual(await values(log), await values(writer))
    assert.equal(log.endOffset, BigInt(cut + 3))
  }
})

test('one who reads only writes nothing and is refused what would', async (t) => {
  const { directory, writer, view } = await pair(t)
  writer.append([{ value: 'a' }])
  writer.roll()
  writer.append([{ value: 'b' }])
  // Its last files are written behind its back otherwise.
  await writer.close()
  const before = picture(directory)
  const log = await view()
  const refused = code('READ_ONLY')
  assert.throws(() => log.append([{ value: 'c' }]), refused)
  await assert.rejects(log.appendDurable([{ value: 'c' }]), refused)
  assert.throws(() => log.roll(), refused)
  assert.throws(() => void log.deleteBefore(1), refused)
  await assert.rejects(log.truncate(1), refused)
  await assert.rejects(log.deleteOldSegments(), refused)
  assert.deepEqual(await values(log), ['a', 'b'])
  await log.flush()
  await log.close()
  assert.deepEqual(picture(directory), before)
  assert.throws(() => log.slice(0), code('CLOSED'))
  await assert.rejects(log.refresh(), code('CLOSED'))
})

test('a folder that is missing is not made, and an empty one is an empty log', async (t) => {
  const directory = join(temporaryDirectory(t), 'orders-0')
  await assert.rejects(openLog(directory, { readOnly: true }), code('NOT_FOUND'))
  mkdirSync(directory)
  const log = await open(t, directory, { readOnly: true })
  assert.deepEqual([log.startOffset, log.endOffset], [0n, 0n])
  assert.deepEqual(await values(log), [])
  assert.deepEqual(readdirSync(directory), [])
})

test('half a batch at the end is not there yet', async (t) => {
  const directory = join(temporaryDirectory(t), 'orders-0')
  const writer = await open(t, directory)
  writer.append([{ value: 'a' }])
  const batch = Buffer.from(writer.slice(0)!.bytes())
  await writer.close()
  batch.writeBigInt64BE(1n)
  const file = join(directory, '00000000000000000000.log')
  appendFileSync(file, batch.subarray(0, 65))
  const log = await open(t, directory, { readOnly: true })
  assert.equal(log.endOffset, 1n)
  assert.deepEqual(await values(log), ['a'])
  appendFileSync(file, batch.subarray(65))
  await log.refresh()
  assert.deepEqual(await values(log), ['a', 'a'])
})

/** What the child has said last, start and end. */
function following(child: ChildProcess) {
  const said = { start: 0n, end: 0n }
  child.on('message', (message: [string, string]) => {
    said.start = BigInt(message[0])
    said.end = BigInt(message[1])
  })
  return said
}

test('beside a process that appends, rolls and deletes, all is whole and in order', async (t) => {
  const directory = join(temporaryDirectory(t), 'orders-0')
  const child = fork(new URL('./writer-child.js', import.meta.url), [directory])
  t.after(() => child.kill('SIGKILL'))
  const said = following(child)
  await until(() => said.end > 0n, 'the first appends')
  const log = await open(t, directory, { readOnly: true })
  let records = 0
  const check = async () => {
    let next = log.startOffset
    for await (const { offset, value } of log.read()) {
      assert.equal(offset, next++)
      assert.equal(String(value).split(' ')[0], String(offset))
      records++
    }
    assert.equal(next, log.endOffset)
  }
  const stop = performance.now() + 1500
  let gone = 0
  while (performance.now() < stop) {
    const { end } = said
    await log.refresh()
    assert.ok(log.endOffset >= end, 'what was appended before the refresh is seen')
    await check().catch((error: unknown) => {
      // The writer deleted it meanwhile.
      if (!code('OFFSET_OUT_OF_RANGE')(error)) throw error
      gone++
    })
  }
  child.send('stop')
  await once(child, 'exit')
  await log.refresh()
  assert.deepEqual([log.startOffset, log.endOffset], [said.start, said.end])
  await check()
  assert.ok(records > 1000 && log.startOffset > 0n, `${records} records, ${gone} deleted`)
})
