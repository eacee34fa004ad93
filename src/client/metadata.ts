/**
 * An answer to Metadata in the client's own words. A picture of one moment, never changed.
 */
import type { metadata } from '../apis/metadata.js'
import type { ResponseOf } from '../protocol/schema.js'

type Response = ResponseOf<typeof metadata>

export interface BrokerMetadata {
  readonly id: number
  readonly host: string
  readonly port: number
  readonly rack: string | null
}

export interface PartitionMetadata {
  readonly index: number
  readonly errorCode: number
  /** -1: none. */
  readonly leaderId: number
  /** -1: not told. */
  readonly leaderEpoch: number
  readonly replicas: readonly number[]
  readonly isr: readonly number[]
  readonly offlineReplicas: readonly number[]
}

export interface TopicMetadata {
  readonly name: string
  /** Base64url; all zero where the broker tells none. */
  readonly topicId: string
  readonly errorCode: number
  readonly isInternal: boolean
  /** In the order of their indexes. */
  readonly partitions: readonly PartitionMetadata[]
}

export class Metadata {
  readonly brokers: readonly BrokerMetadata[]
  readonly clusterId: string | null
  /** -1: none is known. */
  readonly controllerId: number
  /** In the order of their names. */
  readonly topics: readonly TopicMetadata[]

  constructor(response: Response) {
    this.brokers = response.brokers.map(({ nodeId, ...rest }) => ({ id: nodeId, ...rest }))
    this.clusterId = response.clusterId
    this.controllerId = response.controllerId
    this.topics = response.topics.map(topicOf).sort((a, b) => (a.name < b.name ? -1 : 1))
  }

  topic(name: string): TopicMetadata | undefined {
    return this.topics.find((topic) => topic.name === name)
  }
}

function topicOf(topic: Response['topics'][number]): TopicMetadata {
  const partitions = topic.partitions.map((partition) => ({
    index: partition.partitionIndex,
    errorCode: partition.errorCode,
    leaderId: partition.leaderId,
    leaderEpoch: partition.leaderEpoch,
    replicas: partition.replicaNodes,
    isr: partition.isrNodes,
    offlineReplicas: partition.offlineReplicas,
  }))
  return {
    name: topic.name ?? '',
    topicId: topic.topicId,
    errorCode: topic.errorCode,
    isInternal: topic.isInternal,
    partitions: partitions.sort((a, b) => a.index - b.index),
  }
}
