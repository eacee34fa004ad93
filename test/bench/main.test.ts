/** The command line of the bench, and one trial from end to end in its own process. */
import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { temporaryDirectory } from '../support/tmp.js'
import { until } from '../support/until.js'

const moduleOf = (name: string) => fileURLToPath(new URL(`../../bench/${name}.js`, import.meta.url))

function run(module: string, ...args: string[]) {
  const all = [moduleOf(module), ...args]
  return spawnSync(process.execPath, all, { encoding: 'utf8', timeout: 20_000 })
}

test('an unknown suite is answered with the list of suites and exit code 2', () => {
  const { status, stderr, stdout } = run('main', 'nonsense')
  assert.equal(status, 2)
  assert.match(stderr, /^bench: there is no suite nonsense\nusage: /)
  assert.match(stderr, /^ {2}crc /m)
  assert.match(stderr, /^ {2}log /m)
  assert.equal(stdout, '')
})

test('an unknown option is answered with exit code 2', () => {
  const { status, stderr } = run('main', 'crc', '--nonsense')
  assert.equal(status, 2)
  assert.match(stderr, /^bench: Unknown option '--nonsense'\nusage: /)
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

test('a trial of a store prints a rate for each phase and leaves no file', (t) => {
  const directory = temporaryDirectory(t)
  const { status, stdout } = run('log/trial', 'seglog', '1024', '1', '20', directory)
  assert.equal(status, 0)
  const rates = JSON.parse(stdout) as Record<string, number>
  assert.deepEqual(Object.keys(rates), ['append', 'read', 'durable', 'awaited', 'overlapping'])
  for (const rate of Object.values(rates)) assert.ok(rate > 0 && Number.isFinite(rate))
  assert.deepEqual(readdirSync(directory), [])
})

test('calls that cannot overlap have no rate of overlapping', (t) => {
  const { stdout } = run('log/trial', 'plain fs', '1024', '1', '20', temporaryDirectory(t))
  assert.deepEqual(Object.keys(JSON.parse(stdout)), ['append', 'read', 'durable'])
})

test('a trial of the native append prints batches a second and leaves no file', (t) => {
  const directory = temporaryDirectory(t)
  const { status, stdout } = run('log/native-trial', '1024', String(1 << 20), '0.02', directory)
  assert.equal(status, 0)
  assert.ok((JSON.parse(stdout) as { perSecond: number }).perSecond > 0)
  assert.deepEqual(readdirSync(directory), [])
})

test('an interrupted bench leaves no file and no process', { timeout: 20_000 }, async (t) => {
  const directory = temporaryDirectory(t)
  const args = [moduleOf('main'), 'log', '--quick', '--dir', directory]
  const bench = spawn(process.execPath, args, { stdio: 'ignore' })
  await until(() => {
    const [own] = readdirSync(directory)
    return own !== undefined && readdirSync(join(directory, own)).length > 0
  }, 'a trial')
  bench.kill('SIGINT')
  const [code] = (await once(bench, 'exit')) as [number | null]
  assert.equal(code, 130)
  assert.deepEqual(readdirSync(directory), [])
})
