/**
 * DescribeLogDirs: the log directories of a broker and the size of each partition in them
 * (KIP-113, KIP-827).
 */
import { api, since, struct } from '../protocol/schema.js'
import {
  array,
  boolean,
  int16,
  int32,
  int64,
  int64Clamped,
  nullable,
  string,
} from '../protocol/types.js'

export const describeLogDirs = api({
  key: 35,
  name: 'DescribeLogDirs',
  versions: [0, 5],
  flexible: 2,
  request: {
    topics: nullable(array(struct({ topic: string, partitions: array(int32) }))),
  },
  response: {
    throttleTimeMs: int32,
    errorCode: since(3, int16),
    results: array(
      struct({
        errorCode: int16,
        logDir: string,
        topics: array(
          struct({
            name: string,
            partitions: array(
              struct({
                partitionIndex: int32,
                partitionSize: int64,
                offsetLag: int64,
                isFutureKey: boolean,
              }),
            ),
          }),
        ),
        totalBytes: since(4, int64Clamped, -1),
        usableBytes: since(4, int64Clamped, -1),
        isCordoned: since(5, boolean, false),
      }),
    ),
  },
})
