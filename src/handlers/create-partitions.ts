/** CreatePartitions: further partitions for topics that exist, each topic answered for itself. */
import { createPartitions as api } from '../apis/create-partitions.js'
import { KafkaError, ProtocolError } from '../errors.js'
import type { RequestOf, ResponseInput } from '../protocol/schema.js'
import type { RequestContext } from './context.js'
import { handler } from './handler.js'

type Request = RequestOf<typeof api>
type Wish = Request['topics'][number]
type Result = ResponseInput<typeof api>['results'][number]

export const createPartitions = handler(api, [0, 3], async (request, context) => {
  const byName = new Map<string, Wish[]>()
  for (const wish of request.topics) {
    const wishes = byName.get(wish.name)
    if (wishes) wishes.push(wish)
    else byName.set(wish.name, [wish])
  }
  const results: Result[] = []
  for (const wishes of byName.values()) results.push(await grow(wishes, request, context))
  return { throttleTimeMs: 0, results }
})

async function grow(
  [wish, ...further]: Wish[],
  { timeoutMs, validateOnly }: Request,
  { topics }: RequestContext,
): Promise<Result> {
  const { name, count, assignments } = wish!
  try {
    if (timeoutMs <= 0) throw new ProtocolError(KafkaError.REQUEST_TIMED_OUT)
    if (further.length > 0) {
      throw new ProtocolError(KafkaError.INVALID_REQUEST, 'Duplicate topic name.')
    }
    const replicas = assignments?.map(({ brokerIds }) => brokerIds) ?? null
    await topics.grow({ name, count, assignments: replicas }, validateOnly)
    return { name, errorCode: KafkaError.NONE, errorMessage: null }
  } catch (error) {
    if (!(error instanceof ProtocolError)) throw error
    return { name, errorCode: error.code, errorMessage: error.message }
  }
}
