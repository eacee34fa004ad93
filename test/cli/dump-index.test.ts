import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { buildBatch } from '../../src/records/index.js'
import { segment, textTool, tool } from './damage.js'

const dump = tool('dump')
const dumpText = textTool('dump')

const directory = mkdtempSync(join(tmpdir(), 'seglog-dump-'))
after(() => rmSync(directory, { recursive: true }))

/** A file of this content in a folder of its own, so that no other lies beside it. */
function file(content: Uint8Array, name: string): string {
  const path = join(mkdtempSync(join(directory, 't-')), name)
  writeFileSync(path, content)
  return path
}

function offsetIndex(...entries: [number, number][]): Buffer {
  const bytes = Buffer.alloc(entries.length * 8)
  for (const [index, [offset, position]] of entries.entries()) {
    bytes.writeInt32BE(offset, index * 8)
    bytes.writeInt32BE(position, index * 8 + 4)
  }
  return bytes
}
const indexName = '00000000000000000100.index'

test('an index is dumped with offsets and positions', async () => {
  const { code, lines } = await dumpText(file(offsetIndex([2, 70], [5, 200]), indexName))
  assert.equal(code, 0)
  assert.deepEqual(lines.slice(2), ['offset: 102 position: 70', 'offset: 105 position: 200'])
})

test('reserved zeros of an index are no damage', async () => {
  const bytes = Buffer.concat([offsetIndex([2, 70]), Buffer.alloc(2 * 1024 * 1024)])
  const { code, ofType } = await dump(file(bytes, indexName))
  assert.equal(code, 0)
  assert.equal(ofType('entry').length, 1)
  assert.equal(ofType('note')[0]?.position, 8)
})

test('an index whose entries do not rise, or that ends in one, is damaged', async () => {
  const cases: [Buffer, number][] = [
    [offsetIndex([2, 70], [2, 90]), 8],
    [offsetIndex([2, 70], [3, 70]), 8],
    [offsetIndex([-1, 70]), 0],
    [offsetIndex([2, 70], [3, 90]).subarray(0, 13), 8],
  ]
  for (const [bytes, position] of cases) {
    const { code, ofType } = await dump(file(bytes, indexName))
    assert.equal(code, 1)
    assert.equal(ofType('damage')[0]?.position, position)
  }
})

test('an index that does not point at batches of the log beside it is damaged', async () => {
  const one = buildBatch([{}])
  const log = Buffer.concat([one, buildBatch([{}, {}], { baseOffset: 1 })])
  const index = file(log, segment(0)).replace('.log', '.index')
  writeFileSync(index, offsetIndex([2, one.length]))
  assert.equal((await dumpText(index)).code, 0)
  for (const entry of [
    [2, one.length + 1],
    [2, log.length],
    [0, one.length],
  ] as const) {
    writeFileSync(index, offsetIndex([...entry]))
    assert.equal((await dumpText(index)).code, 1, String(entry))
  }
})

test('a time index is dumped, and damaged where time goes back', async () => {
  const bytes = Buffer.alloc(24)
  bytes.writeBigInt64BE(1700000000000n, 0)
  bytes.writeInt32BE(4, 8)
  bytes.writeBigInt64BE(1700000000001n, 12)
  bytes.writeInt32BE(9, 20)
  const name = '00000000000000000100.timeindex'
  const { code, lines } = await dumpText(file(bytes, name))
  assert.equal(code, 0)
  assert.deepEqual(lines.slice(2), [
    'timestamp: 1700000000000 offset: 104',
    'timestamp: 1700000000001 offset: 109',
  ])
  bytes.writeBigInt64BE(1n, 12)
  assert.equal((await dumpText(file(bytes, name))).code, 1)
})
