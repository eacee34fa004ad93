/** Replacing small files: what is left behind when it fails. */
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdir, mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { makeDirectory, readSmall, writeAtomically } from '../src/atomic-file.js'
import { native } from '../src/native.js'
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

test('a directory that a failed attempt left is made durable by the next one', async (t) => {
  const addon = native as unknown as { pathSync(path: string): Promise<number> }
  const original = addon.pathSync
  t.after(() => {
    addon.pathSync = original
  })
  const EMFILE = 24
  const synced: string[] = []
  let answer = EMFILE
  addon.pathSync = async (path) => {
    synced.push(path)
    return answer
  }
  const parent = temporaryDirectory(t)
  await mkdir(join(parent, 'another'))
  const path = join(parent, 'log')
  await assert.rejects(makeDirectory(path), { code: 'TOO_MANY_FILES' })
  await assert.rejects(makeDirectory(path), { code: 'TOO_MANY_FILES' })
  answer = 0
  await makeDirectory(path)
  assert.deepEqual(synced, [parent, parent, parent])
  await mkdir(join(path, 'a file or folder in it'))
  await makeDirectory(path)
  assert.equal(synced.length, 3)
})
