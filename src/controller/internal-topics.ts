/** Topics that the brokers keep for themselves: clients see them and do not write to them. */
import type { BrokerConfig } from '../config.js'
import type { TopicWish } from './topics.js'

export const OFFSETS_TOPIC = '__consumer_offsets'
export const TRANSACTIONS_TOPIC = '__transaction_state'

export function isInternal(topic: string): boolean {
  return topic === OFFSETS_TOPIC || topic === TRANSACTIONS_TOPIC
}

/**
 * How Kafka makes a topic of its own, whoever asks for it first: of a group, an offset or a
 * transactional id the last record alone counts. Undefined for a name that is not internal.
 */
export function internalTopic(name: string, config: BrokerConfig): TopicWish | undefined {
  switch (name) {
    case OFFSETS_TOPIC:
      return {
        name,
        partitionCount: config.get('offsets.topic.num.partitions'),
        replicationFactor: config.get('offsets.topic.replication.factor'),
        configs: {
          'cleanup.policy': 'compact',
          'compression.type': 'producer',
          'segment.bytes': String(config.get('offsets.topic.segment.bytes')),
        },
      }
    case TRANSACTIONS_TOPIC:
      return {
        name,
        partitionCount: config.get('transaction.state.log.num.partitions'),
        replicationFactor: 1,
        configs: {
          'cleanup.policy': 'compact',
          'compression.type': 'uncompressed',
          'min.insync.replicas': '1',
          'segment.bytes': '104857600',
          'unclean.leader.election.enable': 'false',
        },
      }
    default:
      return undefined
  }
}
