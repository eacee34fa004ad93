/**
 * DescribeCluster: brokers, controller and cluster id without topics (KIP-700).
 */
import { api, since, struct } from '../protocol/schema.js'
import { array, boolean, int8, int16, int32, nullable, string } from '../protocol/types.js'
import { OPERATIONS_UNASKED } from './operations.js'

export const describeCluster = api({
  key: 60,
  name: 'DescribeCluster',
  versions: [0, 2],
  flexible: 0,
  request: {
    includeClusterAuthorizedOperations: boolean,
    endpointType: since(1, int8, 1),
    includeFencedBrokers: since(2, boolean),
  },
  response: {
    throttleTimeMs: int32,
    errorCode: int16,
    errorMessage: since(0, nullable(string), null),
    endpointType: since(1, int8, 1),
    clusterId: string,
    controllerId: since(0, int32, -1),
    brokers: array(
      struct({
        brokerId: int32,
        host: string,
        port: int32,
        rack: since(0, nullable(string), null),
        isFenced: since(2, boolean),
      }),
    ),
    clusterAuthorizedOperations: since(0, int32, OPERATIONS_UNASKED),
  },
})
