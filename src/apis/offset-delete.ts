/**
 * OffsetDelete: forgets committed offsets of single partitions (KIP-496). It never became
 * flexible.
 */
import { api, struct } from '../protocol/schema.js'
import { array, int16, int32, string } from '../protocol/types.js'

export const offsetDelete = api({
  key: 47,
  name: 'OffsetDelete',
  versions: [0, 0],
  request: {
    groupId: string,
    topics: array(struct({ name: string, partitions: array(struct({ partitionIndex: int32 })) })),
  },
  response: {
    errorCode: int16,
    throttleTimeMs: int32,
    topics: array(
      struct({
        name: string,
        partitions: array(struct({ partitionIndex: int32, errorCode: int16 })),
      }),
    ),
  },
})
