/**
 * OffsetForLeaderEpoch: where a leader epoch ended, for followers and consumers that truncate
 * (KIP-101, KIP-279, KIP-320).
 */
import { api, since, struct } from '../protocol/schema.js'
import { array, int16, int32, int64, string } from '../protocol/types.js'

export const offsetForLeaderEpoch = api({
  key: 23,
  name: 'OffsetForLeaderEpoch',
  versions: [0, 4],
  flexible: 4,
  request: {
    replicaId: since(3, int32, -2),
    topics: array(
      struct({
        topic: string,
        partitions: array(
          struct({ partition: int32, currentLeaderEpoch: since(2, int32, -1), leaderEpoch: int32 }),
        ),
      }),
    ),
  },
  response: {
    throttleTimeMs: since(2, int32),
    topics: array(
      struct({
        topic: string,
        partitions: array(
          struct({
            errorCode: int16,
            partition: int32,
            leaderEpoch: since(1, int32, -1),
            endOffset: since(0, int64, -1),
          }),
        ),
      }),
    ),
  },
})
