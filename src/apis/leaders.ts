/**
 * Where the leader of a partition is, as Produce and Fetch tell a client that asked the wrong
 * broker (KIP-951).
 */
import { since, struct } from '../protocol/schema.js'
import { int32, nullable, string } from '../protocol/types.js'

export const currentLeader = struct({
  leaderId: since(0, int32, -1),
  leaderEpoch: since(0, int32, -1),
})

export const nodeEndpoint = struct({
  nodeId: int32,
  host: string,
  port: int32,
  rack: since(0, nullable(string), null),
})
