/**
 * OffsetFetch: what a group committed. One group up to version 7, several from 8 on (KIP-709);
 * null topics ask for all of them. Topics go by id from version 10.
 */
import { api, between, since, struct } from '../protocol/schema.js'
import {
  array,
  boolean,
  int16,
  int32,
  int64,
  nullable,
  nullableSince,
  string,
  uuid,
} from '../protocol/types.js'

export const offsetFetch = api({
  key: 9,
  name: 'OffsetFetch',
  versions: [0, 10],
  flexible: 6,
  request: {
    groupId: between(0, 7, string),
    topics: between(
      0,
      7,
      nullableSince(2, array(struct({ name: string, partitionIndexes: array(int32) }))),
    ),
    groups: since(
      8,
      array(
        struct({
          groupId: string,
          memberId: since(9, nullable(string), null),
          memberEpoch: since(9, int32, -1),
          topics: nullable(
            array(
              struct({
                name: between(8, 9, string),
                topicId: since(10, uuid),
                partitionIndexes: array(int32),
              }),
            ),
          ),
        }),
      ),
    ),
    requireStable: since(7, boolean, false),
  },
  response: {
    throttleTimeMs: since(3, int32),
    topics: between(
      0,
      7,
      array(
        struct({
          name: string,
          partitions: array(
            struct({
              partitionIndex: int32,
              committedOffset: int64,
              committedLeaderEpoch: between(5, 7, int32, -1),
              metadata: nullable(string),
              errorCode: int16,
            }),
          ),
        }),
      ),
    ),
    errorCode: between(2, 7, int16, 0),
    groups: since(
      8,
      array(
        struct({
          groupId: string,
          topics: array(
            struct({
              name: between(8, 9, string),
              topicId: since(10, uuid),
              partitions: array(
                struct({
                  partitionIndex: int32,
                  committedOffset: int64,
                  committedLeaderEpoch: since(8, int32, -1),
                  metadata: nullable(string),
                  errorCode: int16,
                }),
              ),
            }),
          ),
          errorCode: since(8, int16, 0),
        }),
      ),
    ),
  },
})
