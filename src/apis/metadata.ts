/**
 * Metadata: brokers, topics, partitions and their leaders. Null topics ask for all of them from
 * version 1 on; in version 0 an empty list does. A topic can be asked for by id from 12 on
 * (KIP-516).
 */
import { api, between, since, struct } from '../protocol/schema.js'
import {
  array,
  boolean,
  int16,
  int32,
  nullable,
  nullableSince,
  string,
  uuid,
} from '../protocol/types.js'
import { OPERATIONS_UNASKED } from './operations.js'

export const metadata = api({
  key: 3,
  name: 'Metadata',
  versions: [0, 13],
  flexible: 9,
  request: {
    topics: nullableSince(
      1,
      array(
        struct({
          topicId: since(10, uuid),
          name: nullableSince(10, string),
        }),
      ),
    ),
    allowAutoTopicCreation: since(4, boolean, true),
    includeClusterAuthorizedOperations: between(8, 10, boolean),
    includeTopicAuthorizedOperations: since(8, boolean),
  },
  response: {
    throttleTimeMs: since(3, int32),
    brokers: array(
      struct({
        nodeId: int32,
        host: string,
        port: int32,
        rack: since(1, nullable(string), null),
      }),
    ),
    clusterId: since(2, nullable(string), null),
    controllerId: since(1, int32, -1),
    topics: array(
      struct({
        errorCode: int16,
        name: nullableSince(12, string),
        topicId: since(10, uuid),
        isInternal: since(1, boolean, false),
        partitions: array(
          struct({
            errorCode: int16,
            partitionIndex: int32,
            leaderId: int32,
            leaderEpoch: since(7, int32, -1),
            replicaNodes: array(int32),
            isrNodes: array(int32),
            offlineReplicas: since(5, array(int32)),
          }),
        ),
        topicAuthorizedOperations: since(8, int32, OPERATIONS_UNASKED),
      }),
    ),
    clusterAuthorizedOperations: between(8, 10, int32, OPERATIONS_UNASKED),
    errorCode: since(13, int16),
  },
})
