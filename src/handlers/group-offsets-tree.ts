/**
 * OffsetCommit 0 and OffsetFetch 0: offsets in the coordination tree, as in Kafka 0.8. Members and
 * generations are nothing to them.
 */
import type { offsetCommit as commitApi } from '../apis/offset-commit.js'
import type { offsetFetch as fetchApi } from '../apis/offset-fetch.js'
import { KafkaError, type KafkaErrorCode } from '../errors.js'
import type { RequestOf, ResponseInput } from '../protocol/schema.js'
import type { RequestContext } from './context.js'

type CommitTopic = RequestOf<typeof commitApi>['topics'][number]
type Offset = CommitTopic['partitions'][number]
type CommitAnswer = ResponseInput<typeof commitApi>
type FetchAnswer = ResponseInput<typeof fetchApi>

export async function commitToTree(
  { groupId, topics }: RequestOf<typeof commitApi>,
  context: RequestContext,
): Promise<CommitAnswer> {
  const answers: CommitAnswer['topics'][number][] = []
  for (const { name, partitions } of topics) {
    const answered = []
    for (const offset of partitions) {
      const errorCode = await commit(groupId, name, offset, context)
      answered.push({ partitionIndex: offset.partitionIndex, errorCode })
    }
    answers.push({ name, partitions: answered })
  }
  return { throttleTimeMs: 0, topics: answers }
}

async function commit(
  groupId: string,
  topic: string,
  { partitionIndex, committedOffset, committedMetadata }: Offset,
  { replicas, config, treeOffsets }: RequestContext,
): Promise<KafkaErrorCode> {
  if (!replicas.partition(topic, partitionIndex)) return KafkaError.UNKNOWN_TOPIC_OR_PARTITION
  const metadataMax = config.get('offset.metadata.max.bytes')
  if ((committedMetadata?.length ?? 0) > metadataMax) return KafkaError.OFFSET_METADATA_TOO_LARGE
  if (committedOffset >= Number.MAX_SAFE_INTEGER) return KafkaError.OFFSET_OUT_OF_RANGE
  return treeOffsets.commit(groupId, topic, partitionIndex, committedOffset)
}

/** Where nothing was committed the partition is unknown: version 0 has no other word for it. */
export async function fetchFromTree(
  { groupId, topics }: RequestOf<typeof fetchApi>,
  { replicas, treeOffsets }: RequestContext,
): Promise<FetchAnswer> {
  const answers: NonNullable<FetchAnswer['topics']>[number][] = []
  for (const { name, partitionIndexes } of topics ?? []) {
    const partitions = []
    for (const partitionIndex of partitionIndexes) {
      const exists = replicas.partition(name, partitionIndex) !== undefined
      const found = exists ? await treeOffsets.fetch(groupId, name, partitionIndex) : undefined
      partitions.push({
        partitionIndex,
        committedOffset: found ?? -1,
        metadata: '',
        errorCode: found === undefined ? KafkaError.UNKNOWN_TOPIC_OR_PARTITION : KafkaError.NONE,
      })
    }
    answers.push({ name, partitions })
  }
  return { throttleTimeMs: 0, topics: answers, groups: [] }
}
