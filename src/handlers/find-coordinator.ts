/**
 * FindCoordinator: this broker coordinates every group and transactional id. Share groups are not
 * served.
 */
import { findCoordinator as api } from '../apis/find-coordinator.js'
import { KafkaError } from '../errors.js'
import type { RequestContext } from './context.js'
import { handler } from './handler.js'

const GROUP = 0
const TRANSACTION = 1

export const findCoordinator = handler(api, [0, 6], (request, context) => {
  if (context.version < 4) {
    const { errorCode, errorMessage, ...node } = find(request.keyType, context)
    // Kafka says "NONE" where versions 1 to 3 succeed.
    const text = errorCode === KafkaError.NONE ? 'NONE' : errorMessage
    return { throttleTimeMs: 0, errorCode, errorMessage: text, ...node, coordinators: [] }
  }
  const coordinators = request.coordinatorKeys.map((key) => ({
    key,
    ...find(request.keyType, context),
  }))
  return {
    throttleTimeMs: 0,
    errorCode: 0,
    errorMessage: '',
    nodeId: 0,
    host: '',
    port: 0,
    coordinators,
  }
})

/** Every key gives this broker, the empty one too, as in Kafka. */
function find(keyType: number, { brokerId, endpoint }: RequestContext) {
  if (keyType !== GROUP && keyType !== TRANSACTION) {
    const errorMessage = 'Only groups and transactional ids have a coordinator here.'
    return { errorCode: KafkaError.INVALID_REQUEST, errorMessage, nodeId: -1, host: '', port: -1 }
  }
  return { errorCode: KafkaError.NONE, errorMessage: '', nodeId: brokerId, ...endpoint }
}
