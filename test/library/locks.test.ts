/** A log has one user at a time, wherever the second one runs. */
import assert from 'node:assert/strict'
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { Worker } from 'node:worker_threads'
import { openLog } from '../../src/index.js'
import { temporaryDirectory } from '../support/tmp.js'

const script = fileURLToPath(new URL('./lock-child.js', import.meta.url))
const folder = (t: TestContext) => join(temporaryDirectory(t), 'orders-0')

const refused = (directory: string) => ({ code: 'LOCKED', named: true, directory })

/** What became of an attempt to open the log in a process or worker of its own. */
async function elsewhere(t: TestContext, where: 'process' | 'worker', directory: string) {
  const other =
    where === 'process'
      ? fork(script, [directory])
      : new Worker(new URL('./lock-child.js', import.meta.url), { workerData: directory })
  t.after(() => ('kill' in other ? other.kill('SIGKILL') : other.terminate()))
  const [answer] = await once(other, 'message')
  return { other, answer: { ...answer, directory } }
}

for (const where of ['process', 'worker'] as const) {
  test(`a second user in another ${where} is told which directory is in use`, async (t) => {
    const directory = folder(t)
    const log = await openLog(directory)
    log.append([{ value: 'a' }])
    assert.deepEqual((await elsewhere(t, where, directory)).answer, refused(directory))
    log.append([{ value: 'b' }])
    await log.close()
    assert.equal((await elsewhere(t, where, directory)).answer.code, 'open')
  })
}

test('the log of a process that was killed is free at once', async (t) => {
  const directory = folder(t)
  const { other, answer } = await elsewhere(t, 'process', directory)
  assert.equal(answer.code, 'open')
  await assert.rejects(openLog(directory), { code: 'LOCKED' })
  assert.ok('kill' in other)
  const exited = once(other, 'exit')
  other.kill('SIGKILL')
  await exited
  const log = await openLog(directory)
  assert.equal(log.endOffset, 1n)
  await log.close()
})

test('the log of a worker that was terminated is free, and the process goes on', async (t) => {
  const directory = folder(t)
  const { other, answer } = await elsewhere(t, 'worker', directory)
  assert.equal(answer.code, 'open')
  await assert.rejects(openLog(directory), { code: 'LOCKED' })
  assert.ok(other instanceof Worker)
  await other.terminate()
  const log = await openLog(directory)
  assert.equal(log.endOffset, 1n)
  await log.close()
})
