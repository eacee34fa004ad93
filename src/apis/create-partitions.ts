/**
 * CreatePartitions: raises the count of partitions of topics (KIP-195).
 */
import { api, since, struct } from '../protocol/schema.js'
import { array, boolean, int16, int32, nullable, string } from '../protocol/types.js'

export const createPartitions = api({
  key: 37,
  name: 'CreatePartitions',
  versions: [0, 3],
  flexible: 2,
  request: {
    topics: array(
      struct({
        name: string,
        count: int32,
        assignments: nullable(array(struct({ brokerIds: array(int32) }))),
      }),
    ),
    timeoutMs: int32,
    validateOnly: boolean,
  },
  response: {
    throttleTimeMs: int32,
    results: array(
      struct({ name: string, errorCode: int16, errorMessage: since(0, nullable(string), null) }),
    ),
  },
})
