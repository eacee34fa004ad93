/** Every handler by the key of its API: what this broker serves, and what ApiVersions says. */
import { alterConfigs, incrementalAlterConfigs } from './alter-configs.js'
import { apiVersions } from './api-versions.js'
import { alterQuotas, describeQuotas } from './client-quotas.js'
import { createPartitions } from './create-partitions.js'
import { createTopics } from './create-topics.js'
import { deleteTopics } from './delete-topics.js'
import { describeCluster } from './describe-cluster.js'
import { describeConfigs } from './describe-configs.js'
import { describeProducers } from './describe-producers.js'
import { describeTopicPartitions } from './describe-topic-partitions.js'
import {
  alterPartitionReassignments,
  electLeaders,
  listPartitionReassignments,
} from './elect-leaders.js'
import { fetch } from './fetch.js'
import { findCoordinator } from './find-coordinator.js'
import { deleteGroups, describeGroups, listGroups } from './group-admin.js'
import { heartbeat, joinGroup, leaveGroup, syncGroup } from './group-membership.js'
import { offsetCommit, offsetFetch } from './group-offsets.js'
import type { Handler } from './handler.js'
import { initProducerId } from './init-producer-id.js'
import { listOffsets } from './list-offsets.js'
import { alterReplicaLogDirs, describeLogDirs } from './log-dirs.js'
import { metadata } from './metadata.js'
import { offsetDelete } from './offset-delete.js'
import { offsetForLeaderEpoch } from './offset-for-leader-epoch.js'
import { produce } from './produce.js'

const list: Handler[] = [
  produce,
  fetch,
  listOffsets,
  metadata,
  offsetCommit,
  offsetFetch,
  findCoordinator,
  joinGroup,
  heartbeat,
  leaveGroup,
  syncGroup,
  apiVersions(() => list),
  createTopics,
  createPartitions,
  initProducerId,
  deleteTopics,
  describeConfigs,
  alterConfigs,
  incrementalAlterConfigs,
  describeCluster,
  listGroups,
  describeGroups,
  deleteGroups,
  electLeaders,
  listPartitionReassignments,
  alterPartitionReassignments,
  alterReplicaLogDirs,
  describeLogDirs,
  describeQuotas,
  alterQuotas,
  offsetForLeaderEpoch,
  offsetDelete,
  describeProducers,
  describeTopicPartitions,
]

export const handlers: ReadonlyMap<number, Handler> = new Map(
  list.map((handler) => [handler.api.key, handler]),
)
