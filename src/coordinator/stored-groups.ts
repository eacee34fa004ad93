/**
 * A group as it goes into the topic, and as it comes back from it. Members come back with the
 * session that they had: who is still there goes on with the next heartbeat and sees no rebalance,
 * who is not is dropped when its session ends.
 */
import { Group } from './group.js'
import type { StoredGroup, StoredMember } from './group-records.js'
import { Member } from './member.js'
import type { Rebalance } from './rebalance.js'

/** What is kept of a group that is stable or empty. */
export function storedGroup(group: Group): StoredGroup {
  return {
    protocolType: group.protocolType ?? '',
    generation: group.generationId,
    protocol: group.protocolName,
    leader: group.leaderId,
    currentStateTimestamp: group.stateSince,
    members: [...group.members.values()].map((member) => ({
      memberId: member.id,
      groupInstanceId: member.instanceId,
      clientId: member.clientId,
      clientHost: member.clientHost,
      rebalanceTimeout: member.rebalanceTimeoutMs,
      sessionTimeout: member.sessionTimeoutMs,
      subscription: member.metadata(group.protocolName),
      assignment: member.assignment,
    })),
  }
}

/** The group that was stored; its sessions begin now. */
export function restoredGroup(
  id: string,
  stored: StoredGroup,
  rebalance: Rebalance,
  now: number,
): Group {
  const { currentStateTimestamp: since } = stored
  // Where it was not written, offsets last from their commit.
  const group = new Group(id, Math.max(since, 0))
  group.generationId = Math.max(stored.generation, 0)
  group.protocolType = stored.protocolType || null
  const { protocol } = stored
  // Members without a protocol in common cannot have been stored by a group that was stable.
  if (protocol === null || stored.members.length === 0) return group
  for (const { memberId, ...rest } of stored.members) {
    if (group.members.has(memberId)) continue
    const member = restoredMember({ memberId, ...rest }, stored.protocolType, protocol)
    const { instanceId } = member
    if (instanceId !== null && group.staticMemberId(instanceId) !== undefined) continue
    group.add(member)
    rebalance.touch(group, member)
  }
  group.protocolName = protocol
  if (stored.leader !== null && group.members.has(stored.leader)) group.leaderId = stored.leader
  group.transitionTo('PreparingRebalance', now)
  group.transitionTo('CompletingRebalance', now)
  group.transitionTo('Stable', now)
  return group
}

function restoredMember(stored: StoredMember, protocolType: string, protocol: string): Member {
  const member = new Member(stored.memberId, {
    groupId: '',
    memberId: stored.memberId,
    groupInstanceId: stored.groupInstanceId,
    clientId: stored.clientId,
    clientHost: stored.clientHost,
    sessionTimeoutMs: stored.sessionTimeout,
    rebalanceTimeoutMs: stored.rebalanceTimeout,
    protocolType,
    protocols: [{ name: protocol, metadata: stored.subscription }],
    requireKnownMemberId: true,
    supportSkippingAssignment: false,
  })
  member.assign(stored.assignment)
  member.isNew = false
  return member
}
