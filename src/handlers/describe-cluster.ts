/** DescribeCluster: this broker, which is the controller too (KIP-700). */
import { describeCluster as api } from '../apis/describe-cluster.js'
import { KafkaError } from '../errors.js'
import { handler } from './handler.js'
import { CLUSTER_OPERATIONS, OPERATIONS_NOT_ASKED } from './operations.js'

const BROKERS = 1

export const describeCluster = handler(api, [0, 2], (request, context) => {
  const { brokerId, clusterId, endpoint } = context
  const known = request.endpointType === BROKERS
  return {
    throttleTimeMs: 0,
    errorCode: known ? KafkaError.NONE : KafkaError.UNSUPPORTED_ENDPOINT_TYPE,
    errorMessage: known ? null : 'Only the endpoints of brokers are known.',
    endpointType: BROKERS,
    clusterId: known ? clusterId : '',
    controllerId: known ? brokerId : -1,
    brokers: known ? [{ brokerId, ...endpoint, rack: null, isFenced: false }] : [],
    clusterAuthorizedOperations: request.includeClusterAuthorizedOperations
      ? CLUSTER_OPERATIONS
      : OPERATIONS_NOT_ASKED,
  }
})
