/**
 * Fetch: record batches from partitions, for consumers and followers, in sessions from version 7 on
 * (KIP-227). Topics go by name up to version 12, by id from 13.
 */
import { api, between, since, struct, tagged } from '../protocol/schema.js'
import {
  array,
  int8,
  int16,
  int32,
  int64,
  int64Clamped,
  nullable,
  records,
  string,
  uuid,
} from '../protocol/types.js'
import { currentLeader, nodeEndpoint } from './leaders.js'

export const fetch = api({
  key: 1,
  name: 'Fetch',
  versions: [0, 18],
  flexible: 12,
  request: {
    clusterId: tagged(0, 12, nullable(string), null),
    replicaId: between(0, 14, int32, -1),
    replicaState: tagged(
      1,
      15,
      struct({
        replicaId: since(15, int32, -1),
        replicaEpoch: since(15, int64Clamped, -1),
      }),
    ),
    maxWaitMs: int32,
    minBytes: int32,
    maxBytes: since(3, int32, 0x7fffffff),
    isolationLevel: since(4, int8, 0),
    sessionId: since(7, int32, 0),
    sessionEpoch: since(7, int32, -1),
    topics: array(
      struct({
        topic: between(0, 12, string),
        topicId: since(13, uuid),
        partitions: array(
          struct({
            partition: int32,
            currentLeaderEpoch: since(9, int32, -1),
            fetchOffset: int64Clamped,
            lastFetchedEpoch: since(12, int32, -1),
            logStartOffset: since(5, int64Clamped, -1),
            partitionMaxBytes: int32,
            replicaDirectoryId: tagged(0, 17, uuid),
            // Long.MAX_VALUE: the follower does not report its watermark (KIP-1166).
            highWatermark: tagged(1, 18, int64Clamped, Number.MAX_SAFE_INTEGER),
          }),
        ),
      }),
    ),
    forgottenTopicsData: since(
      7,
      array(
        struct({
          topic: between(7, 12, string),
          topicId: since(13, uuid),
          partitions: array(int32),
        }),
      ),
    ),
    rackId: since(11, string, ''),
  },
  response: {
    throttleTimeMs: since(1, int32),
    errorCode: since(7, int16),
    sessionId: since(7, int32, 0),
    responses: array(
      struct({
        topic: between(0, 12, string),
        topicId: since(13, uuid),
        partitions: array(
          struct({
            partitionIndex: int32,
            errorCode: int16,
            highWatermark: int64,
            lastStableOffset: since(4, int64, -1),
            logStartOffset: since(5, int64, -1),
            divergingEpoch: tagged(
              0,
              12,
              struct({ epoch: since(12, int32, -1), endOffset: since(12, int64, -1) }),
            ),
            currentLeader: tagged(1, 12, currentLeader),
            snapshotId: tagged(
              2,
              12,
              struct({ endOffset: since(0, int64, -1), epoch: since(0, int32, -1) }),
            ),
            abortedTransactions: since(
              4,
              nullable(array(struct({ producerId: int64, firstOffset: int64 }))),
            ),
            preferredReadReplica: since(11, int32, -1),
            records,
          }),
        ),
      }),
    ),
    nodeEndpoints: tagged(0, 16, array(nodeEndpoint)),
  },
})
