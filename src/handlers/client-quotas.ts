/**
 * DescribeClientQuotas and AlterClientQuotas (KIP-546): nothing is limited here, so there is none
 * to describe, and a limit that would not hold is refused.
 */
import { alterClientQuotas as alterApi, describeClientQuotas } from '../apis/client-quotas.js'
import { KafkaError } from '../errors.js'
import type { RequestOf } from '../protocol/schema.js'
import { handler } from './handler.js'

type Component = RequestOf<typeof describeClientQuotas>['components'][number]

const ENTITY_TYPES = new Set(['user', 'client-id', 'ip'])
const Match = { EXACT: 0, DEFAULT: 1, SPECIFIED: 2 } as const

export const describeQuotas = handler(describeClientQuotas, [0, 1], ({ components }) => {
  const fault = faultOf(components)
  return {
    throttleTimeMs: 0,
    errorCode: fault === undefined ? KafkaError.NONE : KafkaError.INVALID_REQUEST,
    errorMessage: fault ?? null,
    entries: fault === undefined ? [] : null,
  }
})

function faultOf(components: readonly Component[]): string | undefined {
  const types = new Set(components.map(({ entityType }) => entityType))
  if (types.size !== components.length) return 'An entity type is filtered for more than once.'
  if (types.has('ip') && types.size > 1) return 'Addresses have no users and clients.'
  for (const { entityType, matchType, match } of components) {
    if (entityType === '') return 'Unexpected empty entity type.'
    if (!ENTITY_TYPES.has(entityType)) return `Custom entity type '${entityType}' not supported`
    if (matchType === Match.EXACT ? match === null : match !== null) {
      return `Match type ${matchType} does not go with the name ${match}.`
    }
    if (matchType < Match.EXACT || matchType > Match.SPECIFIED) {
      return `Unexpected match type: ${matchType}`
    }
  }
  return undefined
}

export const alterQuotas = handler(alterApi, [0, 1], ({ entries }) => ({
  throttleTimeMs: 0,
  entries: entries.map(({ entity }) => ({
    errorCode: KafkaError.INVALID_REQUEST,
    errorMessage: 'Quotas are not enforced by this broker.',
    entity,
  })),
}))
