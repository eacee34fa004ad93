/**
 * DeleteTopics: by name, or from version 6 on by name or id (KIP-516).
 */
import { api, between, since, struct } from '../protocol/schema.js'
import { array, int16, int32, nullable, nullableSince, string, uuid } from '../protocol/types.js'

export const deleteTopics = api({
  key: 20,
  name: 'DeleteTopics',
  versions: [0, 6],
  flexible: 4,
  request: {
    topics: since(6, array(struct({ name: since(6, nullable(string), null), topicId: uuid }))),
    topicNames: between(0, 5, array(string)),
    timeoutMs: int32,
  },
  response: {
    throttleTimeMs: since(1, int32),
    responses: array(
      struct({
        name: nullableSince(6, string),
        topicId: since(6, uuid),
        errorCode: int16,
        errorMessage: since(5, nullable(string), null),
      }),
    ),
  },
})
