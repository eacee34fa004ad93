/**
 * InitProducerId: an id for an idempotent producer (KIP-98). Transactions are not served: a
 * transactional id is refused with an error that the producer does not retry.
 */
import { initProducerId as api } from '../apis/init-producer-id.js'
import { KafkaError, SeglogError } from '../errors.js'
import { handler } from './handler.js'

export const initProducerId = handler(api, [0, 5], async (request, { producerIds }) => {
  const refused = (errorCode: number) => ({
    throttleTimeMs: 0,
    errorCode,
    producerId: -1,
    producerEpoch: -1,
  })
  if (request.transactionalId === '') return refused(KafkaError.INVALID_REQUEST)
  if (request.transactionalId !== null) {
    return refused(KafkaError.TRANSACTIONAL_ID_AUTHORIZATION_FAILED)
  }
  // Id and epoch go together (KIP-360). A producer without transactions gets a new id, whatever it
  // had.
  if (request.producerId === -1 ? request.producerEpoch !== -1 : request.producerEpoch === -1) {
    return refused(KafkaError.INVALID_REQUEST)
  }
  try {
    const producerId = await producerIds.next()
    return { throttleTimeMs: 0, errorCode: KafkaError.NONE, producerId, producerEpoch: 0 }
  } catch (error) {
    // A full disk, where no block of ids can be taken.
    if (!(error instanceof SeglogError)) throw error
    return refused(KafkaError.KAFKA_STORAGE_ERROR)
  }
})
