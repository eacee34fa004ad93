/** What the bench says of the place where it writes. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { log } from '../../bench/log/suite.js'
import { fileSystemOf, flagsOf } from '../../bench/machine.js'
import { temporaryDirectory } from '../support/tmp.js'

test('memory that looks like a disk is flagged', () => {
  for (const type of ['tmpfs', 'ramfs']) {
    const [flag, ...others] = flagsOf({ type, options: 'rw,relatime' })
    assert.match(flag ?? '', new RegExp(`^NOTE: ${type} is memory`))
    assert.deepEqual(others, [])
  }
})

test('a mount whose syncs do not reach the drive is flagged', () => {
  for (const option of ['nobarrier', 'barrier=0', 'barrier=none']) {
    const flags = flagsOf({ type: 'ext4', options: `rw,${option},relatime` })
    assert.equal(flags.length, 1)
    assert.match(flags[0] ?? '', new RegExp(`^NOTE: ${option}: a sync does not wait`))
  }
})

test('a disk with barriers is not flagged', () => {
  for (const options of ['rw,relatime', 'rw,barrier=1', '']) {
    assert.deepEqual(flagsOf({ type: 'ext4', options }), [])
  }
})

test('the suite log says where it writes, how it syncs and how much', (t) => {
  const directory = temporaryDirectory(t)
  const { type, device } = fileSystemOf(directory)
  const lines = log.context(directory)
  assert.ok(lines[0]?.startsWith(`${type} on ${device} (`), lines[0])
  const text = lines.join('\n')
  for (const word of ['fdatasync', 'fallocate', '64 MiB', 'page cache']) {
    assert.ok(text.includes(word), word)
  }
})
