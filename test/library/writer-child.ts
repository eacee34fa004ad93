/**
 * Appends to the log of the folder that it is told until it is told to stop: records whose value is
 * their offset, in batches of many sizes, with rolls and deletions. Says where the log begins and
 * ends every few batches.
 */
import { setImmediate as turn } from 'node:timers/promises'
import { openLog } from '../../src/index.js'

const log = await openLog(process.argv[2] ?? '', { segmentBytes: 300_000, fileDeleteDelayMs: 0 })
let isOver = false
process.on('message', () => {
  isOver = true
})
for (let i = 0; !isOver; i++) {
  const first = Number(log.endOffset)
  const records = Array.from({ length: 1 + (i % 7) }, (_, j) => ({
    value: `${first + j} `.padEnd(20 + ((i * 37) % 3000), 'x'),
  }))
  log.append(records)
  if (i % 40 === 39) log.roll()
  if (i % 60 === 59) await log.deleteBefore(log.endOffset - 500n > 0 ? log.endOffset - 500n : 0)
  if (i % 25 === 24) await log.flush()
  if (i % 5 !== 0) continue
  process.send?.([String(log.startOffset), String(log.endOffset)])
  await turn()
}
const last = [String(log.startOffset), String(log.endOffset)]
await log.close()
process.send?.(last)
process.disconnect()
