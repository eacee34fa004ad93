/**
 * Produce: record batches for partitions, and where they were put. Topics go by name up to version
 * 12, by id from 13. Versions 0 to 2 carry message sets of magic 0 and 1; from 3 on, batches of
 * magic 2.
 */
import { api, between, since, struct, tagged } from '../protocol/schema.js'
import {
  array,
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

export const produce = api({
  key: 0,
  name: 'Produce',
  versions: [0, 13],
  flexible: 9,
  request: {
    transactionalId: since(3, nullable(string), null),
    acks: int16,
    timeoutMs: int32,
    topicData: array(
      struct({
        name: between(0, 12, string),
        topicId: since(13, uuid),
        partitionData: array(struct({ index: int32, records })),
      }),
    ),
  },
  response: {
    responses: array(
      struct({
        name: between(0, 12, string),
        topicId: since(13, uuid),
        partitionResponses: array(
          struct({
            index: int32,
            errorCode: int16,
            baseOffset: int64,
            logAppendTimeMs: since(2, int64Clamped, -1),
            logStartOffset: since(5, int64, -1),
            recordErrors: since(
              8,
              array(
                struct({
                  batchIndex: int32,
                  batchIndexErrorMessage: since(8, nullable(string), null),
                }),
              ),
            ),
            errorMessage: since(8, nullable(string), null),
            currentLeader: tagged(0, 10, currentLeader),
          }),
        ),
      }),
    ),
    throttleTimeMs: since(1, int32, 0),
    nodeEndpoints: tagged(0, 10, array(nodeEndpoint)),
  },
})
