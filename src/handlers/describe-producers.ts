/** DescribeProducers: the idempotent producers that each partition knows (KIP-664). */
import { describeProducers as api } from '../apis/describe-producers.js'
import { KafkaError, kafkaErrorName } from '../errors.js'
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
  const partition = replicas.partition(topic, partitionIndex)
  if (!partition) {
    const errorCode = KafkaError.UNKNOWN_TOPIC_OR_PARTITION
    const errorMessage = kafkaErrorName(errorCode)
    return { partitionIndex, errorCode, errorMessage, activeProducers: [] }
  }
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
