/**
 * ElectLeaders, and the two APIs of reassignments: with one replica of each partition the leader is
 * the preferred one always, and nothing is ever on its way to another broker.
 */
import { alterPartitionReassignments as alterApi } from '../apis/alter-partition-reassignments.js'
import { electLeaders as electApi } from '../apis/elect-leaders.js'
import { listPartitionReassignments as listApi } from '../apis/list-partition-reassignments.js'
import { KafkaError, type KafkaErrorCode } from '../errors.js'
import type { RequestOf, ResponseInput } from '../protocol/schema.js'
import type { RequestContext } from './context.js'
import { handler } from './handler.js'

type Election = RequestOf<typeof electApi>
type Outcome = [code: KafkaErrorCode, text: string | null]

/** Preferred replica, or any that is left. */
const ELECTION_TYPES = 2

export const electLeaders = handler(electApi, [0, 2], (request, { replicas }) => {
  const refused = refusal(request)
  // A request for all partitions is answered for those that had something to elect.
  const asked =
    request.topicPartitions ??
    [...replicas.topics()].map(({ topic }) => ({ topic, partitions: [] as number[] }))
  return {
    throttleTimeMs: 0,
    errorCode: refused?.[0] ?? KafkaError.NONE,
    replicaElectionResults: asked.map(({ topic, partitions }) => ({
      topic,
      partitionResult: partitions.map((partitionId) => {
        const [errorCode, errorMessage] = refused ?? elect(topic, partitionId, replicas)
        return { partitionId, errorCode, errorMessage }
      }),
    })),
  }
})

function refusal({ electionType, timeoutMs }: Election): Outcome | undefined {
  if (timeoutMs <= 0) return [KafkaError.REQUEST_TIMED_OUT, null]
  if (electionType >= 0 && electionType < ELECTION_TYPES) return undefined
  return [KafkaError.INVALID_REQUEST, `Unknown election type ${electionType}`]
}

function elect(topic: string, index: number, replicas: RequestContext['replicas']): Outcome {
  const unknown = KafkaError.UNKNOWN_TOPIC_OR_PARTITION
  if (!replicas.topic(topic)) return [unknown, `No such topic as ${topic}`]
  if (!replicas.partition(topic, index)) return [unknown, `No such partition as ${topic}-${index}`]
  const text = 'Leader election not needed for topic partition.'
  return [KafkaError.ELECTION_NOT_NEEDED, text]
}

export const listPartitionReassignments = handler(listApi, [0, 0], () => {
  return { throttleTimeMs: 0, errorCode: KafkaError.NONE, errorMessage: null, topics: [] }
})

type Reassignment = RequestOf<typeof alterApi>
type Target = Reassignment['topics'][number]['partitions'][number]

export const alterPartitionReassignments = handler(alterApi, [0, 1], (request, context) => {
  const { timeoutMs, topics, allowReplicationFactorChange } = request
  const answer: ResponseInput<typeof alterApi> = {
    throttleTimeMs: 0,
    allowReplicationFactorChange,
    errorCode: KafkaError.NONE,
    errorMessage: null,
    responses: [],
  }
  if (timeoutMs <= 0) return { ...answer, errorCode: KafkaError.REQUEST_TIMED_OUT }
  const responses = topics.map(({ name, partitions }) => ({
    name,
    partitions: partitions.map((target) => {
      const [errorCode, errorMessage] = reassign(name, target, context)
      return { partitionIndex: target.partitionIndex, errorCode, errorMessage }
    }),
  }))
  return { ...answer, responses }
})

/** To the broker that has it already: done. To none: there is nothing to cancel. */
function reassign(
  topic: string,
  { partitionIndex, replicas }: Target,
  { replicas: served, brokerId }: RequestContext,
): Outcome {
  const unknown = KafkaError.UNKNOWN_TOPIC_OR_PARTITION
  if (!served.topic(topic)) return [unknown, `Unable to find a topic named ${topic}.`]
  if (!served.partition(topic, partitionIndex)) {
    return [unknown, `Unable to find partition ${topic}:${partitionIndex}.`]
  }
  if (replicas === null) return [KafkaError.NO_REASSIGNMENT_IN_PROGRESS, null]
  if (replicas.length === 0) {
    const text = 'The manual partition assignment includes an empty replica list.'
    return [KafkaError.INVALID_REPLICA_ASSIGNMENT, text]
  }
  const stranger = replicas.find((id) => id !== brokerId)
  if (stranger !== undefined) {
    const text = `The manual partition assignment includes broker ${stranger}, which is not known.`
    return [KafkaError.INVALID_REPLICA_ASSIGNMENT, text]
  }
  if (replicas.length > 1) {
    const text = `The manual partition assignment includes the broker ${brokerId} more than once.`
    return [KafkaError.INVALID_REPLICA_ASSIGNMENT, text]
  }
  return [KafkaError.NONE, null]
}
