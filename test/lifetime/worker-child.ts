/** Appends without end to the log that it is told of, and says so after each round. */
import { parentPort, workerData } from 'node:worker_threads'
import { openLog } from '../../src/index.js'

const log = await openLog(workerData, { segmentBytes: 20_000 })
const records = Array.from({ length: 10 }, () => ({ value: 'appended by a worker' }))
for (;;) {
  log.append(records)
  await log.appendDurable(records)
  parentPort?.postMessage(undefined)
}
