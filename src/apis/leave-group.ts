/**
 * LeaveGroup: takes members out of a classic group; several at once from version 3 on (KIP-345).
 */
import { api, between, since, struct } from '../protocol/schema.js'
import { array, int16, int32, nullable, string } from '../protocol/types.js'

export const leaveGroup = api({
  key: 13,
  name: 'LeaveGroup',
  versions: [0, 5],
  flexible: 4,
  request: {
    groupId: string,
    memberId: between(0, 2, string),
    members: since(
      3,
      array(
        struct({
          memberId: string,
          groupInstanceId: since(3, nullable(string), null),
          reason: since(5, nullable(string), null),
        }),
      ),
    ),
  },
  response: {
    throttleTimeMs: since(1, int32),
    errorCode: int16,
    members: since(
      3,
      array(struct({ memberId: string, groupInstanceId: nullable(string), errorCode: int16 })),
    ),
  },
})
