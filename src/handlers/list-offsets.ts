/**
 * ListOffsets: the start and end of a log, and the first record at or after a timestamp, exact to
 * the record: the batch comes from the time index, the record in it from reading that batch.
 */
import { listOffsets as api } from '../apis/list-offsets.js'
import { KafkaError, type KafkaErrorCode, SeglogError } from '../errors.js'
import type { RequestOf, ResponseInput } from '../protocol/schema.js'
import { parseBatchHeader } from '../records/batch.js'
import { iterateRecords } from '../records/reader.js'
import type { Partition } from '../replication/partition.js'
import type { RequestContext } from './context.js'
import { handler } from './handler.js'

type PartitionRequest = RequestOf<typeof api>['topics'][number]['partitions'][number]
type PartitionResponse = ResponseInput<typeof api>['topics'][number]['partitions'][number]

/** Negative timestamps that stand for a place in the log, and the version that brought each. */
const Special = {
  LATEST: -1,
  EARLIEST: -2,
  MAX_TIMESTAMP: -3,
  EARLIEST_LOCAL: -4,
  LATEST_TIERED: -5,
  EARLIEST_PENDING_UPLOAD: -6,
}
const SPECIAL_SINCE = new Map([
  [Special.LATEST, 0],
  [Special.EARLIEST, 0],
  [Special.MAX_TIMESTAMP, 7],
  [Special.EARLIEST_LOCAL, 8],
  [Special.LATEST_TIERED, 9],
  [Special.EARLIEST_PENDING_UPLOAD, 11],
])

interface Found {
  offset: number
  timestamp: number
  leaderEpoch: number
}
const NOT_FOUND: Found = { offset: -1, timestamp: -1, leaderEpoch: -1 }

export const listOffsets = handler(api, [0, 11], async (request, context) => {
  const times = new Map<string, number>()
  for (const { name, partitions } of request.topics) {
    for (const { partitionIndex } of partitions) {
      const key = `${name}-${partitionIndex}`
      times.set(key, (times.get(key) ?? 0) + 1)
    }
  }
  const topics = []
  for (const { name, partitions } of request.topics) {
    const answers: PartitionResponse[] = []
    for (const wish of partitions) {
      const key = `${name}-${wish.partitionIndex}`
      const asked = times.get(key) ?? 0
      // One answer for all that ask the same.
      times.delete(key)
      if (asked === 0) continue
      if (asked > 1) {
        answers.push(answer(wish, KafkaError.INVALID_REQUEST))
        continue
      }
      const lookUp = () => {
        const partition = context.replicas.partition(name, wish.partitionIndex)
        return look(partition, wish, request.isolationLevel, context)
      }
      // A batch may have to be decompressed for a time: other clients take turns with that.
      const slow = wish.timestamp >= 0 || wish.timestamp === Special.MAX_TIMESTAMP
      answers.push(slow ? await context.turns.run(lookUp) : lookUp())
    }
    if (answers.length > 0) topics.push({ name, partitions: answers })
  }
  return { throttleTimeMs: 0, topics }
})

function look(
  partition: Partition | undefined,
  wish: PartitionRequest,
  isolationLevel: number,
  { version }: RequestContext,
): PartitionResponse {
  if (!partition) return answer(wish, KafkaError.UNKNOWN_TOPIC_OR_PARTITION)
  if (isolationLevel < 0 || isolationLevel > 1) {
    // Kafka knows no other code for it.
    return answer(wish, KafkaError.UNKNOWN_SERVER_ERROR)
  }
  if (wish.currentLeaderEpoch >= 0 && wish.currentLeaderEpoch !== partition.leaderEpoch) {
    const old = wish.currentLeaderEpoch < partition.leaderEpoch
    return answer(wish, old ? KafkaError.FENCED_LEADER_EPOCH : KafkaError.UNKNOWN_LEADER_EPOCH)
  }
  if (
    wish.timestamp < 0 &&
    version < (SPECIAL_SINCE.get(wish.timestamp) ?? Number.POSITIVE_INFINITY)
  ) {
    return answer(wish, KafkaError.UNSUPPORTED_VERSION)
  }
  try {
    return answer(wish, KafkaError.NONE, find(partition, wish.timestamp))
  } catch (error) {
    if (!(error instanceof SeglogError)) throw error
    const damaged = error.code === 'CORRUPT' || error.code === 'INVALID_RECORD'
    return answer(wish, damaged ? KafkaError.CORRUPT_MESSAGE : KafkaError.KAFKA_STORAGE_ERROR)
  }
}

function find(partition: Partition, timestamp: number): Found {
  const { log, leaderEpoch, highWatermark } = partition
  switch (timestamp) {
    case Special.LATEST:
      return { offset: highWatermark, timestamp: -1, leaderEpoch }
    case Special.EARLIEST:
    case Special.EARLIEST_LOCAL:
      return { offset: log.startOffset, timestamp: -1, leaderEpoch }
    case Special.LATEST_TIERED:
    case Special.EARLIEST_PENDING_UPLOAD:
      return NOT_FOUND
    case Special.MAX_TIMESTAMP:
      return log.maxTimestamp < 0 ? NOT_FOUND : findTimestamp(partition, log.maxTimestamp)
    default:
      return findTimestamp(partition, timestamp)
  }
}

function findTimestamp(
  partition: Partition,
  timestamp: number,
  from = partition.log.startOffset,
): Found {
  const { log, highWatermark } = partition
  const batch = log.batchForTimestamp(timestamp, from)?.bytes()
  if (!batch) return NOT_FOUND
  const { leaderEpoch, lastOffset } = parseBatchHeader(batch, 0)
  for (const record of iterateRecords(batch)) {
    if (record.timestamp < timestamp || record.offset < log.startOffset) continue
    if (record.offset >= highWatermark) return NOT_FOUND
    return { offset: record.offset, timestamp: record.timestamp, leaderEpoch }
  }
  // What fits in a batch may lie below the log's start, or have been compacted away.
  return from <= lastOffset ? findTimestamp(partition, timestamp, lastOffset + 1) : NOT_FOUND
}

function answer(
  { partitionIndex }: PartitionRequest,
  errorCode: KafkaErrorCode,
  found: Found = NOT_FOUND,
): PartitionResponse {
  const oldStyleOffsets = found.offset < 0 ? [] : [found.offset]
  return { partitionIndex, errorCode, oldStyleOffsets, ...found }
}
