/**
 * InitProducerId: a producer id and epoch for an idempotent or a transactional producer.
 */
import { api, since } from '../protocol/schema.js'
import { boolean, int16, int32, int64, int64Clamped, nullable, string } from '../protocol/types.js'

export const initProducerId = api({
  key: 22,
  name: 'InitProducerId',
  versions: [0, 6],
  flexible: 2,
  request: {
    transactionalId: nullable(string),
    transactionTimeoutMs: int32,
    producerId: since(3, int64Clamped, -1),
    producerEpoch: since(3, int16, -1),
    enable2Pc: since(6, boolean, false),
    keepPreparedTxn: since(6, boolean, false),
  },
  response: {
    throttleTimeMs: int32,
    errorCode: int16,
    producerId: since(0, int64, -1),
    producerEpoch: int16,
    ongoingTxnProducerId: since(6, int64, -1),
    ongoingTxnProducerEpoch: since(6, int16, -1),
  },
})
