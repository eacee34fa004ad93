/**
 * Fresh directories for tests. They go when the process of the test file ends: hooks run in the
 * order in which they were made, so one per test would come before what is closed after the test.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestContext } from 'node:test'

const made: string[] = []

process.on('exit', () => {
  for (const path of made) rmSync(path, { recursive: true, force: true })
})

export function temporaryDirectory(_t: TestContext): string {
  const path = mkdtempSync(join(tmpdir(), 'seglog-test-'))
  made.push(path)
  return path
}
