/**
 * Metadata: brokers and topics as this broker knows them. A topic that does not exist is made when
 * the request and `auto.create.topics.enable` allow it, and is served before the answer leaves, so
 * that the client's first produce succeeds.
 */
import { metadata as api } from '../apis/metadata.js'
import { internalTopic, isInternal } from '../controller/internal-topics.js'
import { topicNameFault } from '../controller/topic-names.js'
import { KafkaError, type KafkaErrorCode, ProtocolError } from '../errors.js'
import type { RequestOf, ResponseInput } from '../protocol/schema.js'
import { ZERO_UUID } from '../protocol/types.js'
import type { Partition } from '../replication/partition.js'
import type { TopicReplicas } from '../replication/replicas.js'
import type { RequestContext } from './context.js'
import { handler } from './handler.js'
import { CLUSTER_OPERATIONS, OPERATIONS_NOT_ASKED, TOPIC_OPERATIONS } from './operations.js'

type Request = RequestOf<typeof api>
type TopicResponse = ResponseInput<typeof api>['topics'][number]

export const metadata = handler(api, [0, 13], async (request, context) => {
  if (refusesIds(request, context)) return refusal(request, KafkaError.INVALID_REQUEST)
  if (namesNothing(request)) return failure(request)
  const topics = await Promise.all(wantedTopics(request, context))
  const { brokerId, clusterId, endpoint } = context
  return {
    throttleTimeMs: 0,
    brokers: [{ nodeId: brokerId, host: endpoint.host, port: endpoint.port, rack: null }],
    clusterId,
    controllerId: brokerId,
    topics,
    clusterAuthorizedOperations: request.includeClusterAuthorizedOperations
      ? CLUSTER_OPERATIONS
      : OPERATIONS_NOT_ASKED,
    errorCode: KafkaError.NONE,
  }
})

/** Before version 12 a request has room for ids that no answer has (KIP-516). */
function refusesIds({ topics }: Request, { version }: RequestContext): boolean {
  if (topics === null || version >= 12) return false
  return topics.some(({ name, topicId }) => name === null || topicId !== ZERO_UUID)
}

/** Neither name nor id, and no other topic's id that would leave names out. */
function namesNothing({ topics }: Request): boolean {
  if (topics === null || topics.some(({ topicId }) => topicId !== ZERO_UUID)) return false
  return topics.some(({ name }) => name === null)
}

/** As in Kafka, all that is asked fails with it; version 13 has an error of the whole too. */
function failure(request: Request): ResponseInput<typeof api> {
  const errorCode = KafkaError.UNKNOWN_SERVER_ERROR
  return { ...refusal(request, errorCode), errorCode }
}

function refusal({ topics }: Request, errorCode: KafkaErrorCode): ResponseInput<typeof api> {
  const refused = (topics ?? []).map(({ name, topicId }) => missing(name ?? '', topicId, errorCode))
  return {
    throttleTimeMs: 0,
    brokers: [],
    clusterId: null,
    controllerId: -1,
    topics: refused,
    clusterAuthorizedOperations: OPERATIONS_NOT_ASKED,
    errorCode: KafkaError.NONE,
  }
}

function wantedTopics(
  request: Request,
  context: RequestContext,
): (TopicResponse | Promise<TopicResponse>)[] {
  const operations = request.includeTopicAuthorizedOperations
    ? TOPIC_OPERATIONS
    : OPERATIONS_NOT_ASKED
  const all = request.topics === null || (context.version === 0 && request.topics.length === 0)
  if (all || request.topics === null) {
    return [...context.replicas.topics()].map((served) => describe(served, operations, context))
  }
  // As in Kafka, names count only where no id is given.
  const byIds = request.topics.filter(({ topicId }) => topicId !== ZERO_UUID)
  if (byIds.length > 0) {
    const ids = new Set(byIds.map(({ topicId }) => topicId))
    return [...ids].map((topicId) => byId(topicId, operations, context))
  }
  const wanted = new Map(request.topics.map((topic) => [topic.name ?? topic.topicId, topic]))
  return [...wanted.values()].map(({ name, topicId }) => {
    if (name === null) return byId(topicId, operations, context)
    const served = context.replicas.topic(name)
    return served
      ? describe(served, operations, context)
      : createOrRefuse(name, request.allowAutoTopicCreation, operations, context)
  })
}

function byId(topicId: string, operations: number, context: RequestContext): TopicResponse {
  const served = context.replicas.topicById(topicId)
  return served
    ? describe(served, operations, context)
    : missing(null, topicId, KafkaError.UNKNOWN_TOPIC_ID)
}

async function createOrRefuse(
  name: string,
  mayCreate: boolean,
  operations: number,
  context: RequestContext,
): Promise<TopicResponse> {
  if (!mayCreate || !context.config.get('auto.create.topics.enable')) {
    const unknown = topicNameFault(name)
      ? KafkaError.INVALID_TOPIC_EXCEPTION
      : KafkaError.UNKNOWN_TOPIC_OR_PARTITION
    return missing(name, ZERO_UUID, unknown)
  }
  try {
    const wish = internalTopic(name, context.config)
    await context.topics.create(wish ?? { name, partitionCount: -1, replicationFactor: -1 })
  } catch (error) {
    if (!(error instanceof ProtocolError)) throw error
    // Another client may have been first.
    if (error.code !== KafkaError.TOPIC_ALREADY_EXISTS) return missing(name, ZERO_UUID, error.code)
  }
  const served = context.replicas.topic(name)
  return served
    ? describe(served, operations, context)
    : missing(name, ZERO_UUID, KafkaError.LEADER_NOT_AVAILABLE)
}

function describe(
  { topic, topicId, partitions }: TopicReplicas,
  topicAuthorizedOperations: number,
  { brokerId }: RequestContext,
): TopicResponse {
  return {
    errorCode: KafkaError.NONE,
    name: topic,
    topicId,
    isInternal: isInternal(topic),
    partitions: partitions.map((partition, index) => partitionState(partition, index, brokerId)),
    topicAuthorizedOperations,
  }
}

/** What clients are told of a partition: led here, or on a disk that is not there. */
export function partitionState(
  partition: Partition | undefined,
  partitionIndex: number,
  brokerId: number,
) {
  const replicaNodes = [brokerId]
  return partition
    ? {
        errorCode: KafkaError.NONE,
        partitionIndex,
        leaderId: brokerId,
        leaderEpoch: partition.leaderEpoch,
        replicaNodes,
        isrNodes: [brokerId],
        offlineReplicas: [],
      }
    : {
        errorCode: KafkaError.LEADER_NOT_AVAILABLE,
        partitionIndex,
        leaderId: -1,
        leaderEpoch: -1,
        replicaNodes,
        isrNodes: [],
        offlineReplicas: [brokerId],
      }
}

function missing(name: string | null, topicId: string, errorCode: number): TopicResponse {
  return {
    errorCode,
    name,
    topicId,
    isInternal: false,
    partitions: [],
    topicAuthorizedOperations: OPERATIONS_NOT_ASKED,
  }
}
