/**
 * ListGroups: the groups of one broker, by state from version 4 on (KIP-518), by type from 5 on
 * (KIP-848).
 */
import { api, since, struct } from '../protocol/schema.js'
import { array, int16, int32, string } from '../protocol/types.js'

export const listGroups = api({
  key: 16,
  name: 'ListGroups',
  versions: [0, 5],
  flexible: 3,
  request: {
    statesFilter: since(4, array(string)),
    typesFilter: since(5, array(string)),
  },
  response: {
    throttleTimeMs: since(1, int32),
    errorCode: int16,
    groups: array(
      struct({
        groupId: string,
        protocolType: string,
        groupState: since(4, string),
        groupType: since(5, string),
      }),
    ),
  },
})
