/** Replacing small files: what is left behind when it fails. */
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdir, mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { readSmall, writeAtomically } from '../src/atomic-file.js'
import { temporaryDirectory } from './support/tmp.js'

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

test('a pipe in the place of a small file is an error, and nobody waits for it', async (t) => {
  const path = join(temporaryDirectory(t), 'pipe')
  execFileSync('mkfifo', [path])
  await assert.rejects(readSmall(path), { code: 'IO', message: /no regular file/ })
})
