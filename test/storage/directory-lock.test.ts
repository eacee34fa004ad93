import assert from 'node:assert/strict'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import { lockExclusively, lockShared } from '../../src/storage/directory-lock.js'
import { temporaryDirectory } from '../support/tmp.js'

const locked = (error: unknown) =>
  error instanceof Error && 'code' in error && error.code === 'LOCKED'

test('an exclusive lock excludes everybody, and says which directory', (t) => {
  const path = join(temporaryDirectory(t), '.lock')
  const lock = lockExclusively(path)
  assert.throws(() => lockExclusively(path), locked)
  assert.throws(() => lockShared(path), locked)
  assert.throws(() => lockExclusively(path), new RegExp(`${dirname(path)}: `))
  lock.release()
})

test('a shared lock is free when its last user lets go', (t) => {
  const path = join(temporaryDirectory(t), '.lock')
  const first = lockShared(path)
  const second = lockShared(path)
  first.release()
  assert.throws(() => lockExclusively(path), locked)
  second.release()
  lockExclusively(path).release()
})

test('a second release changes nothing', (t) => {
  const path = join(temporaryDirectory(t), '.lock')
  const first = lockShared(path)
  const second = lockShared(path)
  first.release()
  first.release()
  assert.throws(() => lockExclusively(path), locked)
  second.release()
  const exclusive = lockExclusively(path)
  second.release()
  assert.throws(() => lockShared(path), locked)
  exclusive.release()
})

test('an attempt that is refused leaves nothing behind', (t) => {
  const path = join(temporaryDirectory(t), '.lock')
  const lock = lockExclusively(path)
  assert.throws(() => lockShared(path), locked)
  lock.release()
  lockExclusively(path).release()
})
