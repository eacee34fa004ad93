/**
 * What a handler may reach: the broker's parts, and the request's own circumstances. A handler
 * keeps no state of its own between requests.
 */
import type { BrokerConfig } from '../config.js'
import type { BrokerChanges } from '../controller/broker-changes.js'
import type { ProducerIds } from '../controller/producer-ids.js'
import type { Topics } from '../controller/topics.js'
import type { GroupCoordinator } from '../coordinator/group-coordinator.js'
import type { TransactionalIds } from '../coordinator/transactional-ids.js'
import type { TreeOffsets } from '../coordinator/tree-offsets.js'
import type { Env } from '../env.js'
import type { Replicas } from '../replication/replicas.js'
import type { Turns } from '../replication/turns.js'
import type { Deadlines } from '../replication/waiting.js'
import type { FetchSessions } from './fetch-sessions.js'

/** Where clients reach this broker, as told to those of one listener. */
export interface Endpoint {
  host: string
  port: number
}

export interface BrokerContext {
  readonly brokerId: number
  readonly clusterId: string
  readonly config: BrokerConfig
  readonly env: Env
  readonly replicas: Replicas
  readonly topics: Topics
  readonly brokerChanges: BrokerChanges
  readonly groups: GroupCoordinator
  readonly treeOffsets: TreeOffsets
  readonly producerIds: ProducerIds
  readonly transactionalIds: TransactionalIds
  readonly fetchSessions: FetchSessions
  readonly deadlines: Deadlines
  /** For what decompresses records. */
  readonly turns: Turns
}

export interface RequestContext extends BrokerContext {
  readonly version: number
  readonly clientId: string | null
  /** Advertised to clients that came by this request's listener. */
  readonly endpoint: Endpoint
  /** `/` and the peer's address, as Kafka shows it. */
  readonly clientHost: string
  /** Calls back when the client has gone; the result unsubscribes. */
  onClose(callback: () => void): () => void
}
