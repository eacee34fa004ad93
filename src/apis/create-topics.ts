/**
 * CreateTopics: makes topics with counts, or with an assignment of replicas; -1 asks for the
 * broker's default from version 4 on (KIP-464). From version 5 the answer tells the configuration
 * (KIP-525).
 */
import { api, since, struct, tagged } from '../protocol/schema.js'
import { array, boolean, int8, int16, int32, nullable, string, uuid } from '../protocol/types.js'

export const createTopics = api({
  key: 19,
  name: 'CreateTopics',
  versions: [0, 7],
  flexible: 5,
  request: {
    topics: array(
      struct({
        name: string,
        numPartitions: int32,
        replicationFactor: int16,
        assignments: array(struct({ partitionIndex: int32, brokerIds: array(int32) })),
        configs: array(struct({ name: string, value: nullable(string) })),
      }),
    ),
    timeoutMs: since(0, int32, 60000),
    validateOnly: since(1, boolean, false),
  },
  response: {
    throttleTimeMs: since(2, int32),
    topics: array(
      struct({
        name: string,
        topicId: since(7, uuid),
        errorCode: int16,
        errorMessage: since(1, nullable(string)),
        topicConfigErrorCode: tagged(0, 5, int16),
        numPartitions: since(5, int32, -1),
        replicationFactor: since(5, int16, -1),
        configs: since(
          5,
          nullable(
            array(
              struct({
                name: string,
                value: nullable(string),
                readOnly: boolean,
                configSource: since(5, int8, -1),
                isSensitive: boolean,
              }),
            ),
          ),
        ),
      }),
    ),
  },
})
