/**
 * The coordinator of consumer groups: the classic group protocol (KIP-62 and on) without its
 * encoding. Owns all groups of this broker. Requests are decided in the turn in which they come;
 * only JoinGroup, SyncGroup and commits may be answered later. Clock, timers and randomness come
 * from `Env`.
 *
 * Groups live in memory and are kept in the store whenever they have become stable or empty, so
 * that members go on after a restart as if nothing had been. Until the store is loaded every
 * request is answered with COORDINATOR_LOAD_IN_PROGRESS, and for a group that could not be loaded
 * with COORDINATOR_NOT_AVAILABLE: never with an offset of -1. Who may ask for which group, and
 * which topics exist, is left to the handlers.
 *
 * Bounded: members of a group (group.max.size), ids given out and not used, groups, text beside an
 * offset (offset.metadata.max.bytes), offsets (the store). A group without members and offsets is
 * dropped.
 */
import type { BrokerConfig } from '../config.js'
import type { Env, Timer } from '../env.js'
import { KafkaError, type KafkaErrorCode } from '../errors.js'
import { Group } from './group.js'
import type { StoredGroup } from './group-records.js'
import { Join, memberError } from './join.js'
import { joinError, type Member, Parked, syncError } from './member.js'
import { deletableOffsets, expiredOffsets, offsetsOf } from './offset-removal.js'
import type { OffsetStore } from './offset-store.js'
import { commitError, fetchOffsets, refuseCommit, storeCommit } from './offsets.js'
import { Rebalance } from './rebalance.js'
import { restoredGroup, storedGroup } from './stored-groups.js'
import type * as Types from './types.js'

/** Above that only clients that invent names would go. */
const groupsMax = 100_000
/** The longest time that a timer can be set for. */
const timerMaxMs = 2147483647

/** A store that was there before this process. */
export interface LoadingStore {
  /** Reads all of it; resolves with the groups. */
  load(): Promise<ReadonlyMap<string, StoredGroup>>
  /** Then: groups that have committed something. */
  groupIds(): Iterable<string>
}

export class GroupCoordinator {
  readonly #env: Env
  readonly #config: BrokerConfig
  readonly #offsets: OffsetStore
  readonly #rebalance: Rebalance
  readonly #join: Join
  readonly #groups = new Map<string, Group>()
  #sweepTimer: Timer | undefined
  #loading = false
  /** Topics that were deleted while the store was loading. */
  readonly #topicsGone = new Set<string>()
  #closed = false

  constructor(env: Env, config: BrokerConfig, offsets: OffsetStore) {
    this.#env = env
    this.#config = config
    this.#offsets = offsets
    const delayMs = config.get('group.initial.rebalance.delay.ms')
    this.#rebalance = new Rebalance(env, delayMs, (group) => this.#keep(group))
    this.#join = new Join(env, this.#rebalance, config.get('group.max.size'))
    this.#scheduleSweep()
  }

  /** Takes over what a store holds, once it is read. REQUIRES: nothing was asked yet. */
  async load(store: LoadingStore): Promise<void> {
    this.#loading = true
    const groups = await store.load()
    if (this.#closed) return
    const now = this.#env.now()
    for (const [id, stored] of groups) {
      if (this.#offsets.isUnread(id)) continue
      const group = restoredGroup(id, stored, this.#rebalance, now)
      this.#groups.set(id, group)
      if (group.members.size > this.#config.get('group.max.size')) this.#rebalance.prepare(group)
    }
    for (const id of store.groupIds()) if (!this.#offsets.isUnread(id)) this.#know(id)
    // What cannot be written now expires later.
    await this.#dropOffsets(this.#topicsGone).catch(() => {})
    this.#loading = false
  }

  /** What cannot be kept now is kept with the next change; the store tells of its failures. */
  async #keep(group: Group): Promise<void> {
    await this.#offsets.saveGroup(group.id, storedGroup(group)).catch(() => {})
  }

  /** Answers when everybody has joined, or when the rebalance timeout is over. */
  async joinGroup(request: Types.JoinGroupRequest): Promise<Types.JoinGroupResponse> {
    const { groupId, memberId, sessionTimeoutMs } = request
    const refused = this.#refuse(groupId)
    if (refused !== KafkaError.NONE) return joinError(memberId, refused)
    if (
      sessionTimeoutMs < this.#config.get('group.min.session.timeout.ms') ||
      sessionTimeoutMs > this.#config.get('group.max.session.timeout.ms')
    ) {
      return joinError(memberId, KafkaError.INVALID_SESSION_TIMEOUT)
    }
    const known = this.#groups.get(groupId)
    if ((known === undefined && memberId !== '') || request.signal?.aborted) {
      return joinError(memberId, KafkaError.UNKNOWN_MEMBER_ID)
    }
    const group = known ?? new Group(groupId, this.#env.now())
    if (known === undefined) {
      if (!group.supports(request.protocolType, request.protocols)) {
        return joinError(memberId, KafkaError.INCONSISTENT_GROUP_PROTOCOL)
      }
      if (!this.#adopt(group)) return joinError(memberId, KafkaError.COORDINATOR_NOT_AVAILABLE)
    }
    return this.#join.join(group, request)
  }

  /** Answers when the leader has sent the assignment. */
  async syncGroup(request: Types.SyncGroupRequest): Promise<Types.SyncGroupResponse> {
    const { groupId, memberId, groupInstanceId, generationId, protocolType, protocolName } = request
    const refused = this.#refuse(groupId)
    if (refused !== KafkaError.NONE) return syncError(refused)
    const { group, member, error } = this.#find(groupId, memberId, groupInstanceId, generationId)
    if (group === undefined || member === undefined) return syncError(error)
    if (
      (protocolType !== null && protocolType !== group.protocolType) ||
      (protocolName !== null && protocolName !== group.protocolName)
    ) {
      return syncError(KafkaError.INCONSISTENT_GROUP_PROTOCOL)
    }
    if (group.state === 'PreparingRebalance') return syncError(KafkaError.REBALANCE_IN_PROGRESS)
    if (group.state === 'Stable') {
      this.#rebalance.synced(group, memberId)
      this.#rebalance.touch(group, member)
      const { assignment } = member
      const { protocolType, protocolName } = group
      return { errorCode: KafkaError.NONE, protocolType, protocolName, assignment }
    }
    const answer = this.#parkSync(group, member, request.signal)
    this.#rebalance.synced(group, memberId)
    if (memberId === group.leaderId) this.#rebalance.assign(group, request.assignments)
    return answer
  }

  /** A sign of life. REBALANCE_IN_PROGRESS asks the member to join again. */
  async heartbeat(request: Types.HeartbeatRequest): Promise<{ errorCode: KafkaErrorCode }> {
    const { groupId, memberId, groupInstanceId, generationId } = request
    const refused = this.#refuse(groupId)
    if (refused !== KafkaError.NONE) return { errorCode: refused }
    const { group, member, error } = this.#find(groupId, memberId, groupInstanceId, generationId)
    if (group === undefined || member === undefined) return { errorCode: error }
    this.#rebalance.touch(group, member)
    const rebalancing = group.state === 'PreparingRebalance'
    return { errorCode: rebalancing ? KafkaError.REBALANCE_IN_PROGRESS : KafkaError.NONE }
  }

  async leaveGroup(request: Types.LeaveGroupRequest): Promise<Types.LeaveGroupResponse> {
    const errorCode = this.#refuse(request.groupId)
    if (errorCode !== KafkaError.NONE) return { errorCode, members: [] }
    const group = this.#groups.get(request.groupId)
    return {
      errorCode,
      members: request.members.map(({ memberId, groupInstanceId }) => ({
        memberId,
        groupInstanceId,
        errorCode:
          group === undefined
            ? KafkaError.UNKNOWN_MEMBER_ID
            : this.#leave(group, memberId, groupInstanceId),
      })),
    }
  }

  async commitOffsets(request: Types.OffsetCommitRequest): Promise<Types.OffsetCommitResponse> {
    const { groupId, generationId } = request
    const refused = this.#unavailable(groupId)
    if (refused !== KafkaError.NONE) return refuseCommit(request, refused)
    const known = this.#groups.get(groupId)
    if (known === undefined && generationId >= 0) {
      return refuseCommit(request, KafkaError.GROUP_ID_NOT_FOUND)
    }
    const group = known ?? new Group(groupId, this.#env.now())
    const error = commitError(group, request)
    if (error !== KafkaError.NONE) return refuseCommit(request, error)
    if (known === undefined && !this.#adopt(group)) {
      return refuseCommit(request, KafkaError.COORDINATOR_NOT_AVAILABLE)
    }
    const member = group.members.get(request.memberId)
    if (member !== undefined) this.#rebalance.touch(group, member)
    const metadataMax = this.#config.get('offset.metadata.max.bytes')
    const answer = await storeCommit(this.#env, this.#offsets, request, metadataMax)
    // The group may have been deleted, or dropped as idle, while this was written.
    if (this.#offsets.has(groupId)) this.#know(groupId)
    return answer
  }

  async fetchOffsets(request: Types.OffsetFetchRequest): Promise<Types.OffsetFetchResponse> {
    const refused = this.#unavailable(request.groupId)
    if (refused !== KafkaError.NONE) return { errorCode: refused, topics: [] }
    return fetchOffsets(this.#offsets, request)
  }

  describeGroup(groupId: string): Types.DescribedGroup {
    const refused = this.#unavailable(groupId)
    const group = this.#groups.get(groupId)
    if (refused === KafkaError.NONE && group !== undefined) return group.describe()
    return {
      errorCode: refused === KafkaError.NONE ? KafkaError.GROUP_ID_NOT_FOUND : refused,
      groupId,
      groupState: refused === KafkaError.NONE ? 'Dead' : '',
      protocolType: '',
      protocolData: '',
      members: [],
    }
  }

  listGroups({ statesFilter, typesFilter }: Types.ListGroupsRequest): Types.ListGroupsResponse {
    const refused = this.#unavailable()
    if (refused !== KafkaError.NONE) return { errorCode: refused, groups: [] }
    const wanted = (filter: readonly string[], value: string) =>
      filter.length === 0 || filter.some((text) => text.toLowerCase() === value.toLowerCase())
    const groups: Types.ListGroupsResponse['groups'] = []
    for (const { id, protocolType, state } of this.#groups.values()) {
      if (!wanted(statesFilter, state) || !wanted(typesFilter, 'classic')) continue
      groups.push({
        groupId: id,
        protocolType: protocolType ?? '',
        groupState: state,
        groupType: 'classic',
      })
    }
    return { errorCode: KafkaError.NONE, groups }
  }

  /** Deletes a group without members, and its offsets. */
  async deleteGroup(groupId: string): Promise<KafkaErrorCode> {
    // The group with the empty id is one of plain commits.
    const refused = this.#unavailable(groupId)
    if (refused !== KafkaError.NONE) return refused
    const group = this.#groups.get(groupId)
    if (group === undefined) return KafkaError.GROUP_ID_NOT_FOUND
    if (group.state !== 'Empty') return KafkaError.NON_EMPTY_GROUP
    this.#bury(group)
    try {
      await this.#offsets.removeGroup(groupId)
      return KafkaError.NONE
    } catch {
      // Its offsets are still there, and can be deleted once more.
      if (this.#offsets.has(groupId)) this.#know(groupId)
      return KafkaError.COORDINATOR_NOT_AVAILABLE
    }
  }

  /**
   * Forgets committed offsets. Those of a topic that a member reads stay, with
   * GROUP_SUBSCRIBED_TO_TOPIC. Of a group that is not one of consumers, nothing is forgotten while
   * it has members.
   */
  async deleteOffsets(
    groupId: string,
    partitions: readonly { topic: string; partition: number }[],
  ): Promise<{ errorCode: KafkaErrorCode; errorOf: (topic: string) => KafkaErrorCode }> {
    const errorOf = () => KafkaError.NONE
    const refused = this.#refuse(groupId)
    if (refused !== KafkaError.NONE) return { errorCode: refused, errorOf }
    const group = this.#groups.get(groupId)
    if (group === undefined) return { errorCode: KafkaError.GROUP_ID_NOT_FOUND, errorOf }
    if (group.members.size > 0 && group.protocolType !== 'consumer') {
      return { errorCode: KafkaError.NON_EMPTY_GROUP, errorOf }
    }
    const deletable = deletableOffsets(group, this.#offsets, partitions)
    try {
      await this.#offsets.remove(groupId, deletable.gone)
    } catch {
      return { errorCode: KafkaError.COORDINATOR_NOT_AVAILABLE, errorOf }
    }
    return { errorCode: KafkaError.NONE, errorOf: deletable.errorOf }
  }

  /** Forgets the offsets of topics that were deleted, in every group. */
  async dropTopics(topics: readonly string[]): Promise<void> {
    if (!this.#loading) return this.#dropOffsets(new Set(topics))
    for (const topic of topics) this.#topicsGone.add(topic)
  }

  async #dropOffsets(topics: ReadonlySet<string>): Promise<void> {
    if (topics.size === 0) return
    for (const { id } of this.#groups.values()) {
      const gone = offsetsOf(id, this.#offsets, topics)
      if (gone.length > 0) await this.#offsets.remove(id, gone)
    }
  }

  /**
   * Answers what is parked with NOT_COORDINATOR and ends all timers. Later requests are refused.
   */
  close(): void {
    this.#closed = true
    this.#sweepTimer?.cancel()
    for (const group of this.#groups.values()) this.#bury(group)
  }

  #refuse(groupId: string): KafkaErrorCode {
    return groupId === '' ? KafkaError.INVALID_GROUP_ID : this.#unavailable(groupId)
  }

  /** Why nothing can be said of a group, or without one of any; NONE where it can. */
  #unavailable(groupId?: string): KafkaErrorCode {
    if (this.#closed) return KafkaError.COORDINATOR_NOT_AVAILABLE
    if (this.#loading) return KafkaError.COORDINATOR_LOAD_IN_PROGRESS
    const isUnread = groupId !== undefined && this.#offsets.isUnread(groupId)
    return isUnread ? KafkaError.COORDINATOR_NOT_AVAILABLE : KafkaError.NONE
  }

  /** Has a group that the store has something of. */
  #know(groupId: string) {
    if (this.#closed || this.#groups.has(groupId)) return
    this.#groups.set(groupId, new Group(groupId, this.#env.now()))
  }

  /** Keeps a group that is new. False where there is no room. */
  #adopt(group: Group): boolean {
    if (this.#groups.size >= groupsMax) return false
    this.#groups.set(group.id, group)
    return true
  }

  /** The member that a request with a generation comes from, or why it is refused. */
  #find(
    groupId: string,
    memberId: string,
    groupInstanceId: string | null,
    generationId: number,
  ): { group?: Group; member?: Member; error: KafkaErrorCode } {
    const group = this.#groups.get(groupId)
    if (group === undefined) return { error: KafkaError.UNKNOWN_MEMBER_ID }
    const error = memberError(group, memberId, groupInstanceId)
    const member = group.members.get(memberId)
    if (error !== KafkaError.NONE || member === undefined) return { error }
    if (generationId !== group.generationId) return { error: KafkaError.ILLEGAL_GENERATION }
    return { group, member, error }
  }

  #parkSync(group: Group, member: Member, signal: AbortSignal | undefined) {
    group.answerSync(member, syncError(KafkaError.REBALANCE_IN_PROGRESS))
    const parked = new Parked<Types.SyncGroupResponse>(signal, (aborted) => {
      if (member.sync !== aborted) return
      group.answerSync(member, syncError(KafkaError.REBALANCE_IN_PROGRESS))
      this.#rebalance.touch(group, member)
    })
    member.sync = parked
    return parked.promise
  }

  #leave(group: Group, memberId: string, groupInstanceId: string | null): KafkaErrorCode {
    let leaving = memberId
    if (memberId === '') {
      const current = groupInstanceId === null ? undefined : group.staticMemberId(groupInstanceId)
      if (current === undefined) return KafkaError.UNKNOWN_MEMBER_ID
      leaving = current
    } else if (!group.pending.has(memberId)) {
      const error = memberError(group, memberId, groupInstanceId)
      if (error !== KafkaError.NONE) return error
    }
    this.#rebalance.remove(group, leaving)
    return KafkaError.NONE
  }

  /** Ends a group: nothing of it is parked or timed any more. */
  #bury(group: Group) {
    this.#groups.delete(group.id)
    group.end(this.#env.now())
  }

  #scheduleSweep() {
    const intervalMs = this.#config.get('offsets.retention.check.interval.ms')
    this.#sweepTimer = this.#env.after(Math.min(intervalMs, timerMaxMs), () => {
      void this.#sweep().then(() => {
        if (!this.#closed) this.#scheduleSweep()
      })
    })
  }

  /** Drops offsets that have expired, and groups that are left without members and offsets. */
  async #sweep() {
    const retentionMs = this.#config.get('offsets.retention.minutes') * 60_000
    for (const group of [...this.#groups.values()]) {
      const expired = expiredOffsets(group, this.#offsets, this.#env.now(), retentionMs)
      try {
        if (expired.length > 0) await this.#offsets.remove(group.id, expired)
        const idle = group.state === 'Empty' && group.pending.size === 0
        if (!idle || this.#offsets.has(group.id)) continue
        this.#bury(group)
        if (group.generationId > 0) await this.#offsets.removeGroup(group.id)
      } catch {
        // The store reports its own failures; the next sweep tries again.
      }
    }
  }
}
