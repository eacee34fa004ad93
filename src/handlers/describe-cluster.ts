/** DescribeCluster: this broker, which is the controller too (KIP-700). */
import { describeCluster as api } from '../apis/describe-cluster.js'
import { KafkaError } from '../errors.js'
import { handler } from './handler.js'
import { CLUSTER_OPERATIONS, OPERATIONS_NOT_ASKED } from './operations.js'

const BROKERS = 1
const CONTROLLERS = 2

export const describeCluster = handler(api, [0, 2], (request, context) => {
  const { brokerId, clusterId, endpoint } = context
  const { endpointType } = request
  const known = endpointType === BROKERS
  const [errorCode, errorMessage] = outcomeFor(endpointType)
  return {
    throttleTimeMs: 0,
    errorCode,
    errorMessage,
    endpointType: BROKERS,
    clusterId: known ? clusterId : '',
    controllerId: known ? brokerId : -1,
    brokers: known ? [{ brokerId, ...endpoint, rack: null, isFenced: false }] : [],
    clusterAuthorizedOperations:
      known && request.includeClusterAuthorizedOperations
        ? CLUSTER_OPERATIONS
        : OPERATIONS_NOT_ASKED,
  }
})

function outcomeFor(endpointType: number): [code: number, text: string | null] {
  if (endpointType === BROKERS) return [KafkaError.NONE, null]
  if (endpointType === CONTROLLERS) {
    const text = 'The request came to an endpoint of type BROKER, and asks for type CONTROLLER.'
    return [KafkaError.MISMATCHED_ENDPOINT_TYPE, text]
  }
  return [KafkaError.UNSUPPORTED_ENDPOINT_TYPE, `Unsupported endpoint type ${endpointType}`]
}
