/**
 * Run as a process of its own by worker.test.ts: for as many rounds as argument 2 says, the main
 * thread and four workers append to a log each, below argument 1, and the workers are ended in the
 * middle of it. Prints what is left as JSON.
 */
import { readdirSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { Worker } from 'node:worker_threads'
import { openLog } from '../../src/open-log.js'

const [, , directory = '', rounds = '1'] = process.argv
const WORKERS = 4

/** Resolves when a worker has begun to append. */
async function begun(name: string): Promise<Worker> {
  const child = new URL('./worker-child.js', import.meta.url)
  const worker = new Worker(child, { workerData: join(directory, name) })
  await new Promise((resolve, reject) => worker.once('message', resolve).once('error', reject))
  return worker
}

function held() {
  return {
    descriptors: readdirSync('/proc/self/fd').length,
    threads: readdirSync('/proc/self/task').length,
    rssMiB: process.memoryUsage.rss() / 1024 / 1024,
  }
}

async function round(number: number): Promise<void> {
  const log = await openLog(join(directory, 'main'), { segmentBytes: 20_000 })
  const names = Array.from({ length: WORKERS }, (_, i) => `worker-${i}`)
  const workers = await Promise.all(names.map(begun))
  const appends = Array.from({ length: 20 }, (_, i) => {
    return log.appendDurable([{ value: `${number * 20 + i}` }])
  })
  await Promise.all(workers.map((worker) => worker.terminate()))
  await Promise.all(appends)
  await log.close()
}

/** Whether the log of the main thread holds what it appended, in order. */
async function isWhole(): Promise<boolean> {
  const log = await openLog(join(directory, 'main'))
  let next = 0
  for await (const { value } of log.read()) if (String(value) === `${next}`) next++
  await log.close()
  return next === Number(rounds) * 20 && log.endOffset === BigInt(next)
}

const require = createRequire(import.meta.url)
const addon = '../../../build/Release/seglog.node'
const twice = require(addon)
delete require.cache[require.resolve(addon)]
const again = require(addon)

// The first rounds bring what stays for the life of the process.
for (let number = 0; number < 2; number++) await round(number)
const before = held()
for (let number = 2; number < Number(rounds); number++) await round(number)
const after = held()
const loads = [twice, again].map(({ crc32c }) => crc32c(Buffer.from('123456789'), 0, 9, 0))
console.log(JSON.stringify({ whole: await isWhole(), loads, before, after }))
