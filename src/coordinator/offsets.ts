/**
 * Committed offsets of groups: who may commit when, and what a fetch shows. When they go is in
 * `offset-removal.ts`.
 */
import type { Env } from '../env.js'
import { KafkaError, type KafkaErrorCode } from '../errors.js'
import type { Group } from './group.js'
import { memberError } from './join.js'
import type { CommittedOffset, OffsetStore } from './offset-store.js'
import type {
  OffsetCommitRequest,
  OffsetCommitResponse,
  OffsetFetchPartition,
  OffsetFetchRequest,
  OffsetFetchResponse,
} from './types.js'

/** Why a commit to this group is refused, or NONE. */
export function commitError(group: Group, request: OffsetCommitRequest): KafkaErrorCode {
  const { generationId, memberId, groupInstanceId } = request
  if (generationId < 0 && group.state === 'Empty') return KafkaError.NONE
  if (generationId < 0 && memberId === '' && groupInstanceId === null) {
    // From outside the group protocol, while members own the partitions.
    return KafkaError.UNKNOWN_MEMBER_ID
  }
  const error = memberError(group, memberId, groupInstanceId)
  if (error !== KafkaError.NONE) return error
  if (generationId !== group.generationId) return KafkaError.ILLEGAL_GENERATION
  // The member has seen this generation but not its assignment, so it cannot own what it commits.
  // In PreparingRebalance it still owns what it had, and the next heartbeat tells it.
  return group.state === 'CompletingRebalance' ? KafkaError.REBALANCE_IN_PROGRESS : KafkaError.NONE
}

/** The same error for each partition of a commit. */
export function refuseCommit(
  request: OffsetCommitRequest,
  errorCode: KafkaErrorCode,
): OffsetCommitResponse {
  return answerCommit(request, () => errorCode)
}

/** Stores what fits. REQUIRES: `commitError` gave NONE, in this very turn. */
export async function storeCommit(
  env: Env,
  store: OffsetStore,
  request: OffsetCommitRequest,
  metadataMax: number,
): Promise<OffsetCommitResponse> {
  const now = env.now()
  const { retentionTimeMs } = request
  const tooLong = (metadata: string | null) => (metadata?.length ?? 0) > metadataMax
  const offsets: CommittedOffset[] = []
  for (const { name, partitions } of request.topics) {
    for (const partition of partitions) {
      if (tooLong(partition.committedMetadata)) continue
      offsets.push({
        topic: name,
        partition: partition.partitionIndex,
        offset: partition.committedOffset,
        leaderEpoch: partition.committedLeaderEpoch,
        metadata: partition.committedMetadata ?? '',
        commitTimestamp: now,
        ...(retentionTimeMs >= 0 ? { expireTimestamp: later(now, retentionTimeMs) } : {}),
      })
    }
  }
  const stored = await store.commit(request.groupId, offsets)
  return answerCommit(request, (metadata) =>
    tooLong(metadata) ? KafkaError.OFFSET_METADATA_TOO_LARGE : stored,
  )
}

/** A client may mean for ever, which no number holds. */
function later(now: number, ms: number): number {
  return Math.min(now + ms, Number.MAX_SAFE_INTEGER)
}

function answerCommit(
  request: OffsetCommitRequest,
  errorOf: (metadata: string | null) => KafkaErrorCode,
): OffsetCommitResponse {
  return {
    topics: request.topics.map(({ name, partitions }) => ({
      name,
      partitions: partitions.map(({ partitionIndex, committedMetadata }) => ({
        partitionIndex,
        errorCode: errorOf(committedMetadata),
      })),
    })),
  }
}

/**
 * What a group has committed; -1 where nothing is. A group that is not there has committed nothing.
 */
export function fetchOffsets(store: OffsetStore, request: OffsetFetchRequest): OffsetFetchResponse {
  const { groupId, topics } = request
  if (topics === null) return { errorCode: KafkaError.NONE, topics: allOffsets(store, groupId) }
  return {
    errorCode: KafkaError.NONE,
    topics: topics.map(({ name, partitionIndexes }) => ({
      name,
      partitions: partitionIndexes.map((index) => shown(index, store.get(groupId, name, index))),
    })),
  }
}

function allOffsets(store: OffsetStore, groupId: string): OffsetFetchResponse['topics'] {
  const topics = new Map<string, OffsetFetchPartition[]>()
  for (const offset of store.all(groupId)) {
    const partitions = topics.get(offset.topic) ?? []
    partitions.push(shown(offset.partition, offset))
    topics.set(offset.topic, partitions)
  }
  return [...topics].map(([name, partitions]) => ({ name, partitions }))
}

function shown(partitionIndex: number, offset: CommittedOffset | undefined): OffsetFetchPartition {
  return {
    partitionIndex,
    committedOffset: offset?.offset ?? -1,
    committedLeaderEpoch: offset?.leaderEpoch ?? -1,
    metadata: offset?.metadata ?? '',
    errorCode: KafkaError.NONE,
  }
}
