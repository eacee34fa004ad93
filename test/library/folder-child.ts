/** Opens the log of the folder that it is told, does the steps that it is told, and waits. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { openLog } from '../../src/index.js'

const [directory = '', ...steps] = process.argv.slice(2)
const log = await openLog(directory)
const many = (count: number, sizeBytes: number) => {
  for (let i = 0; i < count; i++) log.append([{ value: Buffer.alloc(sizeBytes, i) }])
}
const does: Record<string, () => Promise<void> | void> = {
  fill: () => many(10, 10),
  large: () => many(40, 100_000),
  deleteBefore: () => log.deleteBefore(7),
  'deleteBefore-flush': () => {
    void log.deleteBefore(7)
    return log.flush()
  },
  async checkpoint() {
    await log.flush()
    const file = join(directory, 'recovery-point-offset-checkpoint')
    while (!readFileSync(file, 'utf8').endsWith(` ${log.endOffset}\n`)) await sleep(20)
  },
}
for (const step of steps) await does[step]?.()
process.send?.('done')
setInterval(() => {}, 1000)
