import assert from 'node:assert/strict'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { Worker } from 'node:worker_threads'
import { openLog } from '../../src/index.js'
import { temporaryDirectory } from '../support/tmp.js'
import { until } from '../support/until.js'

const descriptors = () => readdirSync('/proc/self/fd').length

/** Resolves when the worker is gone, `appends` messages after it began. */
async function terminated(directory: string, appends: number): Promise<void> {
  const child = new URL('./worker-child.js', import.meta.url)
  const worker = new Worker(child, { workerData: directory })
  await new Promise<void>((resolve, reject) => {
    let seen = 0
    worker.on('error', reject)
    worker.on('message', () => {
      if (++seen === appends) resolve()
    })
  })
  await worker.terminate()
}

test('100 logs of workers that are ended in the middle leave no descriptor', async (t) => {
  const directory = temporaryDirectory(t)
  // The first worker brings what stays for the life of the process.
  await terminated(directory, 1)
  const before = descriptors()
  for (let round = 0; round < 25; round++) await terminated(directory, 1 + (round % 3))
  // What a job of the pool held when its worker ended is let go by the job.
  await until(() => descriptors() <= before, 'all descriptors to be closed')
  for (const name of ['0', '1', '2', '3']) {
    const log = await openLog(join(directory, name))
    assert.ok(log.endOffset > 0n)
    let next = 0n
    for await (const { offset, value } of log.read()) {
      assert.equal(offset, next++)
      assert.equal(String(value), 'appended by a worker')
    }
    assert.equal(next, log.endOffset)
    await log.close()
  }
})
