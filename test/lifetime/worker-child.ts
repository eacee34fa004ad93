/** Appends without end to four logs of the folder that it is told, and says so after each round. */
import { join } from 'node:path'
import { parentPort, workerData } from 'node:worker_threads'
import { openLog } from '../../src/open-log.js'

const names = ['0', '1', '2', '3']
const options = { segmentBytes: 20_000 }
const logs = await Promise.all(names.map((name) => openLog(join(workerData, name), options)))
const records = Array.from({ length: 10 }, () => ({ value: 'appended by a worker' }))
for (;;) {
  for (const log of logs) log.append(records)
  await Promise.all(logs.map((log) => log.appendDurable(records)))
  parentPort?.postMessage(undefined)
}
