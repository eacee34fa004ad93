/** The verbs of the tests of groups: a coordinator on simulated time, and what clients do. */
import assert from 'node:assert/strict'
import { BrokerConfig } from '../../src/config.js'
import { GroupCoordinator } from '../../src/coordinator/group-coordinator.js'
import { MemoryOffsetStore } from '../../src/coordinator/offset-store.js'
import type * as Types from '../../src/coordinator/types.js'
import { SimEnv, settle } from '../support/sim-env.js'

export const groupId = 'g'
export const bytes = (text: string) => new Uint8Array(Buffer.from(text))
export const text = (content: Uint8Array) => Buffer.from(content).toString()

/** An answer that may still be out. */
export class Waiting<T> {
  #answer: T | undefined

  constructor(promise: Promise<T>) {
    promise.then((answer) => {
      this.#answer = answer
    }, assert.fail)
  }

  get parked(): boolean {
    return this.#answer === undefined
  }

  get answer(): T {
    assert(this.#answer !== undefined, 'the request is still parked')
    return this.#answer
  }
}

export class Scene {
  readonly env = new SimEnv()
  readonly store: MemoryOffsetStore
  readonly coordinator: GroupCoordinator

  constructor(given: Record<string, string> = {}, store = new MemoryOffsetStore()) {
    this.store = store
    const config = BrokerConfig.parse(given, assert.fail)
    this.coordinator = new GroupCoordinator(this.env, config, store)
  }

  /** A join as clients before version 4 send it, unless told otherwise. */
  async join(given: Partial<Types.JoinGroupRequest> = {}) {
    const request: Types.JoinGroupRequest = {
      groupId,
      sessionTimeoutMs: 10_000,
      rebalanceTimeoutMs: 60_000,
      memberId: '',
      groupInstanceId: null,
      protocolType: 'consumer',
      protocols: [{ name: 'range', metadata: bytes('topics') }],
      clientId: 'client',
      clientHost: '/127.0.0.1',
      requireKnownMemberId: false,
      supportSkippingAssignment: false,
      ...given,
    }
    return this.#waiting(this.coordinator.joinGroup(request))
  }

  async sync(
    memberId: string,
    generationId: number,
    given: Partial<Types.SyncGroupRequest> & { parts?: Record<string, string> } = {},
  ) {
    const { parts = {}, ...rest } = given
    const request: Types.SyncGroupRequest = {
      groupId,
      generationId,
      memberId,
      groupInstanceId: null,
      protocolType: null,
      protocolName: null,
      assignments: Object.entries(parts).map(([id, part]) => ({
        memberId: id,
        assignment: bytes(part),
      })),
      ...rest,
    }
    return this.#waiting(this.coordinator.syncGroup(request))
  }

  async heartbeat(
    memberId: string,
    generationId: number,
    given: Partial<Types.HeartbeatRequest> = {},
  ) {
    const request = { groupId, generationId, memberId, groupInstanceId: null, ...given }
    return (await this.coordinator.heartbeat(request)).errorCode
  }

  async leave(memberId: string, groupInstanceId: string | null = null) {
    const members = [{ memberId, groupInstanceId }]
    const answer = await this.coordinator.leaveGroup({ groupId, members })
    return answer.members[0]?.errorCode ?? answer.errorCode
  }

  /** Commits one offset of partition t-0 and returns its error. */
  async commit(
    offset: number,
    given: Partial<Types.OffsetCommitRequest> & { metadata?: string | null } = {},
  ) {
    const { metadata = null, ...rest } = given
    const partitions = [
      {
        partitionIndex: 0,
        committedOffset: offset,
        committedLeaderEpoch: -1,
        committedMetadata: metadata,
      },
    ]
    const { topics } = await this.coordinator.commitOffsets({
      groupId,
      generationId: -1,
      memberId: '',
      groupInstanceId: null,
      retentionTimeMs: -1,
      topics: [{ name: 't', partitions }],
      ...rest,
    })
    return topics[0]?.partitions[0]?.errorCode
  }

  /** The committed offset of t-0. */
  async committed(group = groupId) {
    const topics = [{ name: 't', partitionIndexes: [0] }]
    const answer = await this.coordinator.fetchOffsets({ groupId: group, topics })
    return answer.topics[0]?.partitions[0]?.committedOffset
  }

  get state(): string {
    return this.coordinator.describeGroup(groupId).groupState
  }

  get members(): string[] {
    return this.coordinator.describeGroup(groupId).members.map(({ memberId }) => memberId)
  }

  /** Joins `count` members and ends the rebalance. The first one returned leads. */
  async stable(count = 1, given: Partial<Types.JoinGroupRequest> = {}) {
    let joins = [await this.join(given)]
    for (let added = 1; added < count; added++) {
      const fresh = await this.join(given)
      const again: Waiting<Types.JoinGroupResponse>[] = []
      for (const { answer } of joins) {
        again.push(await this.join({ ...given, memberId: answer.memberId }))
      }
      joins = [...again, fresh]
    }
    const answers = joins.map(({ answer }) => answer)
    const ids = answers.map(({ memberId }) => memberId)
    const [leader = '', ...followers] = ids
    const generation = answers[0]?.generationId ?? -1
    const parts = Object.fromEntries(ids.map((id, index) => [id, `part ${index}`]))
    for (const id of followers) await this.sync(id, generation)
    await this.sync(leader, generation, { parts })
    assert.equal(this.state, 'Stable')
    return { ids, leader, followers, generation }
  }

  /** Lets time pass while these members send heartbeats. */
  async keepAlive(ms: number, ids: readonly string[], generation: number) {
    for (let passed = 0; passed < ms; passed += 3000) {
      await this.env.advance(Math.min(3000, ms - passed))
      for (const id of ids) await this.heartbeat(id, generation)
    }
  }

  async #waiting<T>(promise: Promise<T>): Promise<Waiting<T>> {
    const waiting = new Waiting(promise)
    await settle()
    return waiting
  }
}
