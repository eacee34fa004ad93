/**
 * Run as a process of its own by full-disk.test.ts, in a directory on a small file system. Argument
 * 1 names what fills the disk, argument 2 is the directory. Prints what happened as JSON.
 */
import { rmSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { createTopics } from '../../src/apis/create-topics.js'
import { Broker } from '../../src/broker.js'
import { SeglogError } from '../../src/errors.js'
import { openLog } from '../../src/open-log.js'
import { batchOf, produceTo } from '../support/broker.js'
import { Wire } from '../support/wire.js'

const [, , what = '', directory = ''] = process.argv
const filler = join(directory, 'filler')
const options = { segmentBytes: 1024 * 1024 }

async function log(valueBytes: number) {
  const path = join(directory, 'log-0')
  const opened = await openLog(path, options)
  const records = [{ value: Buffer.alloc(valueBytes, 7) }]
  let code = ''
  for (let left = 1_000_000; code === '' && left > 0; left--) {
    try {
      opened.append(records)
    } catch (error) {
      code = error instanceof SeglogError ? error.code : String(error)
    }
  }
  const full = opened.endOffset
  let readable = 0
  for await (const { value } of opened.read()) if (value?.every((byte) => byte === 7)) readable++
  rmSync(filler)
  const resumed = opened.append(records).baseOffset === full
  await opened.close()
  const again = await openLog(path, options)
  const kept = again.endOffset === full + 1n
  await again.close()
  console.log(JSON.stringify({ code, allReadable: BigInt(readable) === full, resumed, kept }))
}

async function broker() {
  const config = { 'log.segment.bytes': options.segmentBytes }
  const started = await Broker.start({ port: 0, dataDir: directory, config })
  const wire = Wire.over(connect(started.port, '127.0.0.1'))
  const create = async (name: string) => {
    const topic = { name, numPartitions: 3, replicationFactor: 1, assignments: [], configs: [] }
    return (await wire.call(createTopics, 7, { topics: [topic] })).topics[0]?.errorCode
  }
  const made = await create('before')
  const batch = batchOf('x'.repeat(60_000))
  let refused = 0
  for (let left = 1000; refused === 0 && left > 0; left--) {
    refused = (await produceTo(wire, 'before', batch)).errorCode
  }
  // What is left of the disk goes too, so that not even a small file fits.
  for (let size = 65_536; size >= 512; size /= 2) fill(size)
  const full = await create('during')
  rmSync(filler)
  for (const name of fillers) rmSync(name)
  const retried = await create('during')
  const produced = await produceTo(wire, 'during', batch)
  const resumed = (await produceTo(wire, 'before', batch)).errorCode
  wire.socket.destroy()
  await started.close()
  const { errorCode, baseOffset } = produced
  console.log(JSON.stringify({ made, refused, full, retried, errorCode, baseOffset, resumed }))
}

const fillers: string[] = []

function fill(sizeBytes: number): void {
  for (;;) {
    const name = join(directory, `filler-${fillers.length}`)
    fillers.push(name)
    try {
      writeFileSync(name, Buffer.alloc(sizeBytes, 1))
    } catch {
      return
    }
  }
}

writeFileSync(filler, Buffer.alloc(3 * 1024 * 1024, 1))
if (what === 'broker') await broker()
else await log(Number(what))
