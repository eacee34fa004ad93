/**
 * DescribeClientQuotas and AlterClientQuotas: limits of users, clients and addresses (KIP-546).
 */
import { api, struct } from '../protocol/schema.js'
import { array, boolean, float64, int8, int16, int32, nullable, string } from '../protocol/types.js'

const entity = array(struct({ entityType: string, entityName: nullable(string) }))

export const describeClientQuotas = api({
  key: 48,
  name: 'DescribeClientQuotas',
  versions: [0, 1],
  flexible: 1,
  request: {
    components: array(struct({ entityType: string, matchType: int8, match: nullable(string) })),
    strict: boolean,
  },
  response: {
    throttleTimeMs: int32,
    errorCode: int16,
    errorMessage: nullable(string),
    entries: nullable(
      array(struct({ entity, values: array(struct({ key: string, value: float64 })) })),
    ),
  },
})

export const alterClientQuotas = api({
  key: 49,
  name: 'AlterClientQuotas',
  versions: [0, 1],
  flexible: 1,
  request: {
    entries: array(
      struct({ entity, ops: array(struct({ key: string, value: float64, remove: boolean })) }),
    ),
    validateOnly: boolean,
  },
  response: {
    throttleTimeMs: int32,
    entries: array(struct({ errorCode: int16, errorMessage: nullable(string), entity })),
  },
})
