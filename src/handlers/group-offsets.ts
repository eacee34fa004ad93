/**
 * OffsetCommit and OffsetFetch: what a group has consumed. Partitions that do not exist are refused
 * here, so that the coordinator needs to know nothing of topics.
 */
import { offsetCommit as commitApi } from '../apis/offset-commit.js'
import { offsetFetch as fetchApi } from '../apis/offset-fetch.js'
import { KafkaError } from '../errors.js'
import { distinct } from './distinct.js'
import { handler } from './handler.js'

export const offsetCommit = handler(commitApi, [0, 9], async (request, context) => {
  const { groups, replicas, version } = context
  const exists = (topic: string, partition: number) =>
    replicas.partition(topic, partition) !== undefined
  const topics = request.topics.map(({ name, partitions }) => ({
    name,
    partitions: partitions.filter(({ partitionIndex }) => exists(name, partitionIndex)),
  }))
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
  return {
    throttleTimeMs: 0,
    topics: request.topics.map(({ name, partitions }) => ({
      name,
      partitions: partitions.map(({ partitionIndex }) => ({
        partitionIndex,
        errorCode: errors.get(`${name}-${partitionIndex}`) ?? KafkaError.UNKNOWN_TOPIC_OR_PARTITION,
      })),
    })),
  }
})

function forVersion(errorCode: number, version: number): number {
  const newer = errorCode === KafkaError.GROUP_ID_NOT_FOUND && version < 9
  return newer ? KafkaError.ILLEGAL_GENERATION : errorCode
}

export const offsetFetch = handler(fetchApi, [0, 9], async (request, { groups, version }) => {
  if (version >= 8) {
    const answers = await Promise.all(
      distinct(request.groups, ({ groupId }) => groupId).map(async ({ groupId, topics }) => ({
        groupId,
        ...(await groups.fetchOffsets({ groupId, topics })),
      })),
    )
    return { throttleTimeMs: 0, groups: answers }
  }
  const { groupId, topics } = request
  return { throttleTimeMs: 0, ...(await groups.fetchOffsets({ groupId, topics })) }
})
