/**
 * Every API for which there is a table, by key and by name. The versions here are those that the
 * tables can read and write; which of them a broker serves and advertises, its handlers say.
 */
import type { AnyApi } from '../protocol/schema.js'
import { alterConfigs } from './alter-configs.js'
import { alterPartitionReassignments } from './alter-partition-reassignments.js'
import { alterReplicaLogDirs } from './alter-replica-log-dirs.js'
import { apiVersions } from './api-versions.js'
import { alterClientQuotas, describeClientQuotas } from './client-quotas.js'
import { createPartitions } from './create-partitions.js'
import { createTopics } from './create-topics.js'
import { deleteGroups } from './delete-groups.js'
import { deleteRecords } from './delete-records.js'
import { deleteTopics } from './delete-topics.js'
import { describeCluster } from './describe-cluster.js'
import { describeConfigs } from './describe-configs.js'
import { describeGroups } from './describe-groups.js'
import { describeLogDirs } from './describe-log-dirs.js'
import { describeProducers } from './describe-producers.js'
import { describeTopicPartitions } from './describe-topic-partitions.js'
import { electLeaders } from './elect-leaders.js'
import { fetch } from './fetch.js'
import { findCoordinator } from './find-coordinator.js'
import { heartbeat } from './heartbeat.js'
import { incrementalAlterConfigs } from './incremental-alter-configs.js'
import { initProducerId } from './init-producer-id.js'
import { joinGroup } from './join-group.js'
import { leaveGroup } from './leave-group.js'
import { listGroups } from './list-groups.js'
import { listOffsets } from './list-offsets.js'
import { listPartitionReassignments } from './list-partition-reassignments.js'
import { metadata } from './metadata.js'
import { offsetCommit } from './offset-commit.js'
import { offsetDelete } from './offset-delete.js'
import { offsetFetch } from './offset-fetch.js'
import { offsetForLeaderEpoch } from './offset-for-leader-epoch.js'
import { produce } from './produce.js'
import { syncGroup } from './sync-group.js'

/** In the order of their keys. */
export const apis: readonly AnyApi[] = [
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
  describeGroups,
  listGroups,
  apiVersions,
  createTopics,
  deleteTopics,
  deleteRecords,
  initProducerId,
  offsetForLeaderEpoch,
  describeConfigs,
  alterConfigs,
  alterReplicaLogDirs,
  describeLogDirs,
  createPartitions,
  deleteGroups,
  electLeaders,
  incrementalAlterConfigs,
  alterPartitionReassignments,
  listPartitionReassignments,
  offsetDelete,
  describeClientQuotas,
  alterClientQuotas,
  describeCluster,
  describeProducers,
  describeTopicPartitions,
]

const byKey: (AnyApi | undefined)[] = []
for (const api of apis) byKey[api.key] = api
const byName = new Map(apis.map((api) => [api.name, api]))

/** The table of an API, or undefined for a key that has none. */
export function apiByKey(key: number): AnyApi | undefined {
  return byKey[key]
}

/** The table of an API by Kafka's name for it, such as 'Fetch'. */
export function apiByName(name: string): AnyApi | undefined {
  return byName.get(name)
}
