import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  groupRecord,
  offsetRecord,
  offsetTombstone,
  partitionOf,
  readGroupRecord,
} from '../../src/coordinator/group-records.js'
import type { RecordInput } from '../../src/records/record.js'

const committed = {
  topic: 't',
  partition: 3,
  offset: 42,
  leaderEpoch: 7,
  metadata: 'm',
  commitTimestamp: 1_700_000_000_000,
}

const group = {
  protocolType: 'consumer',
  generation: 5,
  protocol: 'range',
  leader: 'a',
  currentStateTimestamp: 1_700_000_000_000,
  members: [
    {
      memberId: 'a',
      groupInstanceId: 'one',
      clientId: 'c',
      clientHost: '/127.0.0.1',
      rebalanceTimeout: 60_000,
      sessionTimeout: 10_000,
      subscription: Buffer.from('sub'),
      assignment: Buffer.from(''),
    },
  ],
}

const read = ({ key, value }: RecordInput) =>
  readGroupRecord(key as Uint8Array, value as Uint8Array | null)
const hex = (bytes: unknown) => Buffer.from(bytes as Uint8Array).toString('hex')

test('a commit is the bytes that Kafka writes', () => {
  const { key, value } = offsetRecord('g', committed)
  assert.equal(hex(key), '0001' + '000167' + '000174' + '00000003')
  const body = '000000000000002a' + '00000007' + '00016d' + '0000018bcfe56800'
  assert.equal(hex(value), `0003${body}`)
})

test('what is written is read again: commits, commits that expire, groups', () => {
  const place = { topic: 't', partition: 3 }
  const expiring = { ...committed, leaderEpoch: -1, expireTimestamp: 1_700_000_001_000 }
  for (const each of [committed, expiring]) {
    const record = { kind: 'offset', groupId: 'g', place, committed: each }
    assert.deepEqual(read(offsetRecord('g', each)), record)
  }
  const back = read(groupRecord('g', group))
  assert.ok(back?.kind === 'group' && back.group)
  const { subscription, assignment, ...member } = back.group.members[0]!
  assert.deepEqual([hex(subscription), hex(assignment)], [hex('sub'), ''])
  const { subscription: _, assignment: __, ...wanted } = group.members[0]!
  assert.deepEqual(member, wanted)
  assert.deepEqual({ ...back.group, members: [] }, { ...group, members: [] })
})

test('a record without a value takes away what its key names', () => {
  assert.deepEqual(read(offsetTombstone('g', committed)), {
    kind: 'offset',
    groupId: 'g',
    place: { topic: 't', partition: 3 },
    committed: null,
  })
  assert.deepEqual(read(groupRecord('g', null)), { kind: 'group', groupId: 'g', group: null })
})

test('records of other kinds and damaged ones are skipped', () => {
  const { key, value } = offsetRecord('g', committed)
  const whole = Buffer.from(value as Uint8Array)
  assert.equal(readGroupRecord(null, whole), undefined)
  assert.equal(readGroupRecord(Buffer.from('0003000167', 'hex'), whole), undefined)
  for (let cut = 0; cut < whole.length; cut++) {
    assert.equal(readGroupRecord(key as Uint8Array, whole.subarray(0, cut)), undefined, `${cut}`)
  }
  for (let cut = 0; cut < (key as Uint8Array).length; cut++) {
    assert.equal(readGroupRecord((key as Uint8Array).subarray(0, cut), whole), undefined)
  }
})

test("a group's partition comes from Java's hash of its name", () => {
  // "polygenelubricants" is known for hashing to the smallest integer, of which there is no
  // absolute value.
  const known = [
    ['', 0],
    ['g', 103],
    ['my-group', 12],
    ['dt-group', 2],
    ['polygenelubricants', 0],
    ['ü', 252],
  ] as const
  for (const [name, hash] of known) assert.equal(partitionOf(name, 50), hash % 50, name)
})
