/** Runs the C++ tests of the engine, which are compiled under sanitizers where they are stale. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { test } from 'node:test'
import { compileAll, program } from './compile.js'

test('the engine passes its own tests under AddressSanitizer and UBSan', async () => {
  await compileAll()
  const run = spawnSync(program, { encoding: 'utf8', timeout: 120_000 })
  assert.equal(run.status, 0, run.stdout + run.stderr)
})
