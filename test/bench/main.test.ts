/** The command line of the bench, and one trial from end to end in its own process. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'

function run(module: string, ...args: string[]) {
  const path = fileURLToPath(new URL(`../../bench/${module}.js`, import.meta.url))
  return spawnSync(process.execPath, [path, ...args], { encoding: 'utf8', timeout: 20_000 })
}

test('an unknown suite is answered with the list of suites and exit code 2', () => {
  const { status, stderr, stdout } = run('main', 'nonsense')
  assert.equal(status, 2)
  assert.match(stderr, /^usage: /)
  assert.match(stderr, /^ {2}crc /m)
  assert.match(stderr, /^ {2}log /m)
  assert.equal(stdout, '')
})

test('an unknown option is answered with exit code 2', () => {
  assert.equal(run('main', 'crc', '--nonsense').status, 2)
})

test('--help lists the suites on stdout', () => {
  const { status, stdout } = run('main', '--help')
  assert.equal(status, 0)
  assert.match(stdout, /^ {2}crc /m)
})

test('a trial prints one line of JSON with nanoseconds and bytes per operation', () => {
  const { status, stdout } = run('trial', 'crc', 'addon crc32c', '1024', '0.02', '.')
  assert.equal(status, 0)
  const result = JSON.parse(stdout) as Record<string, number>
  assert.equal(result.bytesPerOperation, 1024)
  assert.ok((result.nsPerOperation ?? 0) > 0)
  assert.ok((result.samples ?? 0) >= 5)
})

test('a trial of an unknown contestant fails', () => {
  assert.equal(run('trial', 'crc', 'nobody', '1024', '0.02', '.').status, 1)
})
