/**
 * JoinGroup: enters a classic group and waits for its next generation. The leader alone is told of
 * the members.
 */
import { api, since, struct } from '../protocol/schema.js'
import {
  array,
  boolean,
  bytes,
  int16,
  int32,
  nullable,
  nullableSince,
  string,
} from '../protocol/types.js'

export const joinGroup = api({
  key: 11,
  name: 'JoinGroup',
  versions: [0, 9],
  flexible: 6,
  request: {
    groupId: string,
    sessionTimeoutMs: int32,
    rebalanceTimeoutMs: since(1, int32, -1),
    memberId: string,
    groupInstanceId: since(5, nullable(string), null),
    protocolType: string,
    protocols: array(struct({ name: string, metadata: bytes })),
    reason: since(8, nullable(string), null),
  },
  response: {
    throttleTimeMs: since(2, int32),
    errorCode: int16,
    generationId: since(0, int32, -1),
    protocolType: since(7, nullable(string), null),
    protocolName: nullableSince(7, string),
    leader: string,
    skipAssignment: since(9, boolean, false),
    memberId: string,
    members: array(
      struct({
        memberId: string,
        groupInstanceId: since(5, nullable(string), null),
        metadata: bytes,
      }),
    ),
  },
})
