import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { Worker } from 'node:worker_threads'
import { openLog } from '../../src/index.js'
import { temporaryDirectory } from '../support/tmp.js'
import { until } from '../support/until.js'

const ROUNDS = 5
const NAMES = ['0', '1', '2', '3']
const O_RDWR = 2

const descriptors = () => readdirSync('/proc/self/fd').length

/** What is open to be read and written in `directory`: active segments and locks. */
function writable(directory: string): string[] {
  return readdirSync('/proc/self/fd').flatMap((fd) => {
    try {
      const path = readlinkSync(`/proc/self/fd/${fd}`)
      const info = readFileSync(`/proc/self/fdinfo/${fd}`, 'utf8')
      const [, flags = ''] = /^flags:\s*(\d+)$/m.exec(info) ?? []
      const isWritable = (Number.parseInt(flags, 8) & 3) === O_RDWR
      return path.startsWith(directory) && isWritable ? [path] : []
    } catch {
      return []
    }
  })
}

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

test('logs of workers that are ended in the middle leave no descriptor', async (t) => {
  const directory = temporaryDirectory(t)
  // The first worker brings what stays for the life of the process.
  await terminated(directory, 1)
  const before = descriptors()
  for (let round = 0; round < ROUNDS; round++) await terminated(directory, 1 + (round % 3))
  // What a job of the pool held when its worker ended is let go by the job.
  await until(() => writable(directory).length === 0, 'all that is written to be closed')
  // Node.js loses the descriptor of an open that is under way when its worker ends, as that of a
  // checkpoint or a directory may be; a log that left one would do so each time.
  const lost = descriptors() - before
  assert.ok(lost < ROUNDS * NAMES.length, `${lost} descriptors`)
  for (const name of NAMES) {
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

test('a main thread appends on while its workers are ended, and nothing is left of them', (t) => {
  const script = fileURLToPath(new URL('./workers-child.js', import.meta.url))
  const rounds = 6
  const { status, signal, stdout, stderr } = spawnSync(
    process.execPath,
    [script, temporaryDirectory(t), `${rounds}`],
    { encoding: 'utf8', timeout: 60_000 },
  )
  assert.deepEqual({ status, signal, stderr }, { status: 0, signal: null, stderr: '' })
  const { whole, loads, before, after } = JSON.parse(stdout)
  assert.ok(whole, 'the log of the main thread')
  assert.deepEqual(loads, [0xe3069283, 0xe3069283], 'the addon when it is loaded twice')
  assert.ok(after.threads <= before.threads, `${after.threads - before.threads} threads`)
  // Each round has sixteen logs; see above for what Node.js loses itself.
  const lost = after.descriptors - before.descriptors
  assert.ok(lost < 4 * (rounds - 2), `${lost} descriptors`)
  assert.ok(after.rssMiB - before.rssMiB < 50, `${after.rssMiB - before.rssMiB} MiB`)
})
