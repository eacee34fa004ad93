/**
 * DeleteRecords: moves the log start offset up; offset -1 means the high watermark (KIP-107).
 */
import { api, struct } from '../protocol/schema.js'
import { array, int16, int32, int64, int64Clamped, string } from '../protocol/types.js'

export const deleteRecords = api({
  key: 21,
  name: 'DeleteRecords',
  versions: [0, 2],
  flexible: 2,
  request: {
    topics: array(
      struct({
        name: string,
        partitions: array(struct({ partitionIndex: int32, offset: int64Clamped })),
      }),
    ),
    timeoutMs: int32,
  },
  response: {
    throttleTimeMs: int32,
    topics: array(
      struct({
        name: string,
        partitions: array(struct({ partitionIndex: int32, lowWatermark: int64, errorCode: int16 })),
      }),
    ),
  },
})
