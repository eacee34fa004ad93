/**
 * OffsetCommit and OffsetFetch: what a group has consumed. Topics go by id from version 10 on
 * (KIP-848). Partitions that do not exist are refused here, so that the coordinator needs to know
 * nothing of topics.
 */
import { offsetCommit as commitApi } from '../apis/offset-commit.js'
import { offsetFetch as fetchApi } from '../apis/offset-fetch.js'
import type { OffsetFetchResponse } from '../coordinator/types.js'
import { KafkaError } from '../errors.js'
import type { RequestOf } from '../protocol/schema.js'
import { ZERO_UUID } from '../protocol/types.js'
import type { Replicas } from '../replication/replicas.js'
import type { RequestContext } from './context.js'
import { distinct } from './distinct.js'
import { commitToTree, fetchFromTree } from './group-offsets-tree.js'
import { handler } from './handler.js'

type CommitTopic = RequestOf<typeof commitApi>['topics'][number]
type FetchGroup = RequestOf<typeof fetchApi>['groups'][number]

/** A topic as the request names it, and its name where it exists or goes by name. */
interface Named {
  name: string | undefined
  topicId: string
}

export const offsetCommit = handler(commitApi, [0, 10], async (request, context) => {
  const { groups, replicas, version } = context
  if (version === 0) return commitToTree(request, context)
  const byId = version >= 10
  const named = request.topics.map((topic) => ({ ...topic, ...nameOf(topic, byId, replicas) }))
  const exists = (topic: string, { partitionIndex, committedOffset }: Offset) =>
    isOffset(committedOffset) && replicas.partition(topic, partitionIndex) !== undefined
  const topics = named.flatMap(({ name, partitions }) =>
    name === undefined ? [] : { name, partitions: partitions.filter((each) => exists(name, each)) },
  )
  const answer = await groups.commitOffsets({
    groupId: request.groupId,
    generationId: request.generationIdOrMemberEpoch,
    memberId: request.memberId,
    groupInstanceId: request.groupInstanceId,
    retentionTimeMs: request.retentionTimeMs,
    topics,
  })
  const errors = new Map<string, number>()
  for (const { name, partitions } of answer.topics) {
    for (const { partitionIndex, errorCode } of partitions) {
      errors.set(`${name}-${partitionIndex}`, forVersion(errorCode, version))
    }
  }
  const errorOf = (name: string | undefined, { partitionIndex, committedOffset }: Offset) => {
    if (name === undefined) return KafkaError.UNKNOWN_TOPIC_ID
    if (!isOffset(committedOffset)) return KafkaError.OFFSET_OUT_OF_RANGE
    return errors.get(`${name}-${partitionIndex}`) ?? KafkaError.UNKNOWN_TOPIC_OR_PARTITION
  }
  return {
    throttleTimeMs: 0,
    topics: named
      .filter(({ partitions }) => partitions.length > 0)
      .map(({ name, topicId, partitions }) => ({
        name: name ?? '',
        topicId,
        partitions: partitions.map((offset) => ({
          partitionIndex: offset.partitionIndex,
          errorCode: errorOf(name, offset),
        })),
      })),
  }
})

type Offset = CommitTopic['partitions'][number]

/** No log goes beyond what a number holds exactly. */
function isOffset(offset: number): boolean {
  return offset < Number.MAX_SAFE_INTEGER
}

function nameOf(
  topic: { name: string; topicId: string },
  byId: boolean,
  replicas: Replicas,
): Named {
  if (!byId) return { name: topic.name, topicId: ZERO_UUID }
  return { name: replicas.topicById(topic.topicId)?.topic, topicId: topic.topicId }
}

function forVersion(errorCode: number, version: number): number {
  const newer = errorCode === KafkaError.GROUP_ID_NOT_FOUND && version < 9
  return newer ? KafkaError.ILLEGAL_GENERATION : errorCode
}

export const offsetFetch = handler(fetchApi, [0, 10], async (request, context) => {
  const { groups, version } = context
  if (version === 0) return fetchFromTree(request, context)
  if (version >= 8) {
    const asked = distinct(request.groups, ({ groupId }) => groupId)
    const answers = await Promise.all(asked.map((group) => fetchGroup(group, context)))
    return { throttleTimeMs: 0, groups: answers }
  }
  const { groupId, topics } = request
  return { throttleTimeMs: 0, ...(await groups.fetchOffsets({ groupId, topics })) }
})

async function fetchGroup({ groupId, topics }: FetchGroup, context: RequestContext) {
  const { groups, replicas, version } = context
  if (version < 10) return { groupId, ...(await groups.fetchOffsets({ groupId, topics })) }
  const known = topics?.flatMap(({ topicId, partitionIndexes }) => {
    const name = replicas.topicById(topicId)?.topic
    return name === undefined ? [] : { name, partitionIndexes }
  })
  const answer = await groups.fetchOffsets({ groupId, topics: known ?? null })
  const found = answer.topics.flatMap(({ name, partitions }) => {
    const topicId = replicas.topic(name)?.topicId
    return topicId === undefined ? [] : { topicId, partitions }
  })
  if (answer.errorCode !== KafkaError.NONE) return { groupId, ...answer, topics: found }
  const unknown = (topics ?? []).filter(({ topicId }) => !replicas.topicById(topicId))
  return { groupId, ...answer, topics: [...found, ...unknown.map(missing)] }
}

function missing({ topicId, partitionIndexes }: NonNullable<FetchGroup['topics']>[number]): {
  topicId: string
  partitions: OffsetFetchResponse['topics'][number]['partitions']
} {
  return {
    topicId,
    partitions: partitionIndexes.map((partitionIndex) => ({
      partitionIndex,
      committedOffset: -1,
      committedLeaderEpoch: -1,
      metadata: '',
      errorCode: KafkaError.UNKNOWN_TOPIC_ID,
    })),
  }
}
