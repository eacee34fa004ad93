/** `__consumer_offsets` is compacted while groups commit, and says the same after a start. */
import assert from 'node:assert/strict'
import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { listGroups } from '../../src/apis/list-groups.js'
import { offsetCommit } from '../../src/apis/offset-commit.js'
import { offsetFetch } from '../../src/apis/offset-fetch.js'
import { Broker } from '../../src/broker.js'
import { createTopic } from '../support/broker.js'
import { copyLive } from '../support/copy.js'
import { temporaryDirectory } from '../support/tmp.js'
import { until } from '../support/until.js'
import { Wire } from '../support/wire.js'

const GROUPS = 5
const SEGMENT_BYTES = 4096

const config = {
  'offsets.topic.num.partitions': 1,
  'offsets.topic.segment.bytes': SEGMENT_BYTES,
  'log.cleaner.backoff.ms': 5,
  'log.segment.delete.delay.ms': 0,
}

async function start(t: TestContext, dataDir: string) {
  const broker = await Broker.start({ port: 0, dataDir, config })
  t.after(() => broker.close().catch(() => {}))
  const wire = await Wire.connect(t, broker.port)
  await until(async () => (await wire.call(listGroups, 4, {})).errorCode === 0, 'groups loaded')
  return { broker, wire }
}

async function commit(wire: Wire, groupId: string, offset: number) {
  const partitions = [{ partitionIndex: 0, committedOffset: offset, committedMetadata: 'note' }]
  const topics = [{ name: 't', partitions }]
  const answer = await wire.call(offsetCommit, 7, { groupId, topics })
  assert.equal(answer.topics[0]?.partitions[0]?.errorCode, 0)
}

async function committed(wire: Wire): Promise<number[]> {
  const offsets: number[] = []
  for (let group = 0; group < GROUPS; group++) {
    const wish = { groupId: `g${group}`, topics: [{ name: 't', partitionIndexes: [0] }] }
    const answer = await wire.call(offsetFetch, 7, wish)
    offsets.push(answer.topics[0]!.partitions[0]!.committedOffset)
  }
  return offsets
}

const logBytes = (dataDir: string) => {
  const folder = join(dataDir, '__consumer_offsets-0')
  const names = readdirSync(folder).filter((name) => /^\d+\.log$/.test(name))
  return names.reduce(
    (sum, name) => sum + (statSync(join(folder, name), { throwIfNoEntry: false })?.size ?? 0),
    0,
  )
}

test('committed offsets outlast their compaction, a stop and a kill', async (t) => {
  const dataDir = temporaryDirectory(t)
  const { broker, wire } = await start(t, dataDir)
  await createTopic(wire, 't')
  const rounds = 200
  for (let round = 1; round <= rounds; round++) {
    for (let group = 0; group < GROUPS; group++) await commit(wire, `g${group}`, round * 10 + group)
  }
  const expected = Array.from({ length: GROUPS }, (_, group) => rounds * 10 + group)
  assert.deepEqual(await committed(wire), expected)
  await until(() => logBytes(dataDir) < 4 * SEGMENT_BYTES, 'compacted')
  const killed = temporaryDirectory(t)
  copyLive(dataDir, killed)
  await broker.close()
  for (const directory of [dataDir, killed]) {
    const again = await start(t, directory)
    assert.deepEqual(await committed(again.wire), expected)
    await commit(again.wire, 'g0', 7)
    assert.deepEqual(await committed(again.wire), [7, ...expected.slice(1)])
  }
})
