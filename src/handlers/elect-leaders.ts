/**
 * ElectLeaders, and ListPartitionReassignments: with one replica of each partition the leader is
 * the preferred one always, and nothing is ever on its way to another broker.
 */
import { electLeaders as electApi } from '../apis/elect-leaders.js'
import { listPartitionReassignments as reassignApi } from '../apis/list-partition-reassignments.js'
import { KafkaError } from '../errors.js'
import { handler } from './handler.js'

export const electLeaders = handler(electApi, [0, 2], ({ topicPartitions }, { replicas }) => {
  // A request for all partitions is answered for those that had something to elect.
  const asked = topicPartitions ?? []
  return {
    throttleTimeMs: 0,
    errorCode: KafkaError.NONE,
    replicaElectionResults: asked.map(({ topic, partitions }) => ({
      topic,
      partitionResult: partitions.map((partitionId) => ({
        partitionId,
        ...(replicas.partition(topic, partitionId) ? notNeeded : unknown),
      })),
    })),
  }
})

const notNeeded = {
  errorCode: KafkaError.ELECTION_NOT_NEEDED,
  errorMessage: 'Leader election not needed for topic partition.',
}
const unknown = {
  errorCode: KafkaError.UNKNOWN_TOPIC_OR_PARTITION,
  errorMessage: 'This server does not host this topic-partition.',
}

export const listPartitionReassignments = handler(reassignApi, [0, 0], () => {
  return { throttleTimeMs: 0, errorCode: KafkaError.NONE, errorMessage: null, topics: [] }
})
