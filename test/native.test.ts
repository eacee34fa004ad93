import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { Status, statusError } from '../src/native.js'
import { lockExclusively } from '../src/storage/directory-lock.js'
import { temporaryDirectory } from './support/tmp.js'

test('the error of a system call has the words of its errno', () => {
  const error = statusError(Status.IO, 'x/0.log', 13)
  assert.equal(error.message, 'x/0.log: EACCES: permission denied')
  assert.equal(error.errno, 13)
  assert.match(statusError(Status.NO_SPACE, 'x', 28).message, /no space .* \(ENOSPC: /)
  assert.equal(statusError(Status.IO, 'x', 9999).message, 'x: errno 9999: unknown')
})

test('an error that no system call made has words and no errno', () => {
  for (const name of ['CLOSED', 'BAD_ARGUMENT', 'FENCED', 'CORRUPT'] as const) {
    const error = statusError(Status[name], 'x', 13)
    assert.equal(error.code, name)
    assert.equal('errno' in error, false)
    assert.match(error.message, /^x: \w+ \w+ \w+/)
  }
})

test('a directory in use is named, with who may hold it', (t) => {
  const directory = temporaryDirectory(t)
  const lock = lockExclusively(`${directory}/.lock`)
  assert.throws(() => lockExclusively(`${directory}/.lock`), {
    code: 'LOCKED',
    message: new RegExp(`^${directory}: locked by another process, or by .* broker`),
  })
  lock.release()
})

test('a lock that cannot be made says why', (t) => {
  const path = `${temporaryDirectory(t)}/missing/.lock`
  assert.throws(
    () => lockExclusively(path),
    (error: Error) => error.message.startsWith(path),
  )
})

/** The message of the error that the package gives where `make` has prepared its build. */
function messageOf(t: TestContext, make: (addon: string) => void): string {
  const root = temporaryDirectory(t)
  cpSync(new URL('../src', import.meta.url), join(root, 'dist', 'src'), { recursive: true })
  writeFileSync(join(root, 'package.json'), '{"type":"module"}')
  mkdirSync(join(root, 'build', 'Release'), { recursive: true })
  make(join(root, 'build', 'Release', 'seglog.node'))
  const script = `import(process.argv[1]).catch(({ code, message }) => {
    console.log(code + '\\n' + message)
  })`
  const index = join(root, 'dist', 'src', 'index.js')
  const run = spawnSync(process.execPath, ['-e', script, index], { encoding: 'utf8' })
  const [code, message = ''] = run.stdout.split('\n')
  assert.equal(code, 'ADDON_UNAVAILABLE', run.stderr)
  return message
}

const { platform, arch } = process
const help = 'run "npm rebuild seglog" with g\\+\\+, make and python3 installed'

test('a package without its addon names platform and C library, and what helps', (t) => {
  const message = messageOf(t, () => {})
  const where = `${platform}-${arch} with (glibc 2\\.\\d+|musl)`
  assert.match(message, new RegExp(`^the native addon for ${where} is missing; ${help}$`))
})

test('an addon of another platform is told apart from one that is missing', (t) => {
  const message = messageOf(t, (addon) => writeFileSync(addon, 'made for something else'))
  assert.match(message, new RegExp(`${platform}-${arch} with .* does not load \\(.*\\); ${help}$`))
})
