/**
 * That the disk of these tests loses what a disk may lose and keeps what it must, and that a log
 * which is cut off from power holds what it reported durable.
 */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { seeded } from '../protocol/random.js'
import { temporaryDirectory } from '../support/tmp.js'
import { losePower } from './power.js'
import { countFaults, makeDisk, onDisk, type Plan } from './shim.js'

/** Runs statements with `fs` and `live` in a process on a new disk. */
function onNewDisk(t: TestContext, statements: string, plan: Plan = { seed: 1 }) {
  const disk = temporaryDirectory(t)
  makeDisk(disk, [])
  const code = `const fs = require('node:fs'); const live = process.argv[1]; ${statements}`
  const { status, stderr } = spawnSync(process.execPath, ['-e', code, join(disk, 'live')], {
    env: onDisk(disk, plan),
    encoding: 'utf8',
  })
  /** What each of many losses of power leaves of a file, undefined where it is not there. */
  const left = (name: string) => {
    const found = new Set<string | undefined>()
    for (let seed = 0; seed < 60; seed++) {
      const dark = temporaryDirectory(t)
      losePower(disk, dark, seeded(seed))
      const path = join(dark, name)
      found.add(existsSync(path) ? readFileSync(path, 'latin1') : undefined)
    }
    return found
  }
  return { disk, status, stderr, left }
}

const write = `const file = fs.openSync(live + '/a', 'w'); fs.writeSync(file, 'text');`
const syncFolder = `fs.fsyncSync(fs.openSync(live, 'r'));`

test('a file whose bytes and name were synced is there after a loss of power', (t) => {
  const { left } = onNewDisk(t, `${write} fs.fsyncSync(file); ${syncFolder}`)
  assert.deepEqual([...left('a')], ['text'])
})

test('a file whose name was not synced may be gone, whatever of its bytes was', (t) => {
  const { left } = onNewDisk(t, `${write} fs.fsyncSync(file)`)
  assert.deepEqual(left('a'), new Set([undefined, 'text']))
})

test('bytes that were not synced may be gone, or read as zeros', (t) => {
  const { left } = onNewDisk(t, `${write} ${syncFolder}`)
  const found = left('a')
  for (const content of ['', 'text', '\0\0\0\0']) assert.ok(found.has(content), content)
  assert.ok(!found.has(undefined))
})

test('a rename without a sync of the folder may be undone, and is one or the other', (t) => {
  const { left } = onNewDisk(
    t,
    `${write} fs.fsyncSync(file); ${syncFolder} fs.renameSync(live + '/a', live + '/b')`,
  )
  assert.deepEqual(left('a'), new Set([undefined, 'text']))
  assert.deepEqual(left('b'), new Set([undefined, 'text']))
})

test('what was dirty when a sync failed is not brought back by a later one', (t) => {
  const again = `try { fs.fsyncSync(file) } catch {} fs.fsyncSync(file); ${syncFolder}`
  const { disk, left } = onNewDisk(t, `${write} ${again}`, { seed: 1, kind: 5, at: 1, errno: 5 })
  assert.equal(countFaults(disk), 1)
  assert.ok(left('a').has('\0\0\0\0'))
})

test('a process ends before the event that was asked for, and the disk is as it was then', (t) => {
  const { status, left } = onNewDisk(t, `{ ${write} } { ${write} }`, { seed: 1, exit: 2 })
  assert.equal(status, 99)
  assert.ok(!left('a').has('text'))
})
