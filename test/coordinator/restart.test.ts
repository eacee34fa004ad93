/** What a coordinator takes over from records that another one has left, on simulated time. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { BrokerConfig } from '../../src/config.js'
import { GroupCoordinator } from '../../src/coordinator/group-coordinator.js'
import {
  groupRecord,
  offsetRecord,
  offsetTombstone,
  readGroupRecord,
  type StoredGroup,
} from '../../src/coordinator/group-records.js'
import { type CommittedOffset, MemoryOffsetStore } from '../../src/coordinator/offset-store.js'
import { KafkaError, type KafkaErrorCode } from '../../src/errors.js'
import type { RecordInput } from '../../src/records/record.js'
import { settle } from '../support/sim-env.js'
import { bytes, groupId, Scene } from './scene.js'

/** Keeps records as the topic does, the last one of each key. */
class Records extends MemoryOffsetStore {
  readonly kept = new Map<string, RecordInput>()
  /** Commits wait for it before they are seen. */
  gate: Promise<void> = Promise.resolve()
  failing = false
  readonly unread = new Set<string>()

  #keep(record: RecordInput) {
    if (this.failing) throw new Error('the disk is gone')
    this.kept.set(Buffer.from(record.key as Uint8Array).toString('hex'), record)
  }

  override isUnread(id: string): boolean {
    return this.unread.has(id)
  }

  override async commit(id: string, offsets: readonly CommittedOffset[]): Promise<KafkaErrorCode> {
    for (const offset of offsets) this.#keep(offsetRecord(id, offset))
    await this.gate
    return super.commit(id, offsets)
  }

  override async remove(id: string, offsets: readonly CommittedOffset[]): Promise<void> {
    for (const offset of offsets) this.#keep(offsetTombstone(id, offset))
    await super.remove(id, offsets)
  }

  override async saveGroup(id?: string, group?: StoredGroup): Promise<KafkaErrorCode> {
    assert(id !== undefined && group !== undefined)
    this.#keep(groupRecord(id, group))
    return KafkaError.NONE
  }

  override async removeGroup(id: string): Promise<void> {
    for (const offset of this.all(id)) this.#keep(offsetTombstone(id, offset))
    this.#keep(groupRecord(id, null))
    await super.removeGroup(id)
  }

  async load(): Promise<Map<string, StoredGroup>> {
    const groups = new Map<string, StoredGroup>()
    for (const { key, value } of this.kept.values()) {
      const record = readGroupRecord(key as Uint8Array, value as Uint8Array | null)
      assert(record !== undefined)
      if (record.kind === 'offset' && record.committed) this.put(record.groupId, record.committed)
      if (record.kind === 'group' && record.group) groups.set(record.groupId, record.group)
    }
    return groups
  }
}

class Restarting extends Scene {
  readonly #given: Record<string, string>

  constructor(given: Record<string, string>, store: Records) {
    super(given, store)
    this.#given = given
  }

  /** The process dies, and another one reads what it left. */
  async restart(given = this.#given, prepare: (records: Records) => void = () => {}) {
    const { kept } = this.store as Records
    this.coordinator.close()
    const records = new Records()
    for (const [key, record] of kept) records.kept.set(key, record)
    prepare(records)
    const config = BrokerConfig.parse(given, assert.fail)
    const coordinator = new GroupCoordinator(this.env, config, records)
    Object.assign(this, { store: records, coordinator })
    await coordinator.load(records)
  }
}

const shortRetention = {
  'offsets.retention.minutes': '1',
  'offsets.retention.check.interval.ms': '1000',
}

const scene = (given: Record<string, string> = {}) => new Restarting(given, new Records())

test('a restart neither ends nor prolongs the time of an empty group', async () => {
  const group = scene(shortRetention)
  const { leader: memberId, generation: generationId } = await group.stable()
  await group.commit(42, { memberId, generationId })
  await group.keepAlive(120_000, [memberId], generationId)
  await group.leave(memberId)
  for (let restarts = 0; restarts < 5; restarts++) {
    await group.env.advance(11_500)
    await group.restart()
    await group.env.advance(100)
    assert.equal(await group.committed(), 42)
  }
  await group.env.advance(4_000)
  assert.equal(await group.committed(), -1)
  await group.restart()
  assert.equal(await group.committed(), -1)
})

test('a restart changes nothing of the time of a plain commit, nor of one named', async () => {
  const group = scene(shortRetention)
  await group.commit(1)
  await group.commit(2, { groupId: 'named', retentionTimeMs: 90_000 })
  await group.commit(3, { groupId: 'default', retentionTimeMs: -1 })
  await group.env.advance(50_000)
  await group.restart()
  await group.env.advance(9_000)
  assert.equal(await group.committed(), 1)
  assert.equal(await group.committed('default'), 3)
  await group.env.advance(2_000)
  assert.equal(await group.committed(), -1)
  assert.equal(await group.committed('default'), -1)
  assert.equal(await group.committed('named'), 2)
  await group.restart()
  await group.env.advance(28_000)
  assert.equal(await group.committed('named'), 2)
  await group.env.advance(2_000)
  assert.equal(await group.committed('named'), -1)
})

test('offsets of a live group outlast a restart, however old', async () => {
  const group = scene(shortRetention)
  const { leader: memberId, generation: generationId } = await group.stable()
  await group.commit(42, { memberId, generationId })
  await group.keepAlive(120_000, [memberId], generationId)
  await group.restart()
  await group.keepAlive(120_000, [memberId], generationId)
  assert.equal(await group.committed(), 42)
})

test('generations go on where they were', async () => {
  const group = scene()
  const { leader } = await group.stable(2)
  await group.restart()
  const again = await group.join({ memberId: leader })
  await group.env.advance(60_000)
  assert.equal(again.answer.generationId, 3)
})

test('a member is dropped when its session is over after a restart', async () => {
  const group = scene()
  const { leader, followers, generation } = await group.stable(2)
  await group.restart()
  const [other = ''] = followers
  await group.keepAlive(9_000, [leader], generation)
  assert.equal(group.state, 'Stable')
  await group.env.advance(1_500)
  assert.equal(group.state, 'PreparingRebalance')
  const { answer } = await group.join({ memberId: leader })
  assert.equal(answer.generationId, generation + 1)
  assert.deepEqual(group.members, [leader])
  assert.equal(await group.heartbeat(other, generation), KafkaError.UNKNOWN_MEMBER_ID)
})

test('a group that is larger than allowed now sheds members', async () => {
  const group = scene()
  const { ids, generation } = await group.stable(3)
  await group.restart({ 'group.max.size': '2' })
  for (const id of ids) {
    assert.equal(await group.heartbeat(id, generation), KafkaError.REBALANCE_IN_PROGRESS)
  }
  const joins = []
  for (const memberId of ids) joins.push(await group.join({ memberId }))
  assert.equal(joins[2]?.answer.errorCode, KafkaError.GROUP_MAX_SIZE_REACHED)
  assert.equal(joins[0]?.answer.errorCode, KafkaError.NONE)
  assert.deepEqual(group.members, ids.slice(0, 2))
})

test('offsets of a topic that is deleted while groups are loading do not come back', async () => {
  const group = scene()
  await group.commit(42)
  let deleted: Promise<void> | undefined
  await group.restart({}, (records) => {
    const load = records.load.bind(records)
    records.load = async () => {
      await settle()
      deleted = group.coordinator.dropTopics(['t'])
      await deleted
      return load()
    }
  })
  assert.ok(deleted)
  assert.equal(await group.committed(), -1)
  await group.restart()
  assert.equal(await group.committed(), -1)
})

test('a group that could not be read is refused, and others are served', async () => {
  const group = scene(shortRetention)
  await group.commit(42)
  await group.commit(7, { groupId: 'other' })
  await group.restart(shortRetention, (records) => records.unread.add(groupId))
  const refused = KafkaError.COORDINATOR_NOT_AVAILABLE
  const { coordinator } = group
  const topics = [{ name: 't', partitionIndexes: [0] }]
  const fetched = await coordinator.fetchOffsets({ groupId, topics })
  assert.deepEqual(fetched, { errorCode: refused, topics: [] })
  assert.equal((await group.join()).answer.errorCode, refused)
  assert.equal((await group.sync('x', 1)).answer.errorCode, refused)
  assert.equal(await group.heartbeat('x', 1), refused)
  assert.equal(await group.leave('x'), refused)
  assert.equal(await group.commit(43), refused)
  assert.equal(coordinator.describeGroup(groupId).errorCode, refused)
  assert.equal(await coordinator.deleteGroup(groupId), refused)
  assert.equal((await coordinator.deleteOffsets(groupId, [])).errorCode, refused)
  const { groups } = coordinator.listGroups({ statesFilter: [], typesFilter: [] })
  assert.deepEqual(
    groups.map((listed) => listed.groupId),
    ['other'],
  )
  assert.equal(await group.committed('other'), 7)
  // Nothing of it expires unseen.
  await group.env.advance(120_000)
  await group.restart()
  await group.coordinator.fetchOffsets({ groupId, topics })
  assert.equal((group.store as Records).get(groupId, 't', 0)?.offset, 42)
})

test('a commit that overlaps the deletion of its group leaves one that is seen', async () => {
  const records = new Records()
  const group = new Restarting({}, records)
  await group.commit(1)
  let open = () => {}
  records.gate = new Promise((resolve) => {
    open = resolve
  })
  const commit = group.commit(2)
  await settle()
  assert.equal(await group.coordinator.deleteGroup(groupId), KafkaError.NONE)
  open()
  assert.equal(await commit, KafkaError.NONE)
  assert.equal(await group.committed(), 2)
  assert.equal(group.state, 'Empty')
  await group.coordinator.dropTopics(['t'])
  assert.equal(await group.committed(), -1)
})

test('a deletion that cannot be written can be tried again', async () => {
  const records = new Records()
  const group = new Restarting({}, records)
  await group.commit(1)
  records.failing = true
  const { coordinator } = group
  assert.equal(await coordinator.deleteGroup(groupId), KafkaError.COORDINATOR_NOT_AVAILABLE)
  assert.equal(await group.committed(), 1)
  records.failing = false
  assert.equal(await coordinator.deleteGroup(groupId), KafkaError.NONE)
  assert.equal(await group.committed(), -1)
})

test('a group that was written without a time lasts from its commits', async () => {
  const group = scene(shortRetention)
  await group.commit(42)
  const stored = {
    protocolType: 'consumer',
    generation: 4,
    protocol: null,
    leader: null,
    currentStateTimestamp: -1,
    members: [],
  }
  await (group.store as Records).saveGroup(groupId, stored)
  await group.env.advance(50_000)
  await group.restart()
  await group.env.advance(9_000)
  assert.equal(await group.committed(), 42)
  await group.env.advance(2_000)
  assert.equal(await group.committed(), -1)
})

test('the bytes of a member come back as they were', async () => {
  const group = scene()
  const protocols = [{ name: 'range', metadata: bytes('all of it') }]
  const { leader } = await group.stable(1, { protocols })
  const before = group.coordinator.describeGroup(groupId)
  await group.restart()
  assert.deepEqual(group.coordinator.describeGroup(groupId), before)
  assert.equal(before.members[0]?.memberId, leader)
})
