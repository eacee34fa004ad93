/**
 * OffsetCommit: a group's offsets. Topics go by name up to version 9, by id from 10. Retention per
 * commit exists in versions 2 to 4 alone, a timestamp per partition in 1 alone.
 */
import { api, between, since, struct } from '../protocol/schema.js'
import { array, int16, int32, int64Clamped, nullable, string, uuid } from '../protocol/types.js'

export const offsetCommit = api({
  key: 8,
  name: 'OffsetCommit',
  versions: [0, 10],
  flexible: 8,
  request: {
    groupId: string,
    generationIdOrMemberEpoch: since(1, int32, -1),
    memberId: since(1, string),
    groupInstanceId: since(7, nullable(string), null),
    retentionTimeMs: between(2, 4, int64Clamped, -1),
    topics: array(
      struct({
        name: between(0, 9, string),
        topicId: since(10, uuid),
        partitions: array(
          struct({
            partitionIndex: int32,
            committedOffset: int64Clamped,
            committedLeaderEpoch: since(6, int32, -1),
            commitTimestamp: between(1, 1, int64Clamped, -1),
            committedMetadata: nullable(string),
          }),
        ),
      }),
    ),
  },
  response: {
    throttleTimeMs: since(3, int32),
    topics: array(
      struct({
        name: between(0, 9, string),
        topicId: since(10, uuid),
        partitions: array(struct({ partitionIndex: int32, errorCode: int16 })),
      }),
    ),
  },
})
