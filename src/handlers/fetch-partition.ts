/**
 * One partition of a fetch: a slice of its log, sent from the file without passing through here,
 * except to clients of before version 4, for whom batches become messages of magic 0 or 1.
 */
import type { fetch as api } from '../apis/fetch.js'
import { KafkaError, SeglogError } from '../errors.js'
import type { RequestOf, ResponseInput } from '../protocol/schema.js'
import { downConverted } from '../records/conversion.js'
import type { OldMagic } from '../records/message-set-format.js'
import type { Partition } from '../replication/partition.js'

type PartitionRequest = RequestOf<typeof api>['topics'][number]['partitions'][number]
type TopicResponse = ResponseInput<typeof api>['responses'][number]
export type PartitionResponse = TopicResponse['partitions'][number]

/**
 * Converted at most for one partition, unless its first batch is larger, and for one request: it
 * takes this thread.
 */
const CONVERTED_BYTES_MAX = 1024 * 1024
export const CONVERTED_REQUEST_BYTES_MAX = 8 * 1024 * 1024

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

export function sizeOf(records: NonNullable<PartitionResponse['records']>): number {
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

/** Of a request, what holds for each of its partitions. */
export interface Reading {
  version: number
  isolationLevel: number
  /** Of a broker that follows; -1 for a client. */
  replicaId: number
}

/**
 * What a fetch of one partition is answered: at most `maxBytes`, but where it is the first with
 * records, one batch at least.
 */
export function readPartition(
  partition: Partition,
  wish: PartitionRequest,
  { version, isolationLevel, replicaId }: Reading,
  maxBytes: number,
  first: boolean,
): PartitionResponse {
  const fault = replicaId >= 0 ? strangerFault(version) : epochFault(partition, wish)
  if (fault !== KafkaError.NONE) return partitionFailure(wish.partition, fault)
  try {
    const records =
      version < 4
        ? convertedRecords(partition, wish, Math.max(0, maxBytes), first, version)
        : (storedRecords(partition, wish, Math.max(0, maxBytes), first) ?? EMPTY)
    // Kafka has no other word for a limit below 0, once there is something to read.
    if (maxBytes < 0 && wish.fetchOffset < partition.highWatermark) {
      return partitionFailure(wish.partition, KafkaError.UNKNOWN_SERVER_ERROR)
    }
    return {
      partitionIndex: wish.partition,
      errorCode: KafkaError.NONE,
      highWatermark: partition.highWatermark,
      lastStableOffset: partition.highWatermark,
      logStartOffset: partition.log.startOffset,
      abortedTransactions: isolationLevel === READ_COMMITTED ? [] : null,
      preferredReadReplica: -1,
      records,
    }
  } catch (error) {
    return partitionFailure(wish.partition, readFault(error))
  }
}

const READ_COMMITTED = 1

/** Nobody else has replicas. */
function strangerFault(version: number) {
  return version < 9 ? KafkaError.NOT_LEADER_OR_FOLLOWER : KafkaError.UNKNOWN_LEADER_EPOCH
}

const EMPTY = new Uint8Array(0)

function epochFault(partition: Partition, wish: PartitionRequest) {
  // What comes of a later epoch than the last one is not of this log.
  if (wish.lastFetchedEpoch > partition.leaderEpoch) return KafkaError.OFFSET_OUT_OF_RANGE
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

export function partitionFailure(
  partitionIndex: number,
  errorCode: number,
  abortedTransactions: PartitionResponse['abortedTransactions'] = null,
): PartitionResponse {
  return {
    partitionIndex,
    errorCode,
    highWatermark: -1,
    lastStableOffset: -1,
    logStartOffset: -1,
    abortedTransactions,
    preferredReadReplica: -1,
    records: EMPTY,
  }
}
