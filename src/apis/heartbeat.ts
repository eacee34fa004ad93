/**
 * Heartbeat: a member of a classic group is alive, and learns whether the group rebalances.
 */
import { api, since } from '../protocol/schema.js'
import { int16, int32, nullable, string } from '../protocol/types.js'

export const heartbeat = api({
  key: 12,
  name: 'Heartbeat',
  versions: [0, 4],
  flexible: 4,
  request: {
    groupId: string,
    generationId: int32,
    memberId: string,
    groupInstanceId: since(3, nullable(string), null),
  },
  response: {
    throttleTimeMs: since(1, int32),
    errorCode: int16,
  },
})
