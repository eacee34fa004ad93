/**
 * AlterConfigs: replaces the whole configuration of a resource. IncrementalAlterConfigs is its
 * better.
 */
import { api, struct } from '../protocol/schema.js'
import { array, boolean, int8, int16, int32, nullable, string } from '../protocol/types.js'

export const alterConfigs = api({
  key: 33,
  name: 'AlterConfigs',
  versions: [0, 2],
  flexible: 2,
  request: {
    resources: array(
      struct({
        resourceType: int8,
        resourceName: string,
        configs: array(struct({ name: string, value: nullable(string) })),
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
