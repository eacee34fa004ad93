/**
 * ElectLeaders: asks for the preferred leader (0) or an unclean election (1) of partitions; null
 * for all (KIP-460).
 */
import { api, since, struct } from '../protocol/schema.js'
import { array, int8, int16, int32, nullable, string } from '../protocol/types.js'

export const electLeaders = api({
  key: 43,
  name: 'ElectLeaders',
  versions: [0, 2],
  flexible: 2,
  request: {
    electionType: since(1, int8),
    topicPartitions: nullable(array(struct({ topic: string, partitions: array(int32) }))),
    timeoutMs: since(0, int32, 60000),
  },
  response: {
    throttleTimeMs: int32,
    errorCode: since(1, int16),
    replicaElectionResults: array(
      struct({
        topic: string,
        partitionResult: array(
          struct({ partitionId: int32, errorCode: int16, errorMessage: nullable(string) }),
        ),
      }),
    ),
  },
})
