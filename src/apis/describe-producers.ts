/**
 * DescribeProducers: the idempotent and transactional producers that a partition knows (KIP-664).
 */
import { api, since, struct } from '../protocol/schema.js'
import { array, int16, int32, int64, int64Clamped, nullable, string } from '../protocol/types.js'

export const describeProducers = api({
  key: 61,
  name: 'DescribeProducers',
  versions: [0, 0],
  flexible: 0,
  request: {
    topics: array(struct({ name: string, partitionIndexes: array(int32) })),
  },
  response: {
    throttleTimeMs: int32,
    topics: array(
      struct({
        name: string,
        partitions: array(
          struct({
            partitionIndex: int32,
            errorCode: int16,
            errorMessage: since(0, nullable(string), null),
            activeProducers: array(
              struct({
                producerId: int64,
                producerEpoch: int32,
                lastSequence: since(0, int32, -1),
                lastTimestamp: since(0, int64Clamped, -1),
                coordinatorEpoch: int32,
                currentTxnStartOffset: since(0, int64, -1),
              }),
            ),
          }),
        ),
      }),
    ),
  },
})
