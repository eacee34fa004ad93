/**
 * Fresh directories for tests. They go when the process of the test file ends: hooks run in the
 * order in which they were made, so one per test would come before what is closed after the test.
 */
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestContext } from 'node:test'

const made: string[] = []

process.on('exit', () => {
  for (const path of made) rmSync(path, { recursive: true, force: true })
})

export function temporaryDirectory(_t: TestContext): string {
  return makeIn(tmpdir())
}

/** In memory where that is to be had, for a test of many syncs that is not about them. */
export function memoryDirectory(_t: TestContext): string {
  return makeIn(existsSync('/dev/shm') ? '/dev/shm' : tmpdir())
}

function makeIn(root: string): string {
  const path = mkdtempSync(join(root, 'seglog-test-'))
  made.push(path)
  return path
}
