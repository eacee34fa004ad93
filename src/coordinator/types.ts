/**
 * Requests and answers of the group coordinator. Names and shapes are those of Kafka's newest
 * messages of the same name, so that a handler passes them through; null is where the message is
 * nullable. A handler of an older version fills in what that version lacks, as the comments say.
 * Types only.
 */
import type { KafkaErrorCode } from '../errors.js'

export type GroupState = 'Empty' | 'PreparingRebalance' | 'CompletingRebalance' | 'Stable' | 'Dead'

/**
 * A protocol that a member can speak, for example an assignor, with bytes that only members read.
 */
export interface GroupProtocol {
  name: string
  metadata: Uint8Array
}

export interface JoinGroupRequest {
  groupId: string
  sessionTimeoutMs: number
  /** Version 0 has none: the session timeout. */
  rebalanceTimeoutMs: number
  /** Empty for a member that has no id yet. */
  memberId: string
  groupInstanceId: string | null
  protocolType: string
  /** In order of preference. */
  protocols: readonly GroupProtocol[]
  clientId: string
  clientHost: string
  /**
   * From version 4 on (KIP-394): a dynamic member without an id is given one and joins again with
   * it.
   */
  requireKnownMemberId: boolean
  /** From version 9 on (KIP-814): a static leader that returns is told to skip the assignment. */
  supportSkippingAssignment: boolean
  /** Fires when the connection is lost: nobody waits for the answer any more. */
  signal?: AbortSignal
}

export interface JoinGroupMember {
  memberId: string
  groupInstanceId: string | null
  metadata: Uint8Array
}

export interface JoinGroupResponse {
  errorCode: KafkaErrorCode
  generationId: number
  protocolType: string | null
  protocolName: string | null
  leader: string
  skipAssignment: boolean
  memberId: string
  /** For the leader every member, for the others none. */
  members: JoinGroupMember[]
}

export interface SyncGroupRequest {
  groupId: string
  generationId: number
  memberId: string
  groupInstanceId: string | null
  /** null below version 5, and then not compared. */
  protocolType: string | null
  protocolName: string | null
  /** From the leader; of others it is ignored. */
  assignments: readonly { memberId: string; assignment: Uint8Array }[]
  signal?: AbortSignal
}

export interface SyncGroupResponse {
  errorCode: KafkaErrorCode
  protocolType: string | null
  protocolName: string | null
  assignment: Uint8Array
}

export interface HeartbeatRequest {
  groupId: string
  generationId: number
  memberId: string
  groupInstanceId: string | null
}

export interface LeaveGroupRequest {
  groupId: string
  /**
   * Below version 3 one member. An empty member id with an instance id removes a static member
   * (KIP-345).
   */
  members: readonly { memberId: string; groupInstanceId: string | null }[]
}

export interface LeaveGroupResponse {
  /**
   * Of the request as a whole. Below version 3 the answer is this, or else the error of the one
   * member.
   */
  errorCode: KafkaErrorCode
  members: { memberId: string; groupInstanceId: string | null; errorCode: KafkaErrorCode }[]
}

export interface OffsetCommitRequest {
  groupId: string
  /** Below 0: from outside the group protocol, allowed while the group has no members. */
  generationId: number
  memberId: string
  groupInstanceId: string | null
  /** ms; -1: as the broker has it. Versions 2 to 4 alone carry it. */
  retentionTimeMs: number
  /** Partitions that exist: the handler answers UNKNOWN_TOPIC_OR_PARTITION for the others. */
  topics: readonly {
    name: string
    partitions: readonly {
      partitionIndex: number
      committedOffset: number
      committedLeaderEpoch: number
      committedMetadata: string | null
    }[]
  }[]
}

export interface OffsetCommitResponse {
  /**
   * In the order of the request. GROUP_ID_NOT_FOUND, for a generation of a group that is not there,
   * is ILLEGAL_GENERATION below version 9.
   */
  topics: {
    name: string
    partitions: { partitionIndex: number; errorCode: KafkaErrorCode }[]
  }[]
}

export interface OffsetFetchRequest {
  groupId: string
  /** null: all that the group has committed. */
  topics: readonly { name: string; partitionIndexes: readonly number[] }[] | null
}

export interface OffsetFetchPartition {
  partitionIndex: number
  /** -1 where nothing is committed. */
  committedOffset: number
  committedLeaderEpoch: number
  /** Never null. */
  metadata: string
  errorCode: KafkaErrorCode
}

export interface OffsetFetchResponse {
  errorCode: KafkaErrorCode
  topics: { name: string; partitions: OffsetFetchPartition[] }[]
}

export interface DescribedMember {
  memberId: string
  groupInstanceId: string | null
  clientId: string
  clientHost: string
  memberMetadata: Uint8Array
  memberAssignment: Uint8Array
}

export interface DescribedGroup {
  /** GROUP_ID_NOT_FOUND, with state Dead, is 0 below version 6. */
  errorCode: KafkaErrorCode
  groupId: string
  groupState: GroupState | ''
  protocolType: string
  /** The protocol that was chosen, while the group is stable. */
  protocolData: string
  members: DescribedMember[]
}

export interface ListGroupsRequest {
  /** Any case; empty: all. */
  statesFilter: readonly string[]
  /** `classic` is the only type there is; empty: all. */
  typesFilter: readonly string[]
}

export interface ListGroupsResponse {
  errorCode: KafkaErrorCode
  groups: { groupId: string; protocolType: string; groupState: GroupState; groupType: 'classic' }[]
}
