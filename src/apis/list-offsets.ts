/**
 * ListOffsets: the offset of a timestamp in each partition, or of a special one: -1 the end, -2
 * the start, -3 the largest timestamp (KIP-734), -4 the earliest local one (KIP-405), -5 the last
 * tiered one (KIP-1005). Version 0 answers a list of segment starts instead.
 */
import { api, between, since, struct } from '../protocol/schema.js'
import { array, int8, int16, int32, int64, int64Clamped, string } from '../protocol/types.js'

export const listOffsets = api({
  key: 2,
  name: 'ListOffsets',
  versions: [0, 11],
  flexible: 6,
  request: {
    replicaId: int32,
    isolationLevel: since(2, int8),
    topics: array(
      struct({
        name: string,
        partitions: array(
          struct({
            partitionIndex: int32,
            currentLeaderEpoch: since(4, int32, -1),
            timestamp: int64Clamped,
            maxNumOffsets: between(0, 0, int32, 1),
          }),
        ),
      }),
    ),
    timeoutMs: since(10, int32),
  },
  response: {
    throttleTimeMs: since(2, int32),
    topics: array(
      struct({
        name: string,
        partitions: array(
          struct({
            partitionIndex: int32,
            errorCode: int16,
            oldStyleOffsets: between(0, 0, array(int64)),
            timestamp: since(1, int64Clamped, -1),
            offset: since(1, int64, -1),
            leaderEpoch: since(4, int32, -1),
          }),
        ),
      }),
    ),
  },
})
