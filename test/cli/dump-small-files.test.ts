import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { temporaryDirectory } from '../support/tmp.js'
import { textTool, tool } from './damage.js'

const dump = tool('dump')
const dumpText = textTool('dump')

function file(t: TestContext, name: string, content: string): string {
  const path = join(temporaryDirectory(t), name)
  writeFileSync(path, content)
  return path
}

test('each small file is dumped entry by entry', async (t) => {
  const cases: [string, string, object[]][] = [
    [
      'recovery-point-offset-checkpoint',
      '0\n2\norders 0 6\norders 1 9007199254740991\n',
      [
        { topic: 'orders', partition: 0, offset: 6 },
        { topic: 'orders', partition: 1, offset: 9007199254740991 },
      ],
    ],
    ['leader-epoch-checkpoint', '0\n1\n3 40\n', [{ epoch: 3, startOffset: 40 }]],
    [
      'meta.properties',
      '#now\nversion=0\nbroker.id=7\ncluster.id=abc\n',
      [{ brokerId: 7, clusterId: 'abc' }],
    ],
    [
      'partition.metadata',
      'version: 0\ntopic_id: AAAAAAAAAAAAAAAAAAAAAQ',
      [{ topicId: 'AAAAAAAAAAAAAAAAAAAAAQ' }],
    ],
  ]
  for (const [name, content, entries] of cases) {
    const path = file(t, name, content)
    const { code, objects, ofType } = await dump(path)
    assert.equal(code, 0, name)
    assert.deepEqual(objects[0], { type: 'file', path })
    assert.deepEqual(
      ofType('entry'),
      entries.map((entry) => ({ type: 'entry', ...entry })),
    )
  }
})

test('one that is damaged is told as such, and exits 1', async (t) => {
  const cases: [string, string, RegExp][] = [
    ['replication-offset-checkpoint', '0\n2\norders 0 6\n', /1 entries, not 2/],
    ['leader-epoch-checkpoint', '0\n2\n3 40\n2 50\n', /line 4/],
    ['meta.properties', '', /cut short/],
    ['partition.metadata', 'version: 0', /topic id/],
  ]
  for (const [name, content, text] of cases) {
    const { code, ofType } = await dump(file(t, name, content))
    assert.equal(code, 1, name)
    assert.equal(ofType('damage')[0]?.kind, 'corrupt')
    assert.match(String(ofType('damage')[0]?.text), text)
  }
})

test('names that would steer a terminal are printed as base64', async (t) => {
  const path = file(t, 'log-start-offset-checkpoint', '0\n1\na\u001b[2J 0 6\n')
  const { lines } = await dumpText(path)
  assert.deepEqual(lines.slice(1), ['topic: base64:YRtbMko= partition: 0 offset: 6'])
})

test('a FIFO is refused instead of waited for', async (t) => {
  const path = join(temporaryDirectory(t), 'meta.properties')
  assert.equal(spawnSync('mkfifo', [path]).status, 0)
  const { code, lines } = await dumpText(path)
  assert.equal(code, 1)
  assert.match(lines[0] ?? '', /meta\.properties is not a regular file/)
})
