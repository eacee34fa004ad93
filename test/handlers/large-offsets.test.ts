/**
 * Offsets near 2^53 - 1, the largest that is counted: exact on every way through the broker, and
 * refused beyond it, never rounded.
 */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { fetch } from '../../src/apis/fetch.js'
import { listOffsets } from '../../src/apis/list-offsets.js'
import { offsetCommit } from '../../src/apis/offset-commit.js'
import { offsetFetch } from '../../src/apis/offset-fetch.js'
import { KafkaError } from '../../src/errors.js'
import { decodeResponse, encodeRequest } from '../../src/protocol/frame.js'
import { iterateBatches } from '../../src/records/batch.js'
import { iterateRecords } from '../../src/records/reader.js'
import { Log } from '../../src/storage/log.js'
import { defaultLogOptions } from '../../src/storage/log-options.js'
import { batchOf, fetchBody, fetchFrom, produceTo, startBroker } from '../support/broker.js'
import { temporaryDirectory } from '../support/tmp.js'
import { Wire } from '../support/wire.js'

const FIRST = Number.MAX_SAFE_INTEGER - 6
const ID = 'bwAAAAAAAAAAAAAAAAAAAA'
const main = fileURLToPath(new URL('../../src/cli/main.js', import.meta.url))

/** A broker with a topic whose log begins a few offsets below 2^53 - 1. */
async function start(t: TestContext) {
  const dataDir = temporaryDirectory(t)
  const folder = join(dataDir, 't-0')
  const log = await Log.open(folder, { ...defaultLogOptions, segmentBytes: 1 << 20 }, 0)
  await log.truncateFullyAndStartAt(FIRST)
  await log.close()
  writeFileSync(join(folder, 'partition.metadata'), `version: 0\ntopic_id: ${ID}`)
  return { dataDir, folder, ...(await startBroker(t, { dataDir })) }
}

const produced = async (wire: Wire, ...values: string[]) => {
  const { errorCode, baseOffset } = await produceTo(wire, 't', batchOf(...values))
  return [errorCode, Number(baseOffset)]
}

async function offsetAt(wire: Wire, timestamp: number) {
  const partitions = [{ partitionIndex: 0, timestamp }]
  const body = { replicaId: -1, topics: [{ name: 't', partitions }] }
  const { topics } = await wire.call(listOffsets, 7, body)
  return topics[0]?.partitions[0]?.offset
}

test('large offsets come back exactly from produce, fetch, ListOffsets and commits', async (t) => {
  const { broker, wire, folder } = await start(t)
  assert.deepEqual(await produced(wire, 'a', 'b'), [0, FIRST])
  assert.deepEqual(await produced(wire, 'c'), [0, FIRST + 2])
  const { records, highWatermark } = await fetchFrom(wire, 't', FIRST + 1)
  assert.equal(highWatermark, FIRST + 3)
  assert.ok(records instanceof Uint8Array)
  const offsets = [...iterateBatches(records)].flatMap((batch) =>
    [...iterateRecords(batch)].map(({ offset }) => offset),
  )
  assert.deepEqual(offsets, [FIRST, FIRST + 1, FIRST + 2])
  assert.equal(await offsetAt(wire, -2), FIRST)
  assert.equal(await offsetAt(wire, -1), FIRST + 3)
  const groupId = 'g'
  const partition = { partitionIndex: 0, committedOffset: FIRST + 1, committedMetadata: null }
  const topics = [{ name: 't', partitions: [partition] }]
  const committed = await wire.call(offsetCommit, 6, { groupId, topics })
  assert.equal(committed.topics[0]?.partitions[0]?.errorCode, 0)
  const asked = { groupId, topics: [{ name: 't', partitionIndexes: [0] }] }
  const kept = await wire.call(offsetFetch, 5, asked)
  assert.equal(kept.topics[0]?.partitions[0]?.committedOffset, FIRST + 1)
  await broker.close()
  const path = join(folder, `${FIRST}.log`.padStart(24, '0'))
  const args = [main, 'dump', '--records', '--json', path]
  const { status, stdout } = spawnSync(process.execPath, args, { encoding: 'utf8' })
  assert.equal(status, 0)
  for (const offset of [FIRST, FIRST + 1, FIRST + 2]) {
    assert.ok(stdout.includes(`"offset":${offset}`) || stdout.includes(`"offset":"${offset}"`))
  }
})

test('what would go beyond 2^53 - 1 is refused, and what fits is taken', async (t) => {
  const { wire } = await start(t)
  const eight = Array.from({ length: 8 }, () => 'v')
  const [refused] = await produced(wire, ...eight)
  assert.notEqual(refused, 0)
  assert.equal(await offsetAt(wire, -1), FIRST)
  assert.deepEqual(await produced(wire, 'a'), [0, FIRST])
})

test('a fetch from 2^53 + 1 is out of range, and not one from a rounded offset', async (t) => {
  const { broker, wire } = await start(t)
  const other = await Wire.connect(t, broker.port)
  const marker = 0x0123_4567_89ab
  const body = fetchBody([{ topic: 't', offset: marker }])
  const { parts } = encodeRequest(fetch, 12, 1, 'wire', body)
  const frame = Buffer.concat(parts.map((part) => part as Uint8Array))
  const sought = Buffer.alloc(8)
  sought.writeBigInt64BE(BigInt(marker))
  const at = frame.indexOf(sought)
  assert.ok(at > 0)
  frame.writeBigInt64BE(9007199254740993n, at)
  const answer = other.nextFrame()
  other.write(frame)
  const { responses } = decodeResponse(fetch, 12, await answer).body
  assert.equal(responses[0]?.partitions[0]?.errorCode, KafkaError.OFFSET_OUT_OF_RANGE)
  assert.deepEqual(await produced(wire, 'a'), [KafkaError.NONE, FIRST])
})
