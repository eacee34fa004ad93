import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { Worker } from 'node:worker_threads'
import { native, Status } from '../../src/native.js'

const holder = new URL('./lock-holder.js', import.meta.url)

function lockPath(t: TestContext): string {
  const directory = mkdtempSync(join(tmpdir(), 'seglog-lock-'))
  t.after(() => rmSync(directory, { recursive: true, force: true }))
  return join(directory, '.lock')
}

/** Takes a lock that must be free; it goes with the test. */
function acquire(t: TestContext, path: string): number {
  const handle = native.lockAcquire(path)
  assert.ok(handle > 0, `status ${handle}`)
  t.after(() => native.lockRelease(handle))
  return handle
}

/** Starts a child and waits for what it prints first. */
async function start(t: TestContext, command: string, args: string[]) {
  const child: ChildProcess = spawn(command, args, { stdio: ['pipe', 'pipe', 'inherit'] })
  t.after(() => child.kill('SIGKILL'))
  const [line] = (await once(child.stdout!, 'data')) as [Buffer]
  return { child, answer: line.toString().trim() }
}

/** What FileChannel.tryLock() of Java does: a record lock of POSIX on all of the file. */
const recordLock = `
import fcntl, sys
file = open(sys.argv[1], 'r+b')
try:
  fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
  print('held', flush=True)
except OSError:
  print('refused', flush=True)
sys.stdin.read()
`

test('a lock makes its file and excludes a second one in the same process', (t) => {
  const path = lockPath(t)
  acquire(t, path)
  assert.ok(existsSync(path))
  assert.equal(native.lockAcquire(path), Status.LOCKED)
})

test('a refused attempt does not loosen the lock that is held', (t) => {
  const path = lockPath(t)
  acquire(t, path)
  assert.equal(native.lockAcquire(path), Status.LOCKED)
  assert.equal(native.lockAcquire(path), Status.LOCKED)
})

test('a released lock is free and cannot be released again', (t) => {
  const path = lockPath(t)
  const handle = native.lockAcquire(path)
  assert.equal(native.lockRelease(handle), 0)
  assert.equal(native.lockRelease(handle), Status.CLOSED)
  assert.ok(existsSync(path), 'the file stays')
  acquire(t, path)
})

test('locks of two files do not meet', (t) => {
  acquire(t, lockPath(t))
  acquire(t, lockPath(t))
})

test('a lock excludes a worker', async (t) => {
  const path = lockPath(t)
  acquire(t, path)
  const worker = new Worker(holder, { workerData: path })
  t.after(() => worker.terminate())
  assert.deepEqual(await once(worker, 'message'), [Status.LOCKED])
})

test('the lock of a worker goes with the worker', async (t) => {
  const path = lockPath(t)
  for (const end of ['exit', 'terminate']) {
    const worker = new Worker(holder, { workerData: path })
    const [handle] = await once(worker, 'message')
    assert.ok(handle > 0)
    assert.equal(native.lockAcquire(path), Status.LOCKED)
    const exited = once(worker, 'exit')
    if (end === 'exit') worker.postMessage('end')
    else await worker.terminate()
    await exited
  }
  acquire(t, path)
})

test('a lock excludes another process', async (t) => {
  const path = lockPath(t)
  acquire(t, path)
  const { answer } = await start(t, process.execPath, [fileURLToPath(holder), path])
  assert.equal(answer, String(Status.LOCKED))
})

test('the lock of a killed process is free at once', async (t) => {
  const path = lockPath(t)
  const { child, answer } = await start(t, process.execPath, [fileURLToPath(holder), path])
  assert.ok(Number(answer) > 0)
  assert.equal(native.lockAcquire(path), Status.LOCKED)
  child.kill('SIGKILL')
  await once(child, 'exit')
  acquire(t, path)
})

test('a lock refuses a record lock as Java takes it', async (t) => {
  const path = lockPath(t)
  acquire(t, path)
  const { answer } = await start(t, 'python3', ['-c', recordLock, path])
  assert.equal(answer, 'refused')
})

test('a record lock as Java takes it refuses a lock', async (t) => {
  const path = lockPath(t)
  assert.equal(native.lockRelease(native.lockAcquire(path)), 0)
  const { child, answer } = await start(t, 'python3', ['-c', recordLock, path])
  assert.equal(answer, 'held')
  assert.equal(native.lockAcquire(path), Status.LOCKED)
  child.kill('SIGKILL')
  await once(child, 'exit')
  acquire(t, path)
})

test('a lock whose directory is missing, or whose name makes no sense, is an error', (t) => {
  const path = lockPath(t)
  assert.equal(native.lockAcquire(join(path, 'missing', '.lock')), Status.NOT_FOUND)
  assert.equal(native.lockAcquire(''), Status.BAD_ARGUMENT)
  assert.equal(native.lockAcquire(`${path}\0tail`), Status.BAD_ARGUMENT)
  assert.equal(native.lockAcquire(7 as never), Status.BAD_ARGUMENT)
  assert.equal(native.lockRelease(-1), Status.CLOSED)
  assert.equal(existsSync(path), false)
})
