/**
 * Locks of directories, one file each. A lock shuts out other processes and other users in this
 * one; a shared one is held once per process and counted, for those who must only be sure that no
 * broker runs there.
 */
import { checked, native } from '../native.js'

export interface DirectoryLock {
  release(): void
}

const shared = new Map<string, { handle: number; users: number }>()

/** Errors: LOCKED, IO. */
export function lockExclusively(path: string): DirectoryLock {
  const handle = checked(native.lockAcquire(path), path)
  return once(() => native.lockRelease(handle))
}

/** Errors: LOCKED where somebody holds it exclusively, IO. */
export function lockShared(path: string): DirectoryLock {
  const lock = shared.get(path) ?? { handle: checked(native.lockAcquire(path), path), users: 0 }
  lock.users++
  shared.set(path, lock)
  return once(() => {
    lock.users--
    if (lock.users > 0) return
    shared.delete(path)
    native.lockRelease(lock.handle)
  })
}

function once(release: () => void): DirectoryLock {
  let held = true
  return {
    release() {
      if (held) release()
      held = false
    },
  }
}
