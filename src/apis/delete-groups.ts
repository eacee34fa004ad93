/**
 * DeleteGroups: removes empty groups with their offsets (KIP-229).
 */
import { api, struct } from '../protocol/schema.js'
import { array, int16, int32, string } from '../protocol/types.js'

export const deleteGroups = api({
  key: 42,
  name: 'DeleteGroups',
  versions: [0, 2],
  flexible: 2,
  request: {
    groupsNames: array(string),
  },
  response: {
    throttleTimeMs: int32,
    results: array(struct({ groupId: string, errorCode: int16 })),
  },
})
