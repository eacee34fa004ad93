/** That objects are counted as they are, and growth is told from noise. */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { test } from 'node:test'
import { temporaryDirectory } from '../support/tmp.js'
import { grown, heldObjects, snapshotArguments } from './heap.js'

test('a process holds as many objects of a class as it keeps', { timeout: 60_000 }, async (t) => {
  const folder = temporaryDirectory(t)
  const script =
    'class Kept { a = 1 }; globalThis.all = Array.from({ length: 500 }, () => new Kept());' +
    'for (let i = 0; i < 500; i++) new Kept();' +
    'setTimeout(() => {}, 60_000); console.log("ready")'
  const child = spawn(process.execPath, [...snapshotArguments(folder), '-e', script])
  t.after(() => child.kill('SIGKILL'))
  await once(child.stdout, 'data')
  const objects = await heldObjects(child.pid ?? -1, folder)
  // One more than were made may be the prototype.
  assert.ok([500, 501].includes(objects.get('Kept') ?? 0), `${objects.get('Kept')}`)
})

test('many more of a class are growth', () => {
  const before = new Map([['Group', 100]])
  assert.deepEqual(grown(before, new Map([['Group', 300]])), ['200 more objects of Group: 300'])
})

test('a few more, and a small share more of many, are none', () => {
  const before = new Map([
    ['Group', 10],
    ['Object', 10_000],
  ])
  const after = new Map([
    ['Group', 60],
    ['Object', 10_500],
  ])
  assert.deepEqual(grown(before, after), [])
})
