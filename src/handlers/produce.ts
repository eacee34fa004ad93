/**
 * Produce: appends one batch to each partition named. acks 1 and -1 answer once the batch is in the page cache
 * of this, the only replica; acks 0 answers nothing, and an error then closes the connection, as in Kafka.
 *
 * Batches of magic 2 only: versions 0 to 2 are advertised, since librdkafka concludes from them what it may
 * compress with, but the message sets that they carry are refused.
 */
import { produce as api } from '../apis/produce.js'
import { KafkaError, SeglogError } from '../errors.js'
import type { Partition } from '../replication/partition.js'
import type { RequestContext } from './context.js'
import { handler } from './handler.js'

type Outcome = ReturnType<typeof answer>

export const produce = handler(api, [0, 13], (request, context) => {
  let failed = false
  const responses = request.topicData.map((topic) => {
    const served =
      context.version >= 13
        ? context.replicas.topicById(topic.topicId)
        : context.replicas.topic(topic.name)
    const unknown =
      context.version >= 13 ? KafkaError.UNKNOWN_TOPIC_ID : KafkaError.UNKNOWN_TOPIC_OR_PARTITION
    const partitionResponses = topic.partitionData.map(({ index, records }) => {
      const outcome = append(
        request.acks,
        served?.partitions[index],
        unknown,
        index,
        records,
        context,
      )
      failed ||= outcome.errorCode !== KafkaError.NONE
      return outcome
    })
    return { name: topic.name, topicId: topic.topicId, partitionResponses }
  })
  if (request.acks !== 0) return { responses }
  if (failed) throw new SeglogError('BAD_ARGUMENT', 'a produce with acks=0 failed')
  return undefined
})

function append(
  acks: number,
  partition: Partition | undefined,
  unknown: number,
  index: number,
  records: Uint8Array | null,
  context: RequestContext,
): Outcome {
  if (acks < -1 || acks > 1) return answer(index, KafkaError.INVALID_REQUIRED_ACKS)
  if (!partition) return answer(index, unknown)
  if (!records || records.length === 0) {
    return answer(index, KafkaError.INVALID_RECORD, 'a partition without a batch')
  }
  const outcome = partition.append(records, context.env.now())
  if (outcome.errorCode !== KafkaError.NONE) {
    const { errorCode, errorMessage, badRecord } = outcome
    return answer(index, errorCode, errorMessage, badRecord)
  }
  return {
    ...answer(index, KafkaError.NONE),
    baseOffset: outcome.baseOffset,
    logStartOffset: partition.log.startOffset,
  }
}

function answer(index: number, errorCode: number, errorMessage: string | null = null, bad = -1) {
  return {
    index,
    errorCode,
    baseOffset: -1,
    logAppendTimeMs: -1,
    logStartOffset: -1,
    recordErrors: bad < 0 ? [] : [{ batchIndex: bad, batchIndexErrorMessage: errorMessage }],
    errorMessage,
  }
}
