/**
 * Descriptors, mappings and memory of a log with more segments than the process may have files
 * open. The logs lie in memory where that is to be had, as each roll syncs.
 */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { type TestContext, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { memoryDirectory } from '../support/tmp.js'

const script = fileURLToPath(new URL('./descriptors-child.js', import.meta.url))
const LIMIT = 256
const MIB = 1024 * 1024

/** What a process with 256 descriptors printed. */
function child(t: TestContext, what: string) {
  const directory = memoryDirectory(t)
  const { status, stdout, stderr } = spawnSync(
    '/bin/sh',
    ['-c', `ulimit -n ${LIMIT}; exec "$@"`, 'sh', process.execPath, script, what, directory],
    { encoding: 'utf8', timeout: 60_000 },
  )
  assert.equal(stderr, '')
  assert.equal(status, 0)
  return JSON.parse(stdout)
}

test('a thousand rolls in one turn of the loop wait for descriptors and all succeed', (t) => {
  assert.deepEqual(child(t, 'roll at once'), { end: 1000, read: 1000, segments: 1000 })
})

test('ten thousand rolls hold no more than two thousand', (t) => {
  const { segments, before, most, after } = child(t, 'roll on')
  assert.equal(segments, 10_000)
  assert.ok(most.descriptors < LIMIT, `${most.descriptors} descriptors`)
  assert.ok(after.descriptors < 40, `${after.descriptors} descriptors after the close`)
  const maps = most.maps - before.maps
  assert.ok(maps < 300, `${maps} more mappings`)
  // What a segment at rest is in memory, and its entry in the list: a few KiB.
  const perSegment = (most.rssBytes - before.rssBytes) / 8000
  assert.ok(perSegment < 12 * 1024, `${Math.round(perSegment)} bytes a segment`)
  assert.ok(most.rssBytes < 300 * MIB, `${most.rssBytes} bytes`)
})

test('without a descriptor a roll and an open are refused by name, and work later', (t) => {
  assert.deepEqual(child(t, 'starve'), {
    roll: 'TOO_MANY_FILES',
    opening: 'TOO_MANY_FILES',
    end: 1,
    read: true,
    recovered: 100,
  })
})
