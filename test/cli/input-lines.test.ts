import assert from 'node:assert/strict'
import { test } from 'node:test'
import { linesOf } from '../../src/cli/input-lines.js'

async function lines(pieces: string[], maxBytes?: number): Promise<string[]> {
  async function* stream() {
    for (const piece of pieces) yield Buffer.from(piece, 'latin1')
  }
  const found: string[] = []
  for await (const group of linesOf(stream(), maxBytes)) {
    for (const line of group) found.push(line.toString('latin1'))
  }
  return found
}

test('lines are cut wherever the pieces are', async () => {
  const text = 'a\r\n\nbcd\r\n\xff\n last'
  const expected = ['a', '', 'bcd', '\xff', ' last']
  assert.deepEqual(await lines([text]), expected)
  assert.deepEqual(await lines([...text]), expected)
  for (let at = 1; at < text.length; at++) {
    assert.deepEqual(await lines([text.slice(0, at), text.slice(at)]), expected)
  }
})

test('an end of line at the end begins no further line', async () => {
  assert.deepEqual(await lines(['a\n']), ['a'])
  assert.deepEqual(await lines(['']), [])
  assert.deepEqual(await lines(['\n']), [''])
})

test('a line without end is given up before it fills the memory', async () => {
  await assert.rejects(lines(['abc', 'def', 'ghi'], 8), { code: 'TOO_LARGE' })
})
