/**
 * Run under strace by syncs.test.ts: argument 1 is what it does, argument 2 the folder of a log.
 * Says `ack N` on stdout, in one write, when record N was promised to be on the disk.
 */
import { writeSync } from 'node:fs'
import { openLog } from '../../src/open-log.js'

const [, , what = '', directory = ''] = process.argv

async function roll() {
  const log = await openLog(directory, { segmentBytes: 1000 })
  for (let i = 0; i < 12; i++) {
    const { baseOffset } = await log.appendDurable([{ value: 'x'.repeat(200) }])
    writeSync(1, `ack ${baseOffset}\n`)
  }
  await log.close()
}

async function look() {
  const log = await openLog(directory, { segmentBytes: 1000 })
  writeSync(1, `ack ${log.endOffset}\n`)
  await log.close()
}

await (what === 'roll' ? roll : look)()
