/** The end of an environment, main thread or worker, while transfers are pending in it. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { fileURLToPath } from 'node:url'

const directory = mkdtempSync(join(tmpdir(), 'seglog-transfer-'))
after(() => rmSync(directory, { recursive: true, force: true }))
const segment = join(directory, '00000000000000000000')
writeFileSync(`${segment}.log`, '')
// Zeros are as good as records here: they are sent and not read.
truncateSync(`${segment}.log`, 16 * 1024 * 1024)

/** What the child printed; it has to end by itself, with exit code 0 and without complaint. */
function child(ending: string): string {
  const script = fileURLToPath(new URL('./transfer-child.js', import.meta.url))
  const { status, signal, stdout, stderr } = spawnSync(
    process.execPath,
    [script, ending, segment],
    { encoding: 'utf8', timeout: 20_000 },
  )
  assert.deepEqual({ status, signal, stderr }, { status: 0, signal: null, stderr: '' })
  return stdout.trim()
}

test('a worker is terminated with pending transfers and the process goes on', () => {
  assert.equal(child('terminate'), 'pending 0')
})

test('a worker dies of an exception with pending transfers and the process goes on', () => {
  assert.equal(child('throw'), 'pending 0')
})

test('process.exit with pending transfers is a clean exit', () => {
  assert.equal(child('exit'), 'pending 2')
})

test('a process ends by itself once the sockets of pending transfers are destroyed', () => {
  assert.equal(child('close'), 'pending 2')
})

test('an exception of a callback is an uncaught one', () => {
  assert.equal(child('callback'), 'pending 2\nthrown by the callback')
})
