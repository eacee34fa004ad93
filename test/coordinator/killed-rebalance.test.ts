/** Groups of a broker that is killed while they rebalance. */
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { heartbeat } from '../../src/apis/heartbeat.js'
import { joinGroup } from '../../src/apis/join-group.js'
import { listGroups } from '../../src/apis/list-groups.js'
import { syncGroup } from '../../src/apis/sync-group.js'
import { Broker } from '../../src/broker.js'
import { copyLive } from '../support/copy.js'
import { temporaryDirectory } from '../support/tmp.js'
import { until } from '../support/until.js'
import { Wire } from '../support/wire.js'

const SESSION_MS = 2000
const config = { 'offsets.topic.num.partitions': 3, 'group.min.session.timeout.ms': 100 }
const groupId = 'g'

async function start(t: TestContext, dataDir: string) {
  const broker = await Broker.start({ port: 0, dataDir, config })
  t.after(() => broker.close().catch(() => {}))
  const connect = () => Wire.connect(t, broker.port)
  const wire = await connect()
  await until(async () => (await wire.call(listGroups, 4, {})).errorCode === 0, 'groups loaded')
  return { broker, connect }
}

/** A consumer as clients are, over its own connection, for 4 partitions. */
class Consumer {
  alive = true
  memberId: string
  generationId = -1
  owned: number[] = []
  readonly #wire: Wire

  constructor(wire: Wire, memberId = '') {
    this.#wire = wire
    this.memberId = memberId
  }

  async run() {
    while (this.alive) {
      const error = this.generationId < 0 ? await this.#join() : await this.#beat()
      if (error === 25) this.memberId = ''
      if (error !== 0) this.generationId = -1
      await new Promise((resolve) => setTimeout(resolve, 20))
    }
  }

  async #beat() {
    const { memberId, generationId } = this
    const answer = await this.#wire.call(heartbeat, 3, { groupId, memberId, generationId })
    return answer.errorCode
  }

  async #join() {
    const joined = await this.#wire.call(joinGroup, 3, {
      groupId,
      sessionTimeoutMs: SESSION_MS,
      rebalanceTimeoutMs: SESSION_MS,
      memberId: this.memberId,
      protocolType: 'consumer',
      protocols: [{ name: 'range', metadata: Buffer.from('sub') }],
    })
    if (joined.errorCode !== 0) return joined.errorCode
    const { memberId, generationId, members } = joined
    this.memberId = memberId
    const assignments = members.map((member, at) => ({
      memberId: member.memberId,
      assignment: Buffer.from([0, 1, 2, 3].filter((index) => index % members.length === at)),
    }))
    const body = { groupId, generationId, memberId, assignments }
    const synced = await this.#wire.call(syncGroup, 3, body)
    if (synced.errorCode !== 0) return synced.errorCode
    this.owned = [...synced.assignment]
    this.generationId = generationId
    return 0
  }
}

const body = (memberId: string) => ({
  groupId,
  sessionTimeoutMs: SESSION_MS,
  rebalanceTimeoutMs: SESSION_MS,
  memberId,
  protocolType: 'consumer',
  protocols: [{ name: 'range', metadata: Buffer.from('sub') }],
})

/** A member with everything, and one that has just come: copies of the disk, phase by phase. */
async function killedInEachPhase(t: TestContext) {
  const dataDir = temporaryDirectory(t)
  const { broker, connect } = await start(t, dataDir)
  const copies: string[] = []
  const kill = () => {
    const copy = join(temporaryDirectory(t), 'data')
    copyLive(dataDir, copy)
    copies.push(copy)
  }
  const [one, other] = [await connect(), await connect()]
  const first = await one.call(joinGroup, 3, body(''))
  const { memberId, generationId } = first
  kill()
  const all = [{ memberId, assignment: Buffer.from([0, 1, 2, 3]) }]
  await one.call(syncGroup, 3, { groupId, generationId, memberId, assignments: all })
  const second = other.call(joinGroup, 3, body(''))
  kill()
  await one.call(joinGroup, 3, body(memberId))
  await second
  kill()
  await broker.close()
  return { copies, memberId, newId: (await second).memberId }
}

async function ownedAgain(t: TestContext, dataDir: string, ids: readonly string[]) {
  const { broker, connect } = await start(t, dataDir)
  const begun = performance.now()
  const consumers: Consumer[] = []
  for (const id of ids) consumers.push(new Consumer(await connect(), id))
  const runs = consumers.map((consumer) => consumer.run())
  await until(() => {
    const generations = new Set(consumers.map(({ generationId }) => generationId))
    const owned = consumers.flatMap((consumer) => consumer.owned).sort()
    return generations.size === 1 && !generations.has(-1) && owned.join() === '0,1,2,3'
  }, 'every partition owned, once')
  const took = performance.now() - begun
  for (const consumer of consumers) consumer.alive = false
  await Promise.all(runs)
  await broker.close()
  return took
}

test('members that go on after a kill in mid-rebalance own everything in time', async (t) => {
  const { copies, memberId, newId } = await killedInEachPhase(t)
  for (const copy of copies) {
    const took = await ownedAgain(t, copy, [memberId, newId])
    assert.ok(took < SESSION_MS, `${took} ms`)
  }
})

test('a member that is gone since a kill in mid-rebalance is replaced in time', async (t) => {
  const { copies } = await killedInEachPhase(t)
  for (const copy of copies) {
    const took = await ownedAgain(t, copy, [''])
    // Its session, and the turn of a client that has to ask again.
    assert.ok(took < SESSION_MS + 1000, `${took} ms`)
  }
})
