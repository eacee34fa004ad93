/**
 * DeleteRecords: moves the start of logs up (KIP-107). Records below are not served any more at
 * once; the space of whole segments comes back later.
 */
import { deleteRecords as api } from '../apis/delete-records.js'
import { isInternal } from '../controller/internal-topics.js'
import { KafkaError, type KafkaErrorCode, SeglogError } from '../errors.js'
import type { RequestOf } from '../protocol/schema.js'
import type { TopicReplicas } from '../replication/replicas.js'
import { handler } from './handler.js'

type Wish = RequestOf<typeof api>['topics'][number]['partitions'][number]

/** Stands for everything below the high watermark. */
const HIGH_WATERMARK = -1

export const deleteRecords = handler(api, [0, 2], async ({ topics }, { replicas }) => {
  const answers = [...wishesOf(topics)].map(([name, wishes]) => ({
    name,
    partitions: [...wishes.values()].map((wish) => trim(wish, replicas.topic(name))),
  }))
  // What was said to be gone stays gone after a crash.
  await replicas.checkpoint()
  return { throttleTimeMs: 0, topics: answers }
})

/** As in Kafka, of a partition that is named twice the last offset counts. */
function wishesOf(topics: RequestOf<typeof api>['topics']): Map<string, Map<number, Wish>> {
  const wishes = new Map<string, Map<number, Wish>>()
  for (const { name, partitions } of topics) {
    if (partitions.length === 0) continue
    const ofTopic = wishes.get(name) ?? new Map<number, Wish>()
    wishes.set(name, ofTopic)
    for (const wish of partitions) ofTopic.set(wish.partitionIndex, wish)
  }
  return wishes
}

function trim(wish: Wish, served: TopicReplicas | undefined) {
  const { partitionIndex, offset } = wish
  const refused = (errorCode: KafkaErrorCode) => ({ partitionIndex, lowWatermark: -1, errorCode })
  const partition = served?.partitions[partitionIndex]
  if (!served || !partition) return refused(KafkaError.UNKNOWN_TOPIC_OR_PARTITION)
  if (isInternal(served.topic)) return refused(KafkaError.INVALID_TOPIC_EXCEPTION)
  // Of a log that is compacted alone, nothing goes by its age or place.
  if (!served.config.get('cleanup.policy').includes('delete')) {
    return refused(KafkaError.POLICY_VIOLATION)
  }
  const { log, highWatermark } = partition
  const target = offset === HIGH_WATERMARK ? highWatermark : offset
  if (target < 0 || target > highWatermark) return refused(KafkaError.OFFSET_OUT_OF_RANGE)
  try {
    log.deleteBefore(target)
  } catch (error) {
    if (!(error instanceof SeglogError)) throw error
    return refused(KafkaError.KAFKA_STORAGE_ERROR)
  }
  return { partitionIndex, lowWatermark: log.startOffset, errorCode: KafkaError.NONE }
}
