/**
 * ListPartitionReassignments: the reassignments that are under way (KIP-455); null topics for all.
 */
import { api, since, struct } from '../protocol/schema.js'
import { array, int16, int32, nullable, string } from '../protocol/types.js'

export const listPartitionReassignments = api({
  key: 46,
  name: 'ListPartitionReassignments',
  versions: [0, 0],
  flexible: 0,
  request: {
    timeoutMs: since(0, int32, 60000),
    topics: since(
      0,
      nullable(array(struct({ name: string, partitionIndexes: array(int32) }))),
      null,
    ),
  },
  response: {
    throttleTimeMs: int32,
    errorCode: int16,
    errorMessage: nullable(string),
    topics: array(
      struct({
        name: string,
        partitions: array(
          struct({
            partitionIndex: int32,
            replicas: array(int32),
            addingReplicas: array(int32),
            removingReplicas: array(int32),
          }),
        ),
      }),
    ),
  },
})
