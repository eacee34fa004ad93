/** Replacing small files: what is left behind when it fails. */
import assert from 'node:assert/strict'
import { mkdir, mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { writeAtomically } from '../src/atomic-file.js'

test('a replacement that fails leaves no temporary file behind', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'seglog-atomic-'))
  try {
    // A directory in the way lets the content be written and the rename fail.
    await mkdir(join(directory, 'file'))
    await assert.rejects(writeAtomically(join(directory, 'file'), 'text'), { code: 'IO' })
    assert.deepEqual(await readdir(directory), ['file'])
  } finally {
    await rm(directory, { recursive: true })
  }
})
