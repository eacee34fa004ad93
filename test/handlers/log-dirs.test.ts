import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { alterReplicaLogDirs } from '../../src/apis/alter-replica-log-dirs.js'
import { describeLogDirs } from '../../src/apis/describe-log-dirs.js'
import { batchOf, createTopic, produceTo, startBroker } from '../support/broker.js'
import { temporaryDirectory } from '../support/tmp.js'
import type { Wire } from '../support/wire.js'

const batch = batchOf('value')

type Topics = { topic: string; partitions: number[] }[] | null

async function describe(wire: Wire, topics: Topics, version = 4) {
  const { errorCode, results } = await wire.call(describeLogDirs, version, { topics })
  assert.equal(errorCode, 0)
  return results
}

function sizes(results: Awaited<ReturnType<typeof describe>>) {
  return results.flatMap(({ topics }) =>
    topics.flatMap(({ name, partitions }) =>
      partitions.map(({ partitionIndex, partitionSize }) => [name, partitionIndex, partitionSize]),
    ),
  )
}

test('each partition is in its directory, with its bytes and the space there is', async (t) => {
  const dataDir = temporaryDirectory(t)
  const { wire } = await startBroker(t, { dataDir })
  await createTopic(wire, 't', { partitions: 2 })
  await produceTo(wire, 't', batch, { partition: 1 })
  for (const version of [0, 1, 2, 3, 4, 5]) {
    const results = await describe(wire, null, version)
    assert.deepEqual(
      results.map(({ errorCode, logDir }) => [errorCode, logDir]),
      [[0, dataDir]],
    )
    assert.deepEqual(sizes(results), [
      ['t', 0, 0],
      ['t', 1, batch.length],
    ])
    const { totalBytes = -1, usableBytes = -1 } = results[0] ?? {}
    if (version < 4) assert.deepEqual([totalBytes, usableBytes], [-1, -1])
    else assert.ok(totalBytes >= usableBytes && usableBytes > 0)
  }
})

test('partitions are told where they are asked for and there, each once', async (t) => {
  const { wire } = await startBroker(t)
  await createTopic(wire, 't', { partitions: 2 })
  const asked = [
    { topic: 't', partitions: [1, 9, 1] },
    { topic: 'nix', partitions: [0] },
  ]
  assert.deepEqual(sizes(await describe(wire, asked)), [['t', 1, 0]])
  assert.deepEqual(sizes(await describe(wire, [])), [])
})

test('a partition stays where it is: moving there is done, elsewhere refused', async (t) => {
  const base = temporaryDirectory(t)
  const directories = [join(base, 'a'), join(base, 'b')]
  const config = { 'log.dirs': directories.join(',') }
  const { wire } = await startBroker(t, { config, dataDir: undefined } as object)
  await createTopic(wire, 't', { partitions: 2 })
  const found = await describe(wire, [{ topic: 't', partitions: [0] }])
  const here = found.find(({ topics }) => topics.length > 0)?.logDir ?? assert.fail()
  const other = directories.find((path) => path !== here) ?? assert.fail()
  for (const version of [0, 1, 2]) {
    const move = async (path: string, partition: number) => {
      const dirs = [{ path, topics: [{ name: 't', partitions: [partition] }] }]
      const { results } = await wire.call(alterReplicaLogDirs, version, { dirs })
      return results[0]?.partitions[0]?.errorCode
    }
    assert.equal(await move(here, 0), 0)
    assert.equal(await move(other, 0), 42)
    assert.equal(await move(here, 9), 3)
    assert.equal(await move('/nowhere', 0), 57)
  }
})

test('a topic whose name no folder can have is invalid, not unknown', async (t) => {
  const { wire } = await startBroker(t)
  const [found] = await describe(wire, null)
  const topics = [{ name: 'x'.repeat(250), partitions: [0] }]
  const dirs = [{ path: found?.logDir ?? '', topics }]
  const { results } = await wire.call(alterReplicaLogDirs, 2, { dirs })
  assert.equal(results[0]?.partitions[0]?.errorCode, 17)
})
