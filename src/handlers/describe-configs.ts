/**
 * DescribeConfigs: the configuration of topics and of this broker, each key with where its value
 * comes from (KIP-226). Keys of a request that nobody knows are left out of the answer, as in
 * Kafka. There are no loggers to set, so that a broker's are an empty list.
 */
import { describeConfigs as api } from '../apis/describe-configs.js'
import { type ConfigEntry, clientMetricsEntries, groupEntries } from '../config.js'
import { isDynamic } from '../config-dynamic.js'
import { KafkaError, ProtocolError } from '../errors.js'
import type { RequestOf, ResponseInput } from '../protocol/schema.js'
import { brokerScope, checkTopicName, ResourceType, unknownType } from './config-resource.js'
import type { RequestContext } from './context.js'
import { distinct } from './distinct.js'
import { handler } from './handler.js'

type Request = RequestOf<typeof api>
type Resource = Request['resources'][number]
type Result = ResponseInput<typeof api>['results'][number]

/** Where a value comes from, as the protocol numbers it. */
export const CONFIG_SOURCE = { topic: 1, dynamic: 2, cluster: 3, broker: 4, default: 5 } as const
/** Types of values, as the protocol numbers them (KIP-569). */
const TYPE = {
  boolean: 1,
  string: 2,
  int: 3,
  short: 4,
  long: 5,
  double: 6,
  list: 7,
  class: 8,
  password: 9,
} as const

export const describeConfigs = handler(api, [0, 4], (request, context) => {
  const resources = distinct(request.resources, (resource) => {
    return `${resource.resourceType} ${resource.resourceName}`
  })
  const results = resources.map((resource) => describe(resource, request, context))
  return { throttleTimeMs: 0, results }
})

function describe(resource: Resource, request: Request, context: RequestContext): Result {
  const { resourceType, resourceName, configurationKeys } = resource
  const wanted = new Set(configurationKeys ?? [])
  try {
    const entries = entriesOf(resource, context)
    const asked = entries.filter(({ name }) => wanted.size === 0 || wanted.has(name))
    return {
      errorCode: KafkaError.NONE,
      errorMessage: '',
      resourceType,
      resourceName,
      configs: asked.map((entry) => configOf(entry, resourceType, request)),
    }
  } catch (error) {
    if (!(error instanceof ProtocolError)) throw error
    const { code: errorCode, message: errorMessage } = error
    return { errorCode, errorMessage, resourceType, resourceName, configs: [] }
  }
}

function entriesOf(
  { resourceType, resourceName }: Resource,
  context: RequestContext,
): readonly ConfigEntry[] {
  const { replicas, config } = context
  switch (resourceType) {
    case ResourceType.TOPIC: {
      checkTopicName(resourceName)
      const served = replicas.topic(resourceName)
      // Kafka gives no text for it.
      if (!served) throw new ProtocolError(KafkaError.UNKNOWN_TOPIC_OR_PARTITION, '')
      return served.config.entries()
    }
    case ResourceType.BROKER: {
      const all = brokerScope(resourceName, context) === 'cluster'
      return all ? config.clusterEntries() : config.entries()
    }
    case ResourceType.BROKER_LOGGER:
      brokerScope(resourceName, context)
      return []
    case ResourceType.CLIENT_METRICS:
      checkNamed(resourceName)
      return clientMetricsEntries()
    case ResourceType.GROUP:
      checkNamed(resourceName)
      return groupEntries(config)
    default:
      throw unknownType(resourceType)
  }
}

function checkNamed(resourceName: string): void {
  if (resourceName !== '') return
  throw new ProtocolError(KafkaError.INVALID_REQUEST, 'The resource needs a name.')
}

function configOf(
  { name, text, source, synonyms, key }: ConfigEntry,
  resourceType: number,
  { includeSynonyms, includeDocumentation }: Request,
) {
  const isSensitive = key.type === 'password'
  return {
    name,
    value: isSensitive ? null : text,
    readOnly: resourceType === ResourceType.BROKER && !isDynamic(name),
    isDefault: source === 'default',
    configSource: CONFIG_SOURCE[source],
    isSensitive,
    synonyms: (includeSynonyms ? synonyms : []).map((synonym) => ({
      name: synonym.name,
      value: isSensitive ? null : synonym.text,
      source: CONFIG_SOURCE[synonym.source],
    })),
    configType: TYPE[key.type],
    documentation: includeDocumentation ? key.text : null,
  }
}
