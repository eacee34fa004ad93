import assert from 'node:assert/strict'
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { openLog } from '../../src/index.js'
import { BatchField, buildBatch } from '../../src/records/index.js'
import { message, messageSet } from '../records/old-messages.js'
import { changed } from '../support/batches.js'
import { temporaryDirectory } from '../support/tmp.js'
import { change, fill, segment, textTool, tool } from './damage.js'

const verify = tool('verify')
const repair = tool('repair')

function folderOf(t: TestContext, log: Buffer): { folder: string; path: string } {
  const folder = join(temporaryDirectory(t), 'orders-0')
  mkdirSync(folder)
  const path = join(folder, segment(0))
  writeFileSync(path, log)
  return { folder, path }
}

/** Numbers that look random and are the same in each run. */
function numbers(seed: number): (below: number) => number {
  let state = seed
  return (below) => {
    state = (Math.imul(state, 1103515245) + 12345) & 0x7fffffff
    return (state >>> 8) % below
  }
}

test('messages of magic 0 and 1 are verified, and one flipped bit is found', async (t) => {
  const inner = messageSet(1, { offset: 0, value: 'a' }, { offset: 1, value: 'b' })
  const parts = [
    message(0, { offset: 0, key: 'k', value: 'v'.repeat(50) }),
    message(1, { offset: 2, attributes: 1, value: gzipSync(inner) }),
    message(1, { offset: 3, value: 'w'.repeat(50) }),
    Buffer.from(buildBatch([{}, {}], { baseOffset: 4 })),
  ]
  const { path } = folderOf(t, Buffer.concat(parts))
  const { code, summary } = await verify(path)
  assert.deepEqual([code, summary.batches, summary.records], [0, 4, 6])
  let position = 0
  for (const [i, part] of parts.entries()) {
    const undo = change(path, position + part.length - 1, (byte) => byte ^ 1)
    const { faults } = await verify(path)
    undo()
    assert.deepEqual([faults.length, faults[0]?.kind, faults[0]?.position], [1, 'crc', position])
    assert.equal(faults[0]?.offset, [0, 2, 3, 4][i])
    position += part.length
  }
  // Behind a length that leads astray the next message is found too.
  const third = (parts[0]?.length ?? 0) + (parts[1]?.length ?? 0)
  change(path, (parts[0]?.length ?? 0) + 8, () => Buffer.from([0x7f, 0, 0, 0]))
  const { faults, summary: left } = await verify(path)
  assert.deepEqual([faults[0]?.endPosition, left.batches], [third, 3])
})

test('whatever byte is changed, all else is still read, and repair makes it sound', async (t) => {
  const folder = join(temporaryDirectory(t), 'orders-0')
  await fill(folder, 12, { roll: true })
  await fill(folder, 12)
  const random = numbers(7)
  const names = readdirSync(folder).filter((name) => /\d{20}\./.test(name))
  const sound = new Map(names.map((name) => [name, readFileSync(join(folder, name))]))
  for (let round = 0; round < 25; round++) {
    const name = names[random(names.length)] ?? ''
    const path = join(folder, name)
    const { size } = statSync(path)
    if (size === 0) continue
    change(path, random(size), (byte) => byte ^ (1 << random(8)))
    const { summary } = await verify(folder)
    assert.ok(Number(summary.batches) >= 23, `${name}: ${summary.batches} batches`)
    const copies = join(temporaryDirectory(t), 'copies')
    const repaired = await repair('--drop-damaged', '--backup', copies, folder)
    assert.equal(repaired.code, 0)
    assert.equal((await verify(folder)).code, 0)
    for (const [each, bytes] of sound) writeFileSync(join(folder, each), bytes)
  }
})

test('a log that is being appended to can be verified meanwhile', async (t) => {
  const folder = join(temporaryDirectory(t), 'orders-0')
  const log = await openLog(folder, { segmentBytes: 20_000, indexIntervalBytes: 500 })
  for (let round = 0; round < 10; round++) {
    for (let i = 0; i < 40; i++) log.append([{ value: 'x'.repeat(100) }])
    const { code, summary, faults } = await verify(folder)
    assert.deepEqual([code, faults], [0, []])
    assert.equal(summary.records, 40 * (round + 1))
  }
  await log.close()
})

test('plausible headers that lie at every place are given up in bounded time', async (t) => {
  const header = buildBatch([{}]).subarray(0, BatchField.RECORDS)
  const view = new DataView(header.buffer, header.byteOffset)
  view.setInt32(BatchField.LENGTH, 1_000_000)
  const { path } = folderOf(t, Buffer.concat(Array.from({ length: 50_000 }, () => header)))
  const { code, notes } = await verify(path)
  assert.equal(code, 1)
  assert.ok(notes.some(({ kind }) => kind === 'given-up'))
  const before = readFileSync(path)
  const repaired = await repair('--drop-damaged', join(path, '..'))
  assert.equal(repaired.code, 1)
  assert.match(String(repaired.ofType('kept')[0]?.text), /cannot be read to its end/)
  assert.deepEqual(readFileSync(path), before)
})

test('records that decompress to more than the bound are a note, and cost no more', async (t) => {
  const bomb = gzipSync(Buffer.alloc(129 * 1024 * 1024), { level: 1 })
  const head = buildBatch([{}]).subarray(0, BatchField.RECORDS)
  const batch = changed(Buffer.concat([head, bomb]), (view) => {
    view.setInt32(BatchField.LENGTH, head.length + bomb.length - 12)
    view.setInt16(BatchField.ATTRIBUTES, 1)
  })
  assert.ok(batch.length < 1_000_000)
  const { path } = folderOf(t, Buffer.from(batch))
  const { code, notes, summary } = await verify(path)
  assert.deepEqual([code, summary.batches], [0, 1])
  const { kind, position } = notes.find((note) => note.kind === 'records') ?? {}
  assert.deepEqual([kind, position], ['records', 0])
})

test('a name that would steer a terminal is not printed as it is', async (t) => {
  const { code, lines } = await textTool('verify')(join(temporaryDirectory(t), 'a\u001b[2J.log'))
  assert.equal(code, 1)
  assert.ok(!lines.join('').includes('\u001b'))
  assert.match(lines[0] ?? '', /a\\x1b\[2J/)
})
