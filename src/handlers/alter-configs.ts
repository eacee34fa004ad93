/**
 * AlterConfigs and IncrementalAlterConfigs (KIP-339): change the configuration of a topic, of this
 * broker, or of all brokers, each resource answered for itself. The first replaces all values, the
 * second changes single keys. What is changed holds from the next append on and outlasts a restart.
 */
import { alterConfigs as replaceApi } from '../apis/alter-configs.js'
import { incrementalAlterConfigs as changeApi } from '../apis/incremental-alter-configs.js'
import { brokerKey, topicKey } from '../config.js'
import type { Key } from '../config-types.js'
import { KafkaError, ProtocolError } from '../errors.js'
import { brokerScope, checkTopicName, ResourceType, unknownType } from './config-resource.js'
import type { RequestContext } from './context.js'
import { handler } from './handler.js'

type Values = Record<string, string>

interface Wish {
  name: string
  configOperation: number
  value: string | null
}

interface Resource {
  resourceType: number
  resourceName: string
  configs: readonly Wish[]
}

const Operation = { SET: 0, DELETE: 1, APPEND: 2, SUBTRACT: 3 } as const

export const alterConfigs = handler(replaceApi, [0, 2], async (request, context) => {
  const resources = request.resources.map((resource) => ({
    ...resource,
    configs: resource.configs.map((config) => ({ ...config, configOperation: Operation.SET })),
  }))
  return answer(resources, request.validateOnly, replacing, context)
})

/** Nothing that was there before is left. */
const replacing = (): Values => ({})

export const incrementalAlterConfigs = handler(changeApi, [0, 1], async (request, context) => {
  return answer(request.resources, request.validateOnly, (present) => ({ ...present }), context)
})

async function answer(
  resources: readonly Resource[],
  validateOnly: boolean,
  begin: (present: Readonly<Values>) => Values,
  context: RequestContext,
) {
  const keyOf = (resource: Resource) => `${resource.resourceType} ${resource.resourceName}`
  const times = new Map<string, number>()
  for (const resource of resources) {
    times.set(keyOf(resource), (times.get(keyOf(resource)) ?? 0) + 1)
  }
  const responses = []
  for (const resource of resources) {
    const { resourceType, resourceName } = resource
    let errorCode: number = KafkaError.NONE
    let errorMessage: string | null = null
    try {
      if ((times.get(keyOf(resource)) ?? 0) > 1) {
        throw new ProtocolError(KafkaError.INVALID_REQUEST, 'The resource is named twice.')
      }
      await alter(resource, validateOnly, begin, context)
    } catch (error) {
      if (!(error instanceof ProtocolError)) throw error
      errorCode = error.code
      errorMessage = error.message
    }
    responses.push({ errorCode, errorMessage, resourceType, resourceName })
  }
  return { throttleTimeMs: 0, responses }
}

async function alter(
  { resourceType, resourceName, configs }: Resource,
  validateOnly: boolean,
  begin: (present: Readonly<Values>) => Values,
  context: RequestContext,
): Promise<void> {
  checkWishes(configs)
  switch (resourceType) {
    case ResourceType.TOPIC: {
      if (resourceName === '') {
        throw new ProtocolError(KafkaError.INVALID_REQUEST, 'A topic needs a name.')
      }
      checkTopicName(resourceName)
      const change = (present: Readonly<Values>) => apply(begin(present), configs, topicKey)
      await context.topics.configure(resourceName, change, validateOnly)
      return
    }
    case ResourceType.BROKER: {
      const scope = brokerScope(resourceName, context)
      const change = (present: Readonly<Values>) => apply(begin(present), configs, brokerKey)
      await context.brokerChanges.configure(scope, change, validateOnly)
      return
    }
    case ResourceType.GROUP:
      return refuseAll(configs, 'a group has no configuration of its own here')
    case ResourceType.BROKER_LOGGER:
      // The older of the two APIs knows nothing of them.
      if (begin === replacing) throw unknownType(resourceType)
      brokerScope(resourceName, context)
      return refuseAll(configs, 'there is no such logger')
    default:
      throw unknownType(resourceType)
  }
}

function refuseAll(configs: readonly Wish[], reason: string): void {
  const [first] = configs
  if (first) throw new ProtocolError(KafkaError.INVALID_CONFIG, `${first.name}: ${reason}`)
}

function checkWishes(configs: readonly Wish[]): void {
  const names = new Set(configs.map(({ name }) => name))
  if (names.size !== configs.length) {
    throw new ProtocolError(KafkaError.INVALID_REQUEST, 'Error due to duplicate config keys')
  }
  for (const { name, configOperation, value } of configs) {
    if (configOperation < Operation.SET || configOperation > Operation.SUBTRACT) {
      // Kafka's code for it, which has no better one.
      const text = `Unknown operation ${configOperation} on ${name}`
      throw new ProtocolError(KafkaError.UNKNOWN_SERVER_ERROR, text)
    }
    if (value === null && configOperation !== Operation.DELETE) {
      const text = `Null value not supported for : ${name}`
      throw new ProtocolError(KafkaError.INVALID_REQUEST, text)
    }
  }
}

function apply(
  values: Values,
  wishes: readonly Wish[],
  keyOf: (name: string) => Key<unknown> | undefined,
): Values {
  for (const { name, configOperation, value } of wishes) {
    // Names such as __proto__ are no keys, whatever an object makes of them.
    if (keyOf === topicKey && configOperation !== Operation.DELETE && !keyOf(name)) {
      throw new ProtocolError(KafkaError.INVALID_CONFIG, `Unknown config name: ${name}`)
    }
    if (configOperation === Operation.DELETE) delete values[name]
    else if (configOperation === Operation.SET) values[name] = value ?? ''
    else {
      const key = keyOf(name)
      if (key?.type !== 'list') {
        const text = `Can't append to or subtract from ${name}, which is no list.`
        throw new ProtocolError(KafkaError.INVALID_CONFIG, text)
      }
      const change = entriesOf(value ?? '')
      const present = entriesOf(values[name] ?? key.defaultText)
      const kept = present.filter((entry) => !change.includes(entry))
      const next = configOperation === Operation.APPEND ? [...kept, ...change] : kept
      values[name] = next.join(',')
    }
  }
  return values
}

function entriesOf(text: string): string[] {
  return text.split(',').flatMap((entry) => entry.trim() || [])
}
