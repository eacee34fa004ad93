/**
 * Produce: appends one batch to each partition named. acks 1 and -1 answer once the batch is in the
 * page cache of this, the only replica, or on its disk where `flush.messages` asks for that; acks 0
 * answers nothing, and an error then closes the connection, as in Kafka.
 *
 * Versions 0 to 2 carry message sets of magic 0 and 1, which become one batch of magic 2 here;
 * later versions carry batches alone.
 */
import { produce as api } from '../apis/produce.js'
import { isInternal } from '../controller/internal-topics.js'
import { KafkaError, type KafkaErrorCode, SeglogError } from '../errors.js'
import type { RequestOf, ResponseInput } from '../protocol/schema.js'
import { parseBatchHeader } from '../records/batch.js'
import { isMessageSet, upConverted } from '../records/conversion.js'
import type { Partition } from '../replication/partition.js'
import type { TopicReplicas } from '../replication/replicas.js'
import type { RequestContext } from './context.js'
import { handler } from './handler.js'
import { badTimestamp, batchFault, trimmed } from './produce-rules.js'

type TopicData = RequestOf<typeof api>['topicData'][number]
type TopicResponse = ResponseInput<typeof api>['responses'][number]
type Outcome = ReturnType<typeof answer>

export const produce = handler(api, [0, 13], (request, context) => {
  let failed = false
  const syncs: Promise<void>[] = []
  const responses: TopicResponse[] = []
  for (const topic of distinctTopics(request.topicData)) {
    if (topic.partitionData.length === 0) continue
    const { name, topicId } = topic
    const byId = context.version >= 13
    const served = byId ? context.replicas.topicById(topicId) : context.replicas.topic(name)
    const unknown =
      byId && !served ? KafkaError.UNKNOWN_TOPIC_ID : KafkaError.UNKNOWN_TOPIC_OR_PARTITION
    const partitionResponses = topic.partitionData.map(({ index, records }) => {
      const outcome = append(request.acks, served, unknown, index, records, context, syncs)
      failed ||= outcome.errorCode !== KafkaError.NONE
      return outcome
    })
    responses.push({ name, topicId, partitionResponses })
  }
  if (request.acks !== 0) {
    return syncs.length === 0 ? { responses } : Promise.all(syncs).then(() => ({ responses }))
  }
  if (failed) throw new SeglogError('BAD_ARGUMENT', 'a produce with acks=0 failed')
  return undefined
})

/** As in Kafka, of a partition that is named twice the last one counts. */
function distinctTopics(topics: readonly TopicData[]): readonly TopicData[] {
  if (topics.length === 1 && topics[0]!.partitionData.length === 1) return topics
  const merged = new Map<string, Map<number, TopicData['partitionData'][number]>>()
  const heads = new Map<string, TopicData>()
  for (const topic of topics) {
    const key = `${topic.topicId} ${topic.name}`
    const partitions = merged.get(key) ?? new Map()
    for (const data of topic.partitionData) partitions.set(data.index, data)
    merged.set(key, partitions)
    heads.set(key, topic)
  }
  return [...heads].map(([key, topic]) => ({
    ...topic,
    partitionData: [...(merged.get(key)?.values() ?? [])],
  }))
}

function append(
  acks: number,
  served: TopicReplicas | undefined,
  unknown: number,
  index: number,
  records: Uint8Array | null,
  context: RequestContext,
  syncs: Promise<void>[],
): Outcome {
  const { version } = context
  const partition = served?.partitions[index]
  if (acks < -1 || acks > 1) return answer(index, KafkaError.INVALID_REQUIRED_ACKS)
  if (!served || !partition) return answer(index, unknown)
  if (isInternal(served.topic) && context.clientId !== ADMIN_CLIENT) {
    return answer(index, KafkaError.INVALID_TOPIC_EXCEPTION)
  }
  // An empty set is no fault in an old client.
  if (records?.length === 0 && version < 3) return answer(index, KafkaError.NONE)
  const sent = records ?? EMPTY
  const old = isMessageSet(sent)
  const whole = version < 3 && old ? convert(sent) : sent
  if (whole instanceof SeglogError) return answer(index, conversionFault(whole), whole.message)
  const fault = batchFault(whole, version, served)
  if (fault) {
    const start = fault.isLooked ? startOf(partition) : {}
    return { ...answer(index, fault.code, fault.text, fault.badRecord), ...start }
  }
  const batch = trimmed(whole)
  const nowMs = context.env.now()
  const outcome = partition.append(batch, nowMs)
  if (outcome.errorCode !== KafkaError.NONE) {
    const { errorMessage } = outcome
    const errorCode = forVersion(outcome.errorCode)
    const isTime = errorCode === KafkaError.INVALID_TIMESTAMP
    const badRecord = isTime ? badTimestamp(batch, served, nowMs) : outcome.badRecord
    // As in Kafka, the start is told where the log had a look at the records.
    const isLooked =
      errorCode !== KafkaError.CORRUPT_MESSAGE && errorCode !== KafkaError.MESSAGE_TOO_LARGE
    const start = isLooked ? startOf(partition) : {}
    return { ...answer(index, errorCode, errorMessage, badRecord), ...start }
  }
  const { baseOffset, flushed, repeatedMs } = outcome
  const success = { ...answer(index, KafkaError.NONE), baseOffset, ...startOf(partition) }
  if (served.config.get('message.timestamp.type') === 'LogAppendTime') {
    success.logAppendTimeMs = repeatedMs ?? parseBatchHeader(batch, 0).maxTimestamp
  } else if (repeatedMs !== undefined) {
    // As in Kafka, which tells the largest time that the batch had.
    success.logAppendTimeMs = parseBatchHeader(batch, 0).maxTimestamp
  }
  if (flushed !== undefined) {
    const failure = answer(index, KafkaError.KAFKA_STORAGE_ERROR, 'the log could not be synced')
    syncs.push(flushed.catch(() => void Object.assign(success, failure)))
  }
  return success
}

/** Kafka's own tools may write to the topics of the brokers. */
const ADMIN_CLIENT = '__admin_client'
const EMPTY = new Uint8Array(0)

function startOf({ log }: Partition) {
  return { logStartOffset: log.startOffset }
}

function convert(set: Uint8Array): Uint8Array | SeglogError {
  try {
    return upConverted(set)
  } catch (error) {
    if (error instanceof SeglogError) return error
    throw error
  }
}

/** Damage and what ends early are corrupt; what a right CRC does not excuse is invalid. */
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

/** Other magics than those of batches and messages are damage. */
function forVersion(errorCode: KafkaErrorCode): KafkaErrorCode {
  const isMagic = errorCode === KafkaError.UNSUPPORTED_FOR_MESSAGE_FORMAT
  return isMagic ? KafkaError.CORRUPT_MESSAGE : errorCode
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
