/**
 * IncrementalAlterConfigs: sets (0), deletes (1), appends to (2) or subtracts from (3) single keys
 * (KIP-339).
 */
import { api, struct } from '../protocol/schema.js'
import { array, boolean, int8, int16, int32, nullable, string } from '../protocol/types.js'

export const incrementalAlterConfigs = api({
  key: 44,
  name: 'IncrementalAlterConfigs',
  versions: [0, 1],
  flexible: 1,
  request: {
    resources: array(
      struct({
        resourceType: int8,
        resourceName: string,
        configs: array(struct({ name: string, configOperation: int8, value: nullable(string) })),
      }),
    ),
    validateOnly: boolean,
  },
  response: {
    throttleTimeMs: int32,
    responses: array(
      struct({
        errorCode: int16,
        errorMessage: nullable(string),
        resourceType: int8,
        resourceName: string,
      }),
    ),
  },
})
