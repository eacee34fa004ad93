/**
 * JoinGroup, once its group is found: who asks, whether he may, and what his join means in each
 * state. Follows Kafka's coordinator with MEMBER_ID_REQUIRED (KIP-394), static members (KIP-345)
 * and skipAssignment (KIP-814). Runs at once; the answer is a promise where it has to wait.
 */
import type { Env } from '../env.js'
import { KafkaError, type KafkaErrorCode } from '../errors.js'
import type { Group } from './group.js'
import { goneCode, joinError, Member, Parked, syncError } from './member.js'
import type { Rebalance } from './rebalance.js'
import type { JoinGroupRequest, JoinGroupResponse } from './types.js'

/**
 * Ids of one group that were given out and not used yet. Above that somebody only collects them.
 */
const pendingMax = 10_000

type Answer = JoinGroupResponse | Promise<JoinGroupResponse>

export class Join {
  readonly #env: Env
  readonly #rebalance: Rebalance
  readonly #membersMax: number

  constructor(env: Env, rebalance: Rebalance, membersMax: number) {
    this.#env = env
    this.#rebalance = rebalance
    this.#membersMax = membersMax
  }

  join(group: Group, request: JoinGroupRequest): Answer {
    if (!this.#hasRoom(group, request.memberId)) {
      this.#rebalance.remove(group, request.memberId)
      return joinError('', KafkaError.GROUP_MAX_SIZE_REACHED)
    }
    if (!group.supports(request.protocolType, request.protocols)) {
      return joinError(request.memberId, KafkaError.INCONSISTENT_GROUP_PROTOCOL)
    }
    const answer =
      request.memberId === '' ? this.#first(group, request) : this.#again(group, request)
    this.#rebalance.tryCompleteJoin(group)
    return answer
  }

  /**
   * Counts those who have joined where a rebalance is under way, so that those who are late lose
   * out.
   */
  #hasRoom(group: Group, memberId: string): boolean {
    switch (group.state) {
      case 'PreparingRebalance':
        return (
          group.members.get(memberId)?.join !== undefined || group.joinsParked < this.#membersMax
        )
      case 'CompletingRebalance':
      case 'Stable':
        return group.members.has(memberId) || group.members.size < this.#membersMax
      default:
        return true
    }
  }

  /** A join without a member id. */
  #first(group: Group, request: JoinGroupRequest): Answer {
    const { groupInstanceId, clientId } = request
    const memberId = `${groupInstanceId ?? clientId}-${this.#env.random.uuid()}`
    if (groupInstanceId !== null) {
      const member = group.members.get(group.staticMemberId(groupInstanceId) ?? '')
      if (member !== undefined) {
        return this.#staticReturns(group, member, groupInstanceId, memberId, request)
      }
    } else if (request.requireKnownMemberId) {
      // Not bounded by the size of the group: an id may be one whose answer got lost.
      if (group.pending.size >= pendingMax) {
        return joinError('', KafkaError.GROUP_MAX_SIZE_REACHED)
      }
      this.#rebalance.expect(group, memberId, request.sessionTimeoutMs)
      return joinError(memberId, KafkaError.MEMBER_ID_REQUIRED)
    }
    return this.#add(group, memberId, request)
  }

  /** A join with a member id: of a pending member, or of one that joins again. */
  #again(group: Group, request: JoinGroupRequest): Answer {
    const { memberId, groupInstanceId } = request
    if (group.pending.has(memberId) && groupInstanceId === null) {
      return this.#add(group, memberId, request)
    }
    const error = memberError(group, memberId, groupInstanceId)
    const member = group.members.get(memberId)
    if (error !== KafkaError.NONE || member === undefined) return joinError(memberId, error)
    const unchanged = member.matches(request.protocols)
    if (group.state === 'CompletingRebalance' && unchanged) {
      // It may have missed the answer to its join.
      return group.joined(member)
    }
    if (group.state === 'Stable' && unchanged && member.id !== group.leaderId) {
      return group.joined(member)
    }
    // A leader that joins again has seen a change that its metadata does not show.
    group.update(member, request)
    const answer = this.#park(group, member, request)
    this.#rebalance.prepare(group)
    return answer
  }

  #add(group: Group, memberId: string, request: JoinGroupRequest): Answer {
    const member = new Member(memberId, request)
    group.add(member)
    const answer = this.#park(group, member, request)
    this.#rebalance.add(group, member)
    return answer
  }

  /** A static member that comes back takes its place under a new id; the old id is fenced. */
  #staticReturns(
    group: Group,
    member: Member,
    instanceId: string,
    memberId: string,
    request: JoinGroupRequest,
  ): Answer {
    group.answerJoin(member, joinError(member.id, KafkaError.FENCED_INSTANCE_ID))
    group.answerSync(member, syncError(KafkaError.FENCED_INSTANCE_ID))
    this.#rebalance.synced(group, member.id)
    const leaderBefore = group.leaderId ?? ''
    group.rename(member, instanceId, memberId)
    group.update(member, request)
    this.#rebalance.touch(group, member)
    if (group.state === 'Stable' && group.selectProtocol() === group.protocolName) {
      this.#rebalance.changed(group)
      const answer = group.joined(member)
      if (request.supportSkippingAssignment) {
        return { ...answer, skipAssignment: memberId === group.leaderId }
      }
      // It must not take itself for the leader: a stable group would ignore its assignment.
      return { ...answer, leader: leaderBefore, members: [] }
    }
    const answer = this.#park(group, member, request)
    // In CompletingRebalance the leader knows the old id only, so it must be asked anew.
    this.#rebalance.prepare(group)
    return answer
  }

  #park(group: Group, member: Member, request: JoinGroupRequest): Promise<JoinGroupResponse> {
    group.answerJoin(member, joinError(member.id, KafkaError.REBALANCE_IN_PROGRESS))
    const parked = new Parked<JoinGroupResponse>(request.signal, (aborted) => {
      if (member.join !== aborted) return
      group.answerJoin(member, joinError('', goneCode))
      if (request.memberId === '' && member.instanceId === null) {
        // Nobody ever learns this id.
        this.#rebalance.remove(group, member.id)
      } else {
        member.isNew = false
        this.#rebalance.touch(group, member)
      }
    })
    group.parkJoin(member, parked)
    return parked.promise
  }
}

/**
 * Why a request of a member is refused, or NONE: FENCED_INSTANCE_ID where another member has its
 * instance, UNKNOWN_MEMBER_ID where it is not in the group.
 */
export function memberError(
  group: Group,
  memberId: string,
  groupInstanceId: string | null,
): KafkaErrorCode {
  if (groupInstanceId !== null) {
    const current = group.staticMemberId(groupInstanceId)
    if (current === undefined) return KafkaError.UNKNOWN_MEMBER_ID
    if (current !== memberId) return KafkaError.FENCED_INSTANCE_ID
  }
  return group.members.has(memberId) ? KafkaError.NONE : KafkaError.UNKNOWN_MEMBER_ID
}
