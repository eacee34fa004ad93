/**
 * Takes the lock that its argument names and says how that went, then holds it until it is told to
 * end. Runs as a worker and as a process.
 */
import { isMainThread, parentPort, workerData } from 'node:worker_threads'
import { native } from '../../src/native.js'

const path = isMainThread ? process.argv[2] : workerData
const result = native.lockAcquire(String(path))
if (isMainThread) {
  console.log(result)
  process.stdin.resume()
} else {
  parentPort?.on('message', () => process.exit())
  parentPort?.postMessage(result)
}
