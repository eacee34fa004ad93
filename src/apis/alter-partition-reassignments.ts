/**
 * AlterPartitionReassignments: moves partitions to other brokers, or ends such a move (KIP-455).
 */
import { api, since, struct } from '../protocol/schema.js'
import { array, boolean, int16, int32, nullable, string } from '../protocol/types.js'

export const alterPartitionReassignments = api({
  key: 45,
  name: 'AlterPartitionReassignments',
  versions: [0, 1],
  flexible: 0,
  request: {
    timeoutMs: since(0, int32, 60_000),
    allowReplicationFactorChange: since(1, boolean, true),
    topics: array(
      struct({
        name: string,
        partitions: array(
          struct({ partitionIndex: int32, replicas: since(0, nullable(array(int32)), null) }),
        ),
      }),
    ),
  },
  response: {
    throttleTimeMs: int32,
    allowReplicationFactorChange: since(1, boolean, true),
    errorCode: int16,
    errorMessage: nullable(string),
    responses: array(
      struct({
        name: string,
        partitions: array(
          struct({ partitionIndex: int32, errorCode: int16, errorMessage: nullable(string) }),
        ),
      }),
    ),
  },
})
