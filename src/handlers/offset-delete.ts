/** OffsetDelete: forgets committed offsets of partitions that the group does not read (KIP-496). */
import { offsetDelete as api } from '../apis/offset-delete.js'
import { KafkaError } from '../errors.js'
import { handler } from './handler.js'

export const offsetDelete = handler(api, [0, 0], async (request, { groups, replicas }) => {
  const asked = request.topics.flatMap(({ name, partitions }) =>
    partitions.map(({ partitionIndex }) => ({ topic: name, partition: partitionIndex })),
  )
  const exists = asked.filter(({ topic, partition }) => replicas.partition(topic, partition))
  const answer = await groups.deleteOffsets(request.groupId, exists)
  if (answer.errorCode !== KafkaError.NONE) {
    return { errorCode: answer.errorCode, throttleTimeMs: 0, topics: [] }
  }
  const errorOf = (topic: string, partition: number) => {
    if (!replicas.partition(topic, partition)) return KafkaError.UNKNOWN_TOPIC_OR_PARTITION
    return answer.errorOf(topic)
  }
  return {
    errorCode: KafkaError.NONE,
    throttleTimeMs: 0,
    topics: request.topics
      .filter(({ partitions }) => partitions.length > 0)
      .map(({ name, partitions }) => ({
        name,
        partitions: partitions.map(({ partitionIndex }) => ({
          partitionIndex,
          errorCode: errorOf(name, partitionIndex),
        })),
      })),
  }
})
