/**
 * DescribeGroups: state, protocol and members of classic groups.
 */
import { api, since, struct } from '../protocol/schema.js'
import { array, boolean, bytes, int16, int32, nullable, string } from '../protocol/types.js'
import { OPERATIONS_UNASKED } from './operations.js'

export const describeGroups = api({
  key: 15,
  name: 'DescribeGroups',
  versions: [0, 6],
  flexible: 5,
  request: {
    groups: array(string),
    includeAuthorizedOperations: since(3, boolean),
  },
  response: {
    throttleTimeMs: since(1, int32),
    groups: array(
      struct({
        errorCode: int16,
        errorMessage: since(6, nullable(string), null),
        groupId: string,
        groupState: string,
        protocolType: string,
        protocolData: string,
        members: array(
          struct({
            memberId: string,
            groupInstanceId: since(4, nullable(string), null),
            clientId: string,
            clientHost: string,
            memberMetadata: bytes,
            memberAssignment: bytes,
          }),
        ),
        authorizedOperations: since(3, int32, OPERATIONS_UNASKED),
      }),
    ),
  },
})
