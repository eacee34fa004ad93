/**
 * DescribeConfigs: the configuration of topics and of this broker, each key with where its value
 * comes from (KIP-226). Keys of a request that nobody knows are left out of the answer, as in
 * Kafka.
 */
import { describeConfigs as api } from '../apis/describe-configs.js'
import type { ConfigEntry } from '../config.js'
import { KafkaError, type KafkaErrorCode } from '../errors.js'
import type { RequestOf, ResponseInput } from '../protocol/schema.js'
import type { RequestContext } from './context.js'
import { distinct } from './distinct.js'
import { handler } from './handler.js'

type Request = RequestOf<typeof api>
type Resource = Request['resources'][number]
type Result = ResponseInput<typeof api>['results'][number]

const TOPIC = 2
const BROKER = 4

/** Where a value comes from, as the protocol numbers it. */
export const CONFIG_SOURCE = { topic: 1, broker: 4, default: 5 } as const
/** Types of values, as the protocol numbers them (KIP-569). */
const TYPE = { boolean: 1, string: 2, int: 3, long: 5, double: 6, list: 7 } as const

export const describeConfigs = handler(api, [0, 4], (request, context) => {
  const resources = distinct(request.resources, (resource) => {
    return `${resource.resourceType} ${resource.resourceName}`
  })
  const results = resources.map((resource) => describe(resource, request, context))
  return { throttleTimeMs: 0, results }
})

function describe(resource: Resource, request: Request, context: RequestContext): Result {
  const { resourceType, resourceName, configurationKeys } = resource
  const entries = entriesOf(resource, context)
  const found = typeof entries !== 'number'
  const wanted = new Set(configurationKeys ?? [])
  const asked = (found ? entries : []).filter(({ name }) => wanted.size === 0 || wanted.has(name))
  return {
    errorCode: found ? KafkaError.NONE : entries,
    errorMessage: found ? '' : `There is no resource ${resourceType} "${resourceName}".`,
    resourceType,
    resourceName,
    configs: asked.map((entry) => configOf(entry, resourceType, request)),
  }
}

function entriesOf(
  { resourceType, resourceName }: Resource,
  { replicas, config, brokerId }: RequestContext,
): ConfigEntry[] | KafkaErrorCode {
  if (resourceType === TOPIC) {
    return replicas.topic(resourceName)?.config.entries() ?? KafkaError.UNKNOWN_TOPIC_OR_PARTITION
  }
  const mine = resourceName === String(brokerId) || resourceName === ''
  return resourceType === BROKER && mine ? config.entries() : KafkaError.INVALID_REQUEST
}

function configOf(
  { name, text, source, key }: ConfigEntry,
  resourceType: number,
  { includeSynonyms, includeDocumentation }: Request,
) {
  const configSource = CONFIG_SOURCE[source]
  return {
    name,
    value: text,
    readOnly: resourceType === BROKER,
    isDefault: source === 'default',
    configSource,
    isSensitive: false,
    synonyms: includeSynonyms ? [{ name, value: text, source: configSource }] : [],
    configType: TYPE[key.type],
    documentation: includeDocumentation ? key.text : null,
  }
}
