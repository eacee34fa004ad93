/**
 * Run as a process of its own by exit.test.ts: opens what argument 1 names, uses it, closes it, and
 * returns.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fetch } from '../../src/apis/fetch.js'
import { metadata } from '../../src/apis/metadata.js'
import { Broker } from '../../src/broker.js'
import { openLog } from '../../src/open-log.js'
import { batchOf, fetchBody, produceTo } from '../support/broker.js'
import { Wire } from '../support/wire.js'

async function broker(closes: boolean) {
  const started = await Broker.start({ port: 0 })
  const wire = Wire.over(connect(started.port, '127.0.0.1'))
  await wire.call(metadata, 9, { topics: [{ name: 't' }] })
  await produceTo(wire, 't', batchOf('a'))
  const parked = fetchBody([{ topic: 't', offset: 1 }], { maxWaitMs: 60_000 })
  wire.call(fetch, 12, parked).catch(() => {})
  if (closes) await started.close()
  else {
    for (const path of started.dataDirs) rmSync(path, { recursive: true })
    process.exit(0)
  }
}

async function log(closes: boolean) {
  const directory = mkdtempSync(join(tmpdir(), 'seglog-exit-'))
  process.on('exit', () => rmSync(directory, { recursive: true, force: true }))
  const opened = await openLog(join(directory, 'log-0'), { flush: { ms: 60_000 } })
  const appends = [1, 2, 3].map(() => opened.appendDurable([{ value: 'a' }]))
  if (closes) await Promise.all([...appends, opened.close()])
}

const [what, how] = (process.argv[2] ?? '').split(' ')
await (what === 'broker' ? broker : log)(how === 'closed')
console.log('done')
const doneMs = performance.now()
process.on('exit', () => {
  const lateMs = performance.now() - doneMs
  if (lateMs > 1000) console.error(`something kept the process for ${Math.round(lateMs)} ms`)
})
