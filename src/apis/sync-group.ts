/**
 * SyncGroup: the leader hands in the assignment of a generation, every member gets its own.
 */
import { api, since, struct } from '../protocol/schema.js'
import { array, bytes, int16, int32, nullable, string } from '../protocol/types.js'

export const syncGroup = api({
  key: 14,
  name: 'SyncGroup',
  versions: [0, 5],
  flexible: 4,
  request: {
    groupId: string,
    generationId: int32,
    memberId: string,
    groupInstanceId: since(3, nullable(string), null),
    protocolType: since(5, nullable(string), null),
    protocolName: since(5, nullable(string), null),
    assignments: array(struct({ memberId: string, assignment: bytes })),
  },
  response: {
    throttleTimeMs: since(1, int32),
    errorCode: int16,
    protocolType: since(5, nullable(string), null),
    protocolName: since(5, nullable(string), null),
    assignment: bytes,
  },
})
