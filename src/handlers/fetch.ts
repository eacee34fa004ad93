/**
 * Fetch: slices of the log, sent from the file without passing through here, except to clients of
 * before version 4, for whom batches become messages of magic 0 or 1. A request that finds
 * less than minBytes waits until enough was appended or maxWaitMs is over; an error in any
 * partition answers at once.
 *
 * Sessions (KIP-227) are not kept: every answer has session id 0, so that clients send full
 * requests, and a request that names a session is told that it is not known.
 */
import { fetch as api } from '../apis/fetch.js'
import { KafkaError, SeglogError } from '../errors.js'
import type { RequestOf, ResponseInput } from '../protocol/schema.js'
import { downConverted } from '../records/conversion.js'
import type { OldMagic } from '../records/message-set-format.js'
import type { Partition, Watcher } from '../replication/partition.js'
import type { RequestContext } from './context.js'
import { handler } from './handler.js'

type Request = RequestOf<typeof api>
type Response = ResponseInput<typeof api>
type TopicResponse = Response['responses'][number]
type TopicRequest = Request['topics'][number]
type PartitionRequest = TopicRequest['partitions'][number]
type PartitionResponse = TopicResponse['partitions'][number]

/** What one look at the logs gave. */
interface Look {
  responses: TopicResponse[]
  /** Bytes to send, and whether there is an error to report now. */
  sizeBytes: number
  failed: boolean
}

export const fetch = handler(api, [0, 18], (request, context) => {
  if (request.sessionId !== 0) return failure(KafkaError.FETCH_SESSION_ID_NOT_FOUND)
  const first = look(request, context)
  const enough = first.failed || first.sizeBytes >= request.minBytes
  if (enough || request.maxWaitMs <= 0 || request.topics.length === 0) return answer(first)
  return wait(request, context, first.sizeBytes)
})

function wait(request: Request, context: RequestContext, presentBytes: number) {
  return new Promise<Response | undefined>((resolve, reject) => {
    const partitions = wantedPartitions(request, context)
    let sizeBytes = presentBytes
    const finish = () => {
      deadline.cancel()
      unsubscribe()
      for (const partition of partitions) partition.unwatch(watcher)
    }
    const complete = () => {
      finish()
      try {
        resolve(answer(look(request, context, true)))
      } catch (error) {
        reject(error)
      }
    }
    const watcher: Watcher = {
      appended(appendedBytes) {
        sizeBytes += appendedBytes
        if (sizeBytes >= request.minBytes) complete()
      },
      gone: complete,
    }
    const deadline = context.deadlines.after(request.maxWaitMs, complete)
    const unsubscribe = context.onClose(() => {
      finish()
      resolve(undefined)
    })
    for (const partition of partitions) partition.watch(watcher)
  })
}

function* partitionsOf(request: Request, context: RequestContext) {
  for (const topic of request.topics) {
    const served = servedTopic(topic, context)
    for (const wish of topic.partitions) yield served?.partitions[wish.partition]
  }
}

function wantedPartitions(request: Request, context: RequestContext): Set<Partition> {
  const wanted = new Set<Partition>()
  for (const partition of partitionsOf(request, context)) if (partition) wanted.add(partition)
  return wanted
}

function servedTopic(topic: TopicRequest, { version, replicas }: RequestContext) {
  return version >= 13 ? replicas.topicById(topic.topicId) : replicas.topic(topic.topic)
}

/** `waited`: whether the request was here before, when all of its topics were. */
function look(request: Request, context: RequestContext, waited = false): Look {
  const result: Look = { responses: [], sizeBytes: 0, failed: false }
  let leftBytes = Math.min(request.maxBytes, context.config.get('fetch.max.bytes'))
  if (context.version < 4) leftBytes = Math.min(leftBytes, CONVERTED_REQUEST_BYTES_MAX)
  for (const topic of request.topics) {
    const served = servedTopic(topic, context)
    // Kafka says so of an id that it has never heard of, not of a topic that went meanwhile.
    const unknown =
      context.version >= 13 && !served && !waited
        ? KafkaError.UNKNOWN_TOPIC_ID
        : KafkaError.UNKNOWN_TOPIC_OR_PARTITION
    const partitions = topic.partitions.map((wish) => {
      const maxBytes = Math.min(leftBytes, wish.partitionMaxBytes)
      const first = result.sizeBytes === 0
      const partition = served?.partitions[wish.partition]
      const response = partition
        ? readPartition(partition, wish, maxBytes, first, context.version)
        : partitionFailure(wish.partition, unknown)
      const sizeBytes = response.records ? sizeOf(response.records) : 0
      leftBytes = Math.max(0, leftBytes - sizeBytes)
      result.sizeBytes += sizeBytes
      result.failed ||= response.errorCode !== KafkaError.NONE
      return response
    })
    result.responses.push({ topic: topic.topic, topicId: topic.topicId, partitions })
  }
  return result
}

/**
 * Converted at most for one partition, unless its first batch is larger, and for one request: it
 * takes this thread.
 */
const CONVERTED_BYTES_MAX = 1024 * 1024
const CONVERTED_REQUEST_BYTES_MAX = 8 * 1024 * 1024

/**
 * Messages for a client of versions 0 to 3, of which the last may be cut off by the limit. Where
 * that is the first one too, versions before 3 get the part, which tells a client to ask for more;
 * from 3 on the first partition gets the whole message, and others nothing.
 */
function convertedRecords(
  partition: Partition,
  wish: PartitionRequest,
  limitBytes: number,
  first: boolean,
  version: number,
): Uint8Array {
  const magic: OldMagic = version < 2 ? 0 : 1
  const maxBytes = Math.min(limitBytes, CONVERTED_BYTES_MAX)
  for (let offset = wish.fetchOffset; ; ) {
    const slice = partition.read(offset, maxBytes)
    if (!slice) return EMPTY
    const found = downConverted(slice.bytes(), { magic, fromOffset: offset, maxBytes })
    if (found.bytes.length > 0) {
      if (limitBytes >= found.firstBytes) return found.bytes.subarray(0, limitBytes)
      if (version >= 3) return first ? found.bytes.subarray(0, found.firstBytes) : EMPTY
      // Others have used up what this request may take: no reason to ask for more.
      return limitBytes < wish.partitionMaxBytes ? EMPTY : found.bytes.subarray(0, limitBytes)
    }
    // Nothing but control batches, or what compaction has emptied.
    if (found.nextOffset <= offset) return EMPTY
    offset = found.nextOffset
  }
}

function sizeOf(records: NonNullable<PartitionResponse['records']>): number {
  return 'sizeBytes' in records ? records.sizeBytes : records.length
}

/** The first batch comes whole even above the limit; only the first partition makes use of that. */
function storedRecords(
  partition: Partition,
  wish: PartitionRequest,
  maxBytes: number,
  first: boolean,
) {
  const slice = partition.read(wish.fetchOffset, maxBytes)
  return slice && (first || slice.sizeBytes <= maxBytes) ? slice : undefined
}

function readPartition(
  partition: Partition,
  wish: PartitionRequest,
  maxBytes: number,
  first: boolean,
  version: number,
): PartitionResponse {
  const fault = epochFault(partition, wish)
  if (fault !== KafkaError.NONE) return partitionFailure(wish.partition, fault)
  try {
    const records =
      version < 4
        ? convertedRecords(partition, wish, Math.max(0, maxBytes), first, version)
        : (storedRecords(partition, wish, Math.max(0, maxBytes), first) ?? EMPTY)
    return {
      partitionIndex: wish.partition,
      errorCode: KafkaError.NONE,
      highWatermark: partition.highWatermark,
      lastStableOffset: partition.highWatermark,
      logStartOffset: partition.log.startOffset,
      abortedTransactions: null,
      preferredReadReplica: -1,
      records,
    }
  } catch (error) {
    return partitionFailure(wish.partition, readFault(error))
  }
}

const EMPTY = new Uint8Array(0)

function epochFault(partition: Partition, wish: PartitionRequest) {
  if (wish.currentLeaderEpoch < 0) return KafkaError.NONE
  if (wish.currentLeaderEpoch < partition.leaderEpoch) return KafkaError.FENCED_LEADER_EPOCH
  if (wish.currentLeaderEpoch > partition.leaderEpoch) return KafkaError.UNKNOWN_LEADER_EPOCH
  return KafkaError.NONE
}

function readFault(error: unknown) {
  if (!(error instanceof SeglogError)) throw error
  if (error.code === 'OFFSET_OUT_OF_RANGE') return KafkaError.OFFSET_OUT_OF_RANGE
  if (error.code === 'CORRUPT' || error.code === 'INVALID_RECORD') return KafkaError.CORRUPT_MESSAGE
  if (error.code === 'UNSUPPORTED_COMPRESSION') return KafkaError.UNSUPPORTED_COMPRESSION_TYPE
  return KafkaError.KAFKA_STORAGE_ERROR
}

function partitionFailure(partitionIndex: number, errorCode: number): PartitionResponse {
  return {
    partitionIndex,
    errorCode,
    highWatermark: -1,
    lastStableOffset: -1,
    logStartOffset: -1,
    abortedTransactions: null,
    preferredReadReplica: -1,
    records: EMPTY,
  }
}

function answer({ responses }: Look): Response {
  return { throttleTimeMs: 0, errorCode: KafkaError.NONE, sessionId: 0, responses }
}

function failure(errorCode: number): Response {
  return { throttleTimeMs: 0, errorCode, sessionId: 0, responses: [] }
}
