/**
 * FindCoordinator: the broker that looks after a group (key type 0), a transactional id (1) or a
 * share partition (2). Several keys at once from version 4 on (KIP-699).
 */
import { api, between, since, struct } from '../protocol/schema.js'
import { array, int8, int16, int32, nullable, string } from '../protocol/types.js'

export const findCoordinator = api({
  key: 10,
  name: 'FindCoordinator',
  versions: [0, 6],
  flexible: 3,
  request: {
    key: between(0, 3, string),
    keyType: since(1, int8, 0),
    coordinatorKeys: since(4, array(string)),
  },
  response: {
    throttleTimeMs: since(1, int32),
    errorCode: between(0, 3, int16),
    errorMessage: between(1, 3, nullable(string)),
    nodeId: between(0, 3, int32),
    host: between(0, 3, string),
    port: between(0, 3, int32),
    coordinators: since(
      4,
      array(
        struct({
          key: string,
          nodeId: int32,
          host: string,
          port: int32,
          errorCode: int16,
          errorMessage: nullable(string),
        }),
      ),
    ),
  },
})
