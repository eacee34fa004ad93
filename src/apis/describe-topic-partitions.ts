/**
 * DescribeTopicPartitions: as Metadata for topics, page by page behind a cursor (KIP-966).
 */
import { api, since, struct } from '../protocol/schema.js'
import { array, boolean, int16, int32, nullable, string, uuid } from '../protocol/types.js'
import { OPERATIONS_UNASKED } from './operations.js'

export const describeTopicPartitions = api({
  key: 75,
  name: 'DescribeTopicPartitions',
  versions: [0, 0],
  flexible: 0,
  request: {
    topics: array(struct({ name: string })),
    responsePartitionLimit: since(0, int32, 2000),
    cursor: since(0, nullable(struct({ topicName: string, partitionIndex: int32 })), null),
  },
  response: {
    throttleTimeMs: int32,
    topics: array(
      struct({
        errorCode: int16,
        name: nullable(string),
        topicId: uuid,
        isInternal: since(0, boolean, false),
        partitions: array(
          struct({
            errorCode: int16,
            partitionIndex: int32,
            leaderId: int32,
            leaderEpoch: since(0, int32, -1),
            replicaNodes: array(int32),
            isrNodes: array(int32),
            eligibleLeaderReplicas: since(0, nullable(array(int32)), null),
            lastKnownElr: since(0, nullable(array(int32)), null),
            offlineReplicas: array(int32),
          }),
        ),
        topicAuthorizedOperations: since(0, int32, OPERATIONS_UNASKED),
      }),
    ),
    nextCursor: since(0, nullable(struct({ topicName: string, partitionIndex: int32 })), null),
  },
})
