/**
 * Produce: appends one batch to each partition named. acks 1 and -1 answer once the batch is in the
 * page cache of this, the only replica, or on its disk where `flush.messages` asks for that; acks 0
 * answers nothing, and an error then closes the connection, as in Kafka.
 *
 * Versions 0 to 2 carry message sets of magic 0 and 1, which become one batch of magic 2 here;
 * later versions carry batches alone.
 */
import { produce as api } from '../apis/produce.js'
import { KafkaError, type KafkaErrorCode, SeglogError } from '../errors.js'
import { isMessageSet, upConverted } from '../records/conversion.js'
import { Attribute, BatchField, MAGIC } from '../records/format.js'
import type { Partition } from '../replication/partition.js'
import type { RequestContext } from './context.js'
import { handler } from './handler.js'

type Outcome = ReturnType<typeof answer>

export const produce = handler(api, [0, 13], (request, context) => {
  let failed = false
  const syncs: Promise<void>[] = []
  const responses = request.topicData.map((topic) => {
    const served =
      context.version >= 13
        ? context.replicas.topicById(topic.topicId)
        : context.replicas.topic(topic.name)
    const unknown =
      context.version >= 13 && !served
        ? KafkaError.UNKNOWN_TOPIC_ID
        : KafkaError.UNKNOWN_TOPIC_OR_PARTITION
    const partitionResponses = topic.partitionData.map(({ index, records }) => {
      const outcome = append(
        request.acks,
        served?.partitions[index],
        unknown,
        index,
        records,
        context,
        syncs,
      )
      failed ||= outcome.errorCode !== KafkaError.NONE
      return outcome
    })
    return { name: topic.name, topicId: topic.topicId, partitionResponses }
  })
  if (request.acks !== 0) {
    return syncs.length === 0 ? { responses } : Promise.all(syncs).then(() => ({ responses }))
  }
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
  syncs: Promise<void>[],
): Outcome {
  if (acks < -1 || acks > 1) return answer(index, KafkaError.INVALID_REQUIRED_ACKS)
  if (!partition) return answer(index, unknown)
  // An empty set is no fault in an old client.
  if (records?.length === 0 && context.version < 3) return answer(index, KafkaError.NONE)
  if (!records || records.length === 0) {
    return answer(index, KafkaError.INVALID_RECORD, 'a partition without a batch')
  }
  if (isTransactional(records)) {
    return answer(index, KafkaError.TRANSACTIONAL_ID_AUTHORIZATION_FAILED, 'no transactions here')
  }
  if (context.version >= 3 && isMessageSet(records)) {
    return answer(index, KafkaError.INVALID_RECORD, 'only batches of magic 2 from version 3 on')
  }
  const batch = isMessageSet(records) ? convert(records) : records
  if (batch instanceof SeglogError) return answer(index, conversionFault(batch), batch.message)
  const outcome = partition.append(batch, context.env.now())
  if (outcome.errorCode !== KafkaError.NONE) {
    const { errorMessage, badRecord } = outcome
    const errorCode = forVersion(outcome.errorCode, records)
    return answer(index, errorCode, errorMessage, badRecord)
  }
  const { baseOffset, flushed } = outcome
  const success = {
    ...answer(index, KafkaError.NONE),
    baseOffset,
    logStartOffset: partition.log.startOffset,
  }
  if (flushed !== undefined) {
    const failure = answer(index, KafkaError.KAFKA_STORAGE_ERROR, 'the log could not be synced')
    syncs.push(flushed.catch(() => void Object.assign(success, failure)))
  }
  return success
}

/**
 * A batch of a transaction would be visible at once, since nobody writes the marker that ends it.
 */
function isTransactional(records: Uint8Array): boolean {
  const low = records[BatchField.ATTRIBUTES + 1] ?? 0
  return records[BatchField.MAGIC] === MAGIC && (low & Attribute.TRANSACTIONAL) !== 0
}

function convert(set: Uint8Array): Uint8Array | SeglogError {
  try {
    return upConverted(set)
  } catch (error) {
    if (error instanceof SeglogError) return error
    throw error
  }
}

/** Damage and what ends early are corrupt; what a right CRC does not excuse is an invalid record. */
function conversionFault({ code }: SeglogError): KafkaErrorCode {
  switch (code) {
    case 'TOO_LARGE':
      return KafkaError.MESSAGE_TOO_LARGE
    case 'UNSUPPORTED_COMPRESSION':
      return KafkaError.UNSUPPORTED_COMPRESSION_TYPE
    case 'INVALID_RECORD':
      return KafkaError.INVALID_RECORD
    default:
      return KafkaError.CORRUPT_MESSAGE
  }
}

/** An old message set is a fault where a batch is due; other magics are damage. */
function forVersion(errorCode: number, records: Uint8Array): number {
  if (errorCode !== KafkaError.UNSUPPORTED_FOR_MESSAGE_FORMAT) return errorCode
  return isMessageSet(records) ? KafkaError.INVALID_RECORD : KafkaError.CORRUPT_MESSAGE
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
