/**
 * The versions that are served, beside those that Kafka's releases advertise themselves: 4.3.1, and
 * 3.6.2, the last line with ZooKeeper. What is served ends no earlier than 4.3.1, and begins no
 * later than 3.6.2, so that a client of either release finds a version in common.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { handlers } from '../../src/handlers/registry.js'

type Range = [min: number, max: number]

/** By key: 3.6.2, and 4.3.1. Undefined where the release lacks the API. */
const KAFKA = new Map<number, [name: string, old: Range | undefined, present: Range]>([
  [0, ['Produce', [0, 9], [0, 13]]],
  [1, ['Fetch', [0, 15], [4, 18]]],
  [2, ['ListOffsets', [0, 8], [1, 11]]],
  [3, ['Metadata', [0, 12], [0, 13]]],
  [8, ['OffsetCommit', [0, 8], [2, 10]]],
  [9, ['OffsetFetch', [0, 8], [1, 10]]],
  [10, ['FindCoordinator', [0, 4], [0, 6]]],
  [11, ['JoinGroup', [0, 9], [0, 9]]],
  [12, ['Heartbeat', [0, 4], [0, 4]]],
  [13, ['LeaveGroup', [0, 5], [0, 5]]],
  [14, ['SyncGroup', [0, 5], [0, 5]]],
  [15, ['DescribeGroups', [0, 5], [0, 6]]],
  [16, ['ListGroups', [0, 4], [0, 5]]],
  [18, ['ApiVersions', [0, 3], [0, 4]]],
  [19, ['CreateTopics', [0, 7], [2, 7]]],
  [20, ['DeleteTopics', [0, 6], [1, 6]]],
  [21, ['DeleteRecords', [0, 2], [0, 2]]],
  [22, ['InitProducerId', [0, 4], [0, 5]]],
  [23, ['OffsetForLeaderEpoch', [0, 4], [2, 4]]],
  [32, ['DescribeConfigs', [0, 4], [1, 4]]],
  [33, ['AlterConfigs', [0, 2], [0, 2]]],
  [34, ['AlterReplicaLogDirs', [0, 2], [1, 2]]],
  [35, ['DescribeLogDirs', [0, 4], [1, 5]]],
  [37, ['CreatePartitions', [0, 3], [0, 3]]],
  [42, ['DeleteGroups', [0, 2], [0, 2]]],
  [43, ['ElectLeaders', [0, 2], [0, 2]]],
  [44, ['IncrementalAlterConfigs', [0, 1], [0, 1]]],
  [45, ['AlterPartitionReassignments', [0, 0], [0, 1]]],
  [46, ['ListPartitionReassignments', [0, 0], [0, 0]]],
  [47, ['OffsetDelete', [0, 0], [0, 0]]],
  [48, ['DescribeClientQuotas', [0, 1], [0, 1]]],
  [49, ['AlterClientQuotas', [0, 1], [0, 1]]],
  [60, ['DescribeCluster', [0, 0], [0, 2]]],
  [61, ['DescribeProducers', [0, 0], [0, 0]]],
  [75, ['DescribeTopicPartitions', undefined, [0, 0]]],
])

const text = (range: Range | undefined) => (range ? range.join('-') : 'none')

for (const [key, [name, old, present]] of KAFKA) {
  const served = handlers.get(key)?.versions
  const title = `${key} ${name}: serves ${served?.join('-')}`
  test(`${title}; Kafka 4.3.1 ${text(present)}, 3.6.2 ${text(old)}`, () => {
    assert.ok(served)
    assert.equal(served[1], present[1])
    assert.equal(served[0], Math.min(old?.[0] ?? present[0], present[0]))
  })
}

test('the table has a line for each API that is served', () => {
  assert.deepEqual(
    [...handlers.keys()].sort((a, b) => a - b),
    [...KAFKA.keys()],
  )
})

test('names are those of the tables', () => {
  for (const [key, [name]] of KAFKA) assert.equal(handlers.get(key)?.api.name, name)
})
