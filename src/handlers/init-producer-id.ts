/**
 * InitProducerId: an id for an idempotent producer, or the next epoch for a transactional one
 * (KIP-98, KIP-360). Transactions themselves are not served.
 */
import { initProducerId as api } from '../apis/init-producer-id.js'
import { KafkaError, type KafkaErrorCode, SeglogError } from '../errors.js'
import type { RequestOf } from '../protocol/schema.js'
import type { RequestContext } from './context.js'
import { handler } from './handler.js'

type Request = RequestOf<typeof api>

export const initProducerId = handler(api, [0, 5], async (request, context) => {
  try {
    const identity = await begin(request, context)
    if (typeof identity === 'number') return refusal(identity, context.version)
    return { throttleTimeMs: 0, errorCode: KafkaError.NONE, ...identity }
  } catch (error) {
    // A full disk, where no block of ids can be taken.
    if (!(error instanceof SeglogError)) throw error
    return refusal(KafkaError.KAFKA_STORAGE_ERROR, context.version)
  }
})

async function begin(request: Request, context: RequestContext) {
  const { transactionalId, transactionTimeoutMs, producerId, producerEpoch } = request
  if (transactionalId === '') return KafkaError.INVALID_REQUEST
  // Id and epoch go together (KIP-360).
  if (producerId === -1 ? producerEpoch !== -1 : producerEpoch === -1) {
    return KafkaError.INVALID_REQUEST
  }
  if (transactionalId === null) {
    // A producer without transactions gets a new id, whatever it had.
    return { producerId: await context.producerIds.next(), producerEpoch: 0 }
  }
  const timeoutMax = context.config.get('transaction.max.timeout.ms')
  if (transactionTimeoutMs <= 0 || transactionTimeoutMs > timeoutMax) {
    return KafkaError.INVALID_TRANSACTION_TIMEOUT
  }
  const claimed = producerId === -1 ? undefined : { producerId, producerEpoch }
  return context.transactionalIds.begin(transactionalId, claimed)
}

function refusal(errorCode: KafkaErrorCode, version: number) {
  // Its own code came with version 4 (KIP-588).
  const fenced = errorCode === KafkaError.PRODUCER_FENCED && version < 4
  return {
    throttleTimeMs: 0,
    errorCode: fenced ? KafkaError.INVALID_PRODUCER_EPOCH : errorCode,
    producerId: -1,
    producerEpoch: -1,
  }
}
