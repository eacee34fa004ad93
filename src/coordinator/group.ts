/**
 * One group: its members, its generation and its state. Everything that changes membership or
 * counts goes through the methods here, so that these hold at all times:
 *
 *   the leader is a member, and there is one as soon as there are members;
 *   a static instance maps to the id of the member that has it;
 *   a pending id (given out, not joined yet) is not a member;
 *   nobody leaves with a request parked: it is answered first.
 *
 * Transitions, and what holds when one is made:
 *   Empty ──────────────► PreparingRebalance    a first member has joined
 *   PreparingRebalance ─► CompletingRebalance   members have joined, the generation is one higher
 *   PreparingRebalance ─► Empty                 none is left, the generation is one higher
 *   CompletingRebalance ► Stable                the leader has sent the assignment
 *   CompletingRebalance ► PreparingRebalance    membership or metadata changed, a sync is overdue
 *   Stable ─────────────► PreparingRebalance    the same, or the leader joined again
 *   any ────────────────► Dead                  deleted, expired, or the coordinator stops
 */
import assert from 'node:assert/strict'
import type { Timer } from '../env.js'
import { KafkaError } from '../errors.js'
import { goneCode, joinError, type Member, type Parked, syncError } from './member.js'
import type {
  DescribedGroup,
  GroupProtocol,
  GroupState,
  JoinGroupRequest,
  JoinGroupResponse,
} from './types.js'

const transitions: Record<GroupState, readonly GroupState[]> = {
  Empty: ['PreparingRebalance', 'Dead'],
  PreparingRebalance: ['CompletingRebalance', 'Empty', 'Dead'],
  CompletingRebalance: ['Stable', 'PreparingRebalance', 'Dead'],
  Stable: ['PreparingRebalance', 'Dead'],
  Dead: [],
}

export class Group {
  readonly id: string
  /** ms since 1970 when the state last changed. */
  stateSince: number
  generationId = 0
  /** null until a member has joined: a group of plain commits. */
  protocolType: string | null = null
  protocolName: string | null = null
  leaderId: string | null = null
  /** In the order of their joining. */
  readonly members = new Map<string, Member>()
  /** Member ids that were given out and have not joined yet, with the timer of each. */
  readonly pending = new Map<string, Timer>()
  /** Members of this generation that have not sent SyncGroup yet. */
  readonly pendingSync = new Set<string>()
  /** The end of the time for joins, or of that for syncs. */
  phaseTimer: Timer | undefined
  /** In PreparingRebalance from Empty: joins are collected until the timer. */
  collecting = false
  /** A member came while joins are collected for the first generation. */
  newMemberAdded = false

  #state: GroupState = 'Empty'
  #joinsParked = 0
  readonly #staticMembers = new Map<string, string>()
  /** How many members speak each protocol. */
  readonly #speakers = new Map<string, number>()

  constructor(id: string, now: number) {
    this.id = id
    this.stateSince = now
  }

  get state(): GroupState {
    return this.#state
  }

  transitionTo(state: GroupState, now: number) {
    assert(transitions[this.#state].includes(state), `${this.id}: ${this.#state} to ${state}`)
    this.#state = state
    this.stateSince = now
  }

  get joinsParked(): number {
    return this.#joinsParked
  }

  get allJoined(): boolean {
    return this.#joinsParked === this.members.size && this.pending.size === 0
  }

  get rebalanceTimeoutMs(): number {
    let longest = 0
    for (const member of this.members.values()) {
      longest = Math.max(longest, member.rebalanceTimeoutMs)
    }
    return longest
  }

  staticMemberId(instanceId: string): string | undefined {
    return this.#staticMembers.get(instanceId)
  }

  /** Whether a member with these protocols would leave a protocol that everybody speaks. */
  supports(protocolType: string, protocols: readonly GroupProtocol[]): boolean {
    if (this.#state === 'Empty') return protocolType !== '' && protocols.length > 0
    return (
      this.protocolType === protocolType &&
      protocols.some(({ name }) => (this.#speakers.get(name) ?? 0) === this.members.size)
    )
  }

  /** REQUIRES: `supports`, and a free id and instance. */
  add(member: Member) {
    assert(!this.members.has(member.id))
    if (member.instanceId !== null) {
      assert(!this.#staticMembers.has(member.instanceId))
      this.#staticMembers.set(member.instanceId, member.id)
    }
    if (this.members.size === 0) this.protocolType = member.protocolType
    this.members.set(member.id, member)
    this.leaderId ??= member.id
    this.#count(member, 1)
    this.removePending(member.id)
  }

  /** Takes over what a member says in a further join. */
  update(member: Member, request: JoinGroupRequest) {
    this.#count(member, -1)
    member.take(request)
    this.#count(member, 1)
  }

  /** Takes a member out, answers what it has parked, and ends its timer. Another one leads then. */
  remove(memberId: string) {
    this.removePending(memberId)
    this.pendingSync.delete(memberId)
    const member = this.members.get(memberId)
    if (member === undefined) return
    this.answerJoin(member, joinError('', goneCode))
    this.answerSync(member, syncError(goneCode))
    member.session?.cancel()
    this.members.delete(memberId)
    this.#count(member, -1)
    if (member.instanceId !== null) this.#staticMembers.delete(member.instanceId)
    if (this.leaderId === memberId) this.leaderId = this.members.keys().next().value ?? null
  }

  /**
   * Gives a static member a new id. REQUIRES: nothing of it is parked, no sync is expected of it.
   */
  rename(member: Member, instanceId: string, memberId: string) {
    assert(member.join === undefined && member.sync === undefined)
    assert(!this.pendingSync.has(member.id))
    if (this.leaderId === member.id) this.leaderId = memberId
    this.members.delete(member.id)
    member.id = memberId
    this.members.set(memberId, member)
    this.#staticMembers.set(instanceId, memberId)
  }

  removePending(memberId: string) {
    this.pending.get(memberId)?.cancel()
    this.pending.delete(memberId)
  }

  parkJoin(member: Member, parked: Parked<JoinGroupResponse>) {
    assert(member.join === undefined)
    member.join = parked
    this.#joinsParked++
  }

  /** Answers the join that a member has parked. Returns whether there was one. */
  answerJoin(member: Member, answer: JoinGroupResponse): boolean {
    const parked = member.join
    if (parked === undefined) return false
    member.join = undefined
    this.#joinsParked--
    parked.answer(answer)
    return true
  }

  /** Answers the sync that a member has parked. Returns whether there was one. */
  answerSync(member: Member, answer: ReturnType<typeof syncError>): boolean {
    const parked = member.sync
    member.sync = undefined
    parked?.answer(answer)
    return parked !== undefined
  }

  /** Sees to it that one who has joined leads. False where nobody has joined. */
  electJoinedLeader(): boolean {
    if (this.leaderId !== null && this.members.get(this.leaderId)?.join) return true
    for (const { id, join } of this.members.values()) {
      if (join === undefined) continue
      this.leaderId = id
      return true
    }
    return false
  }

  /**
   * Of the protocols that everybody speaks the one with most votes; of equals the one voted for
   * first.
   */
  selectProtocol(): string {
    const candidates = new Set<string>()
    for (const [name, count] of this.#speakers) {
      if (count === this.members.size) candidates.add(name)
    }
    const votes = new Map<string, number>()
    for (const member of this.members.values()) {
      const name = member.vote(candidates)
      votes.set(name, (votes.get(name) ?? 0) + 1)
    }
    let selected = { name: '', count: 0 }
    for (const [name, count] of votes) if (count > selected.count) selected = { name, count }
    return selected.name
  }

  /** The answer to a member's join in this generation; the leader learns of all members. */
  joined(member: Member): JoinGroupResponse {
    const members =
      member.id !== this.leaderId
        ? []
        : [...this.members.values()].map((other) => ({
            memberId: other.id,
            groupInstanceId: other.instanceId,
            metadata: other.metadata(this.protocolName),
          }))
    return {
      errorCode: 0,
      generationId: this.generationId,
      protocolType: this.protocolType,
      protocolName: this.protocolName,
      leader: this.leaderId ?? '',
      skipAssignment: false,
      memberId: member.id,
      members,
    }
  }

  /** Nothing of it is parked or timed any more. */
  end(now: number) {
    this.transitionTo('Dead', now)
    this.phaseTimer?.cancel()
    for (const member of this.members.values()) {
      member.session?.cancel()
      this.answerJoin(member, joinError(member.id, KafkaError.NOT_COORDINATOR))
      this.answerSync(member, syncError(KafkaError.NOT_COORDINATOR))
    }
    for (const memberId of [...this.pending.keys()]) this.removePending(memberId)
  }

  describe(): DescribedGroup {
    const stable = this.#state === 'Stable'
    return {
      errorCode: 0,
      groupId: this.id,
      groupState: this.#state,
      protocolType: this.protocolType ?? '',
      protocolData: stable ? (this.protocolName ?? '') : '',
      members: [...this.members.values()].map((member) => ({
        memberId: member.id,
        groupInstanceId: member.instanceId,
        clientId: member.clientId,
        clientHost: member.clientHost,
        memberMetadata: stable ? member.metadata(this.protocolName) : new Uint8Array(0),
        memberAssignment: member.assignment,
      })),
    }
  }

  #count(member: Member, by: 1 | -1) {
    for (const name of member.protocols.keys()) {
      const count = (this.#speakers.get(name) ?? 0) + by
      if (count === 0) this.#speakers.delete(name)
      else this.#speakers.set(name, count)
    }
  }
}
