import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { joinGroup } from '../../src/apis/join-group.js'
import { offsetCommit } from '../../src/apis/offset-commit.js'
import { syncGroup } from '../../src/apis/sync-group.js'
import { run } from '../../src/cli/groups.js'
import { batchOf, createTopic, produceTo, startBroker } from '../support/broker.js'
import type { Wire } from '../support/wire.js'
import { against, inside } from './inside.js'

/** Topic t with 0, 3 records in its partitions, of which group g has read 0, 1. */
async function scene(t: TestContext) {
  const { broker, wire } = await startBroker(t)
  await createTopic(wire, 't', { partitions: 2 })
  await produceTo(wire, 't', batchOf('a', 'b', 'c'), { partition: 1 })
  await commit(wire, 'g', [0, 1])
  const groups = against(run, broker.bootstrap)
  /** Committed offsets by partition. */
  const offsets = async () => {
    const rows = (await groups('describe', 'g', '--json')).objects()
    return rows.filter(({ type }) => type === 'offset').map(({ offset }) => offset)
  }
  return { broker, wire, groups, offsets }
}

async function commit(wire: Wire, groupId: string, offsets: number[]): Promise<void> {
  const partitions = offsets.map((committedOffset, partitionIndex) => ({
    partitionIndex,
    committedOffset,
    committedMetadata: '',
  }))
  const { topics } = await wire.call(offsetCommit, 9, {
    groupId,
    topics: [{ name: 't', partitions }],
  })
  assert.ok(topics[0]?.partitions.every(({ errorCode }) => errorCode === 0))
}

/** A member with all of t. */
async function member(wire: Wire, groupId: string): Promise<void> {
  const metadata = Buffer.from('000000000001000174ffffffff', 'hex')
  const assignment = Buffer.from('0000000000010001740000000200000000' + '00000001ffffffff', 'hex')
  const request = {
    groupId,
    sessionTimeoutMs: 30_000,
    rebalanceTimeoutMs: 30_000,
    memberId: '',
    protocolType: 'consumer',
    protocols: [{ name: 'range', metadata }],
  }
  const { memberId, generationId } = await wire.call(joinGroup, 3, request)
  const assignments = [{ memberId, assignment }]
  await wire.call(syncGroup, 3, { groupId, generationId, memberId, assignments })
}

test('groups are listed with their states', async (t) => {
  const { wire, groups } = await scene(t)
  await member(wire, 'h')
  assert.deepEqual((await groups('list', '--json')).objects(), [
    { type: 'group', group: 'g', protocolType: '', state: 'Empty', groupType: 'classic' },
    { type: 'group', group: 'h', protocolType: 'consumer', state: 'Stable', groupType: 'classic' },
  ])
})

test('lag is what lies between the offset of a group and the end', async (t) => {
  const { groups } = await scene(t)
  const { stdout } = await groups('describe', 'g')
  assert.equal(
    stdout,
    'g: Empty, 0 members\n' +
      'topic  partition  offset  endOffset  lag  memberId  host\n' +
      't      0          0       0          0    -         -\n' +
      't      1          1       3          2    -         -\n',
  )
})

test('a member shows its partitions, also where nothing was committed', async (t) => {
  const { wire, groups } = await scene(t)
  await member(wire, 'h')
  const [group, ...rows] = (await groups('describe', 'h', '--json')).objects()
  assert.deepEqual([group?.state, group?.protocol], ['Stable', 'range'])
  assert.deepEqual(
    rows.map(({ partition, offset, endOffset, lag, host }) => [
      partition,
      offset,
      endOffset,
      lag,
      host,
    ]),
    [
      [0, null, 0, null, '127.0.0.1'],
      [1, null, 3, null, '127.0.0.1'],
    ],
  )
})

test('offsets of a topic that is gone have no end and no lag', async (t) => {
  const { groups, wire } = await scene(t)
  await createTopic(wire, 'u')
  const partitions = [{ partitionIndex: 0, committedOffset: 0, committedMetadata: '' }]
  await wire.call(offsetCommit, 9, { groupId: 'h', topics: [{ name: 'u', partitions }] })
  const rows = (await groups('describe', 'h', '--json')).objects().slice(1)
  assert.deepEqual(
    rows.map(({ topic, endOffset }) => [topic, endOffset]),
    [['u', 0]],
  )
})

for (const [where, expected] of [
  [['--to-latest'], [0, 3]],
  [['--to-earliest'], [0, 0]],
  [
    ['--to-datetime', '1700000000000'],
    [0, 0],
  ],
  [
    ['--to-datetime', '2033-01-01T00:00:00Z'],
    [0, 3],
  ],
  [
    ['--topic', 't:1', '--to-offset', '2'],
    [0, 2],
  ],
  [
    ['--topic', 't:1', '--shift-by', '+2'],
    [0, 3],
  ],
  [
    ['--topic', 't:1', '--shift-by=-1'],
    [0, 0],
  ],
  [
    ['--topic', 't:1', '--shift-by', '-1'],
    [0, 0],
  ],
] as const) {
  test(`offsets are reset by ${where.join(' ')}`, async (t) => {
    const { groups, offsets } = await scene(t)
    const args = ['reset-offsets', 'g', ...where]
    const { stdout } = await groups(...args)
    assert.match(stdout, /nothing was changed; --execute does it\n$/)
    assert.deepEqual(await offsets(), [0, 1])
    await groups(...args, '--execute')
    assert.deepEqual(await offsets(), expected)
  })
}

test('the plan is told with what was before', async (t) => {
  const { groups } = await scene(t)
  const args = ['reset-offsets', 'g', '--topic', 't:1', '--to-offset', '2', '--execute', '--json']
  assert.deepEqual((await groups(...args)).objects(), [
    {
      type: 'reset',
      group: 'g',
      topic: 't',
      partition: 1,
      offset: 1,
      newOffset: 2,
      executed: true,
    },
  ])
})

test('an offset outside of its log is refused, and nothing changes', async (t) => {
  const { groups, offsets } = await scene(t)
  const reset = groups('reset-offsets', 'g', '--to-offset', '2', '--execute')
  await assert.rejects(reset, {
    code: 'OFFSET_OUT_OF_RANGE',
    message: 'partition 0 of t holds offsets 0 to 0, and 2 is outside of them',
  })
  assert.deepEqual(await offsets(), [0, 1])
})

test('a group with members keeps its offsets, and is not deleted', async (t) => {
  const { wire, groups } = await scene(t)
  await member(wire, 'h')
  const reset = groups('reset-offsets', 'h', '--topic', 't', '--to-earliest', '--execute')
  const told = /^group h has members, which must end first/
  await assert.rejects(reset, { kafkaName: 'UNKNOWN_MEMBER_ID', message: told })
  await assert.rejects(groups('delete', 'h'), {
    message: 'group h: NON_EMPTY_GROUP (it has members, which must leave first)',
  })
})

test('a group is deleted with its offsets', async (t) => {
  const { groups } = await scene(t)
  assert.equal((await groups('delete', 'g')).stdout, 'group g deleted\n')
  await assert.rejects(groups('describe', 'g'), { message: 'group g: GROUP_ID_NOT_FOUND' })
  await assert.rejects(groups('delete', 'g'), { kafkaName: 'GROUP_ID_NOT_FOUND' })
})

for (const [what, args, text] of [
  ['no action', [], /what is to be done/],
  ['an unknown action', ['join', 'g'], /no action join/],
  ['no group', ['describe'], /GROUP is needed/],
  ['no place', ['reset-offsets', 'g'], /where the offsets are to be set to/],
  ['two places', ['reset-offsets', 'g', '--to-latest', '--to-earliest'], /exclude each other/],
  ['a place where nothing is reset', ['describe', 'g', '--to-latest'], /only reset-offsets/],
  ['no time', ['reset-offsets', 'g', '--to-datetime', 'noon'], /takes a time such as/],
  ['no number', ['reset-offsets', 'g', '--shift-by', 'x'], /takes a whole number/],
  [
    'an offset above 2^53 - 1',
    ['reset-offsets', 'g', '--to-offset', '9007199254740993'],
    /above 2\^53 - 1: 9007199254740993/,
  ],
] as const) {
  test(`${what} is a fault of usage`, async () => {
    await assert.rejects(inside(run, [...args]), { code: 'USAGE', message: text })
  })
}
