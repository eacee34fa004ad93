/**
 * CreateTopics: each topic answered for itself. Configurations are stored with the topic as they
 * come; they take effect with the part of the broker that reads them.
 */
import { createTopics as api } from '../apis/create-topics.js'
import { KafkaError, type KafkaErrorCode, ProtocolError } from '../errors.js'
import type { RequestOf, ResponseInput } from '../protocol/schema.js'
import { ZERO_UUID } from '../protocol/types.js'
import type { RequestContext } from './context.js'
import { CONFIG_SOURCE } from './describe-configs.js'
import { handler } from './handler.js'

type Request = RequestOf<typeof api>
type TopicRequest = Request['topics'][number]
type TopicResponse = ResponseInput<typeof api>['topics'][number]

export const createTopics = handler(api, [0, 7], async (request, context) => {
  const byName = new Map<string, TopicRequest[]>()
  for (const topic of request.topics) {
    const wishes = byName.get(topic.name)
    if (wishes) wishes.push(topic)
    else byName.set(topic.name, [topic])
  }
  const topics: TopicResponse[] = []
  for (const [name, wishes] of byName) {
    const twice = wishes.length > 1
    topics.push(
      twice
        ? refusal(name, KafkaError.INVALID_REQUEST, 'Duplicate topic in the request.')
        : await create(wishes[0]!, request, context),
    )
  }
  return { throttleTimeMs: 0, topics }
})

async function create(
  topic: TopicRequest,
  { timeoutMs, validateOnly }: Request,
  { topics }: RequestContext,
): Promise<TopicResponse> {
  const { name, numPartitions, replicationFactor } = topic
  try {
    if (timeoutMs <= 0) throw new ProtocolError(KafkaError.REQUEST_TIMED_OUT)
    const assignment = assignmentOf(topic)
    const configs = configsOf(topic)
    const made = await topics.create(
      {
        name,
        partitionCount: numPartitions,
        replicationFactor,
        configs,
        ...(assignment ? { assignment } : {}),
      },
      validateOnly,
    )
    return {
      name,
      topicId: made.topicId,
      errorCode: KafkaError.NONE,
      errorMessage: null,
      topicConfigErrorCode: KafkaError.NONE,
      numPartitions: made.partitions.length,
      replicationFactor: made.partitions[0]?.length ?? -1,
      configs: made.config.entries().map(({ name: key, text, source }) => ({
        name: key,
        value: text,
        readOnly: false,
        configSource: CONFIG_SOURCE[source],
        isSensitive: false,
      })),
    }
  } catch (error) {
    if (!(error instanceof ProtocolError)) throw error
    return refusal(name, error.code, error.message)
  }
}

function assignmentOf(topic: TopicRequest): number[][] | undefined {
  if (topic.assignments.length === 0) return undefined
  if (topic.numPartitions !== -1 || topic.replicationFactor !== -1) {
    const text = 'Counts must be -1 beside a manual assignment.'
    throw new ProtocolError(KafkaError.INVALID_REQUEST, text)
  }
  const sorted = [...topic.assignments].sort((a, b) => a.partitionIndex - b.partitionIndex)
  if (!sorted.every(({ partitionIndex }, i) => partitionIndex === i)) {
    const text = 'Partitions of a manual assignment must be numbered from 0 without a gap.'
    throw new ProtocolError(KafkaError.INVALID_REPLICA_ASSIGNMENT, text)
  }
  return sorted.map(({ brokerIds }) => [...brokerIds])
}

function configsOf(topic: TopicRequest): Record<string, string> {
  // A client may call a key `__proto__`.
  const configs: Record<string, string> = Object.create(null)
  for (const { name, value } of topic.configs) {
    if (value === null) {
      const text = `Null value not supported for topic configs: ${name}`
      throw new ProtocolError(KafkaError.INVALID_CONFIG, text)
    }
    configs[name] = value
  }
  return configs
}

function refusal(name: string, errorCode: KafkaErrorCode, errorMessage: string): TopicResponse {
  return {
    name,
    topicId: ZERO_UUID,
    errorCode,
    errorMessage,
    topicConfigErrorCode: KafkaError.NONE,
    numPartitions: -1,
    replicationFactor: -1,
    configs: [],
  }
}
