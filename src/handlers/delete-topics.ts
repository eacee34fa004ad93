/** DeleteTopics: by name, or from version 6 on by id; answered when the logs are gone. */
import { deleteTopics as api } from '../apis/delete-topics.js'
import { KafkaError, ProtocolError } from '../errors.js'
import type { RequestOf, ResponseInput } from '../protocol/schema.js'
import { ZERO_UUID } from '../protocol/types.js'
import type { RequestContext } from './context.js'
import { handler } from './handler.js'

type Request = RequestOf<typeof api>
type TopicResponse = ResponseInput<typeof api>['responses'][number]

/** A topic as the request names it. */
interface Target {
  name: string | null
  topicId: string
}

export const deleteTopics = handler(api, [0, 6], async (request, context) => {
  const responses: TopicResponse[] = []
  const byName = new Map<string, { target: Target; twice: boolean }>()
  for (const target of targetsOf(request, context)) {
    const name = nameOf(target, context)
    const first = byName.get(name)
    if (first) first.twice = true
    else byName.set(name, { target, twice: false })
  }
  for (const { target, twice } of byName.values()) {
    responses.push(await remove(target, twice, request.timeoutMs, context))
  }
  return { throttleTimeMs: 0, responses }
})

function targetsOf(request: Request, { version }: RequestContext): readonly Target[] {
  if (version >= 6) return request.topics
  return request.topicNames.map((name) => ({ name, topicId: ZERO_UUID }))
}

function nameOf({ name, topicId }: Target, { replicas }: RequestContext): string {
  return name ?? replicas.topicById(topicId)?.topic ?? topicId
}

async function remove(
  target: Target,
  twice: boolean,
  timeoutMs: number,
  context: RequestContext,
): Promise<TopicResponse> {
  try {
    if (!context.config.get('delete.topic.enable')) {
      // The code for it came with version 3.
      const disabled =
        context.version < 3 ? KafkaError.INVALID_REQUEST : KafkaError.TOPIC_DELETION_DISABLED
      throw new ProtocolError(disabled)
    }
    if (twice || (target.name === null) === (target.topicId === ZERO_UUID)) {
      throw new ProtocolError(KafkaError.INVALID_REQUEST, 'A topic is named once, by name or id.')
    }
    if (timeoutMs <= 0) throw new ProtocolError(KafkaError.REQUEST_TIMED_OUT)
    const { name, topicId } = target
    const served =
      name === null ? context.replicas.topicById(topicId) : context.replicas.topic(name)
    if (!served) {
      const byId =
        name === null ? KafkaError.UNKNOWN_TOPIC_ID : KafkaError.UNKNOWN_TOPIC_OR_PARTITION
      throw new ProtocolError(byId)
    }
    await context.topics.delete(served.topic)
    // A topic of the same name begins at 0 again.
    await context.groups.dropTopics([served.topic])
    return { name: served.topic, topicId: served.topicId, errorCode: 0, errorMessage: null }
  } catch (error) {
    if (!(error instanceof ProtocolError)) throw error
    return { ...target, errorCode: error.code, errorMessage: error.message }
  }
}
