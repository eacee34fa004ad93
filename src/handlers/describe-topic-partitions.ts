/**
 * DescribeTopicPartitions: topics in the order of their names, page by page (KIP-966). A page ends
 * at the limit of partitions, and its cursor says where the next one begins.
 */
import { describeTopicPartitions as api } from '../apis/describe-topic-partitions.js'
import { isInternal } from '../controller/internal-topics.js'
import { topicNameFault } from '../controller/topic-names.js'
import { KafkaError, type KafkaErrorCode } from '../errors.js'
import type { RequestOf, ResponseInput } from '../protocol/schema.js'
import { ZERO_UUID } from '../protocol/types.js'
import type { RequestContext } from './context.js'
import { handler } from './handler.js'
import { partitionState } from './metadata.js'
import { OPERATIONS_NOT_ASKED, TOPIC_OPERATIONS } from './operations.js'

type Request = RequestOf<typeof api>
type Cursor = { topicName: string; partitionIndex: number }
type Topic = ResponseInput<typeof api>['topics'][number]

/** Kafka's `max.request.partition.size.limit`. */
const PARTITIONS_MAX = 2000

export const describeTopicPartitions = handler(api, [0, 0], (request, context) => {
  const { cursor } = request
  // As in Kafka, one topic without a name fails them all.
  const isNamed = request.topics.every(({ name }) => name !== '')
  if (!isNamed) return refusal(request, KafkaError.UNKNOWN_SERVER_ERROR)
  if (cursor && !isCursor(cursor, request)) return refusal(request, KafkaError.INVALID_REQUEST)
  const limit = Math.max(1, Math.min(request.responsePartitionLimit, PARTITIONS_MAX))
  const topics: Topic[] = []
  let left = limit
  let nextCursor: Cursor | null = null
  for (const name of namesFrom(request, context)) {
    const from = name === cursor?.topicName ? cursor.partitionIndex : 0
    const count = context.replicas.topic(name)?.partitions.length ?? 0
    if (left <= 0) {
      nextCursor = { topicName: name, partitionIndex: 0 }
      break
    }
    topics.push(describe(name, from, left, context))
    left -= Math.max(count - from, 0)
    if (left < 0) {
      nextCursor = { topicName: name, partitionIndex: count + left }
      break
    }
  }
  return { throttleTimeMs: 0, topics, nextCursor }
})

/** It points at a partition of a topic that the request asks for. */
function isCursor({ topicName, partitionIndex }: Cursor, { topics }: Request): boolean {
  const isAsked = topics.length === 0 || topics.some(({ name }) => name === topicName)
  return isAsked && partitionIndex >= 0
}

function refusal({ topics }: Request, errorCode: KafkaErrorCode) {
  const refused = topics.map(({ name }) => missing(name, errorCode))
  return { throttleTimeMs: 0, topics: refused, nextCursor: null }
}

/** No topics in the request means all of them. */
function namesFrom({ topics, cursor }: Request, { replicas }: RequestContext): string[] {
  const all = topics.length === 0 ? [...replicas.topics()].map(({ topic }) => topic) : []
  const asked = new Set([...all, ...topics.map(({ name }) => name)])
  const first = cursor?.topicName ?? ''
  return [...asked].filter((name) => name >= first).sort()
}

function missing(name: string, errorCode: number): Topic {
  return {
    errorCode,
    name,
    topicId: ZERO_UUID,
    isInternal: false,
    partitions: [],
    topicAuthorizedOperations: OPERATIONS_NOT_ASKED,
  }
}

function describe(name: string, from: number, limit: number, context: RequestContext): Topic {
  const { brokerId, replicas } = context
  const served = replicas.topic(name)
  if (!served) {
    const errorCode = topicNameFault(name)
      ? KafkaError.INVALID_TOPIC_EXCEPTION
      : KafkaError.UNKNOWN_TOPIC_OR_PARTITION
    return { ...missing(name, errorCode), topicAuthorizedOperations: TOPIC_OPERATIONS }
  }
  return {
    errorCode: KafkaError.NONE,
    name,
    topicId: served.topicId,
    isInternal: isInternal(name),
    partitions: served.partitions.slice(from, from + limit).map((partition, at) => ({
      ...partitionState(partition, from + at, brokerId),
      eligibleLeaderReplicas: [],
      lastKnownElr: [],
    })),
    topicAuthorizedOperations: TOPIC_OPERATIONS,
  }
}
