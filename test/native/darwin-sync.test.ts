/**
 * Which call makes bytes durable on Darwin, whose fsync stops at the cache of the drive. Shown on
 * any machine: native/file.cc is compiled as there, and the calls of the system are watched.
 */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { constants } from 'node:os'
import { dirname, join } from 'node:path'
import { before, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { temporaryDirectory } from '../support/tmp.js'

const root = dirname(dirname(dirname(dirname(fileURLToPath(import.meta.url)))))
const { EINVAL, ENOTSUP, EIO } = constants.errno
let program = ''

before((t) => {
  program = join(temporaryDirectory(t as never), 'sync')
  const asDarwin = ['-D__APPLE__', '-DF_FULLFSYNC=51']
  const watched = ['fcntl', 'fsync', 'fdatasync'].map((name) => `-Wl,--wrap=${name}`)
  const sources = ['native/file.cc', 'native/status.cc', 'test/native/darwin/sync.cc']
  const args = ['-std=c++17', ...asDarwin, ...watched, '-o', program, ...sources, '-pthread']
  const { status, stderr } = spawnSync('g++', args, { cwd: root, encoding: 'utf8' })
  assert.equal(status, 0, stderr)
})

/** What a sync called, where F_FULLFSYNC and fsync fail with these. */
function called(full: number, plain: number, directory: string): string[] {
  const args = [join(directory, `${full}-${plain}`), `${full}`, `${plain}`]
  const { status, stdout } = spawnSync(program, args, { encoding: 'utf8' })
  assert.equal(status, 0)
  return stdout.trim().split('\n')
}

test('a sync is the full one of the drive', (t) => {
  const calls = called(0, 0, temporaryDirectory(t))
  assert.deepEqual(calls, ['fcntl F_FULLFSYNC', 'status 0 errno 0'])
})

test('a file system that does not know the full sync gets the plain one', (t) => {
  for (const errno of [ENOTSUP, EINVAL]) {
    const calls = called(errno, 0, temporaryDirectory(t))
    assert.deepEqual(calls, ['fcntl F_FULLFSYNC', 'fsync', 'status 0 errno 0'])
  }
})

test('a full sync that fails is an error, whatever a plain one would say', (t) => {
  const calls = called(EIO, 0, temporaryDirectory(t))
  assert.deepEqual(calls, ['fcntl F_FULLFSYNC', `status -3 errno ${EIO}`])
})

test('a plain sync that fails is an error', (t) => {
  assert.equal(called(ENOTSUP, EIO, temporaryDirectory(t)).at(-1), `status -3 errno ${EIO}`)
})

test('a file system that cannot sync a directory is none to refuse', (t) => {
  const directory = temporaryDirectory(t)
  for (const [errno, status] of [
    [EINVAL, 0],
    [EIO, -3],
  ] as const) {
    const args = ['', '0', `${errno}`, directory]
    const { stdout } = spawnSync(program, args, { encoding: 'utf8' })
    assert.match(stdout, new RegExp(`fsync\nstatus ${status} `))
  }
})
