import assert from 'node:assert/strict'
import { test } from 'node:test'
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
