/** DescribeProducers: the idempotent producers that each partition knows (KIP-664). */
import { describeProducers as api } from '../apis/describe-producers.js'
import { topicNameFault } from '../controller/topic-names.js'
import { KafkaError, type KafkaErrorCode } from '../errors.js'
import type { Replicas } from '../replication/replicas.js'
import { handler } from './handler.js'

export const describeProducers = handler(api, [0, 0], ({ topics }, { replicas }) => {
  return {
    throttleTimeMs: 0,
    topics: topics.map(({ name, partitionIndexes }) => ({
      name,
      partitions: partitionIndexes.map((index) => describe(replicas, name, index)),
    })),
  }
})

function describe(replicas: Replicas, topic: string, partitionIndex: number) {
  const refused = (errorCode: KafkaErrorCode, errorMessage: string | null) => {
    return { partitionIndex, errorCode, errorMessage, activeProducers: [] }
  }
  const fault = topicNameFault(topic)
  if (fault) return refused(KafkaError.INVALID_TOPIC_EXCEPTION, fault)
  if (!replicas.topic(topic)) {
    const text = 'This server does not host this topic-partition.'
    return refused(KafkaError.UNKNOWN_TOPIC_OR_PARTITION, text)
  }
  const partition = replicas.partition(topic, partitionIndex)
  if (!partition) return refused(KafkaError.UNKNOWN_TOPIC_OR_PARTITION, null)
  const activeProducers = [...partition.log.producers.entries()].map((producer) => ({
    producerId: producer.producerId,
    producerEpoch: producer.producerEpoch,
    lastSequence: producer.batches.at(-1)?.lastSequence ?? -1,
    lastTimestamp: producer.lastTimestamp,
    coordinatorEpoch: -1,
    currentTxnStartOffset: -1,
  }))
  return { partitionIndex, errorCode: KafkaError.NONE, errorMessage: null, activeProducers }
}
