/**
 * Opens the log that it is told, in a process or a worker of its own, says how that went, and keeps
 * it open until it is ended.
 */
import { isMainThread, parentPort, workerData } from 'node:worker_threads'
import { SeglogError } from '../../src/errors.js'
import { openLog } from '../../src/index.js'

const directory = String(isMainThread ? process.argv[2] : workerData)

async function attempt() {
  try {
    const log = await openLog(directory)
    if (log.endOffset === 0n) log.append([{ value: 'of the other' }])
    return { code: 'open', named: true }
  } catch (error) {
    const code = error instanceof SeglogError ? error.code : String(error)
    return { code, named: error instanceof Error && error.message.includes(directory) }
  }
}

const answer = await attempt()
if (isMainThread) process.send?.(answer)
else parentPort?.postMessage(answer)
setInterval(() => {}, 1000)
