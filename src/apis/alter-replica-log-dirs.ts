/**
 * AlterReplicaLogDirs: moves partitions to other directories of the same broker (KIP-113).
 */
import { api, struct } from '../protocol/schema.js'
import { array, int16, int32, string } from '../protocol/types.js'

export const alterReplicaLogDirs = api({
  key: 34,
  name: 'AlterReplicaLogDirs',
  versions: [0, 2],
  flexible: 2,
  request: {
    dirs: array(
      struct({
        path: string,
        topics: array(struct({ name: string, partitions: array(int32) })),
      }),
    ),
  },
  response: {
    throttleTimeMs: int32,
    results: array(
      struct({
        topicName: string,
        partitions: array(struct({ partitionIndex: int32, errorCode: int16 })),
      }),
    ),
  },
})
