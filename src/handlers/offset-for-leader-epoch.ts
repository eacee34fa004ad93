/**
 * OffsetForLeaderEpoch: where a leader epoch ended (KIP-101, KIP-320). The present one ends where
 * the log does, also while nothing was written in it; one that nobody knows has no end, which is no
 * error.
 */
import { offsetForLeaderEpoch as api } from '../apis/offset-for-leader-epoch.js'
import { KafkaError, type KafkaErrorCode } from '../errors.js'
import type { RequestOf } from '../protocol/schema.js'
import type { Partition } from '../replication/partition.js'
import { handler } from './handler.js'

type Wish = RequestOf<typeof api>['topics'][number]['partitions'][number]

export const offsetForLeaderEpoch = handler(api, [0, 4], ({ topics }, { replicas }) => ({
  throttleTimeMs: 0,
  topics: topics.map(({ topic, partitions }) => ({
    topic,
    partitions: partitions.map((wish) => find(wish, replicas.partition(topic, wish.partition))),
  })),
}))

function find(wish: Wish, partition: Partition | undefined) {
  const none = (errorCode: KafkaErrorCode) => {
    return { errorCode, partition: wish.partition, leaderEpoch: -1, endOffset: -1 }
  }
  if (!partition) return none(KafkaError.UNKNOWN_TOPIC_OR_PARTITION)
  const { leaderEpoch, log } = partition
  const { currentLeaderEpoch } = wish
  if (currentLeaderEpoch >= 0 && currentLeaderEpoch !== leaderEpoch) {
    const old = currentLeaderEpoch < leaderEpoch
    return none(old ? KafkaError.FENCED_LEADER_EPOCH : KafkaError.UNKNOWN_LEADER_EPOCH)
  }
  if (wish.leaderEpoch === leaderEpoch) {
    return { ...none(KafkaError.NONE), leaderEpoch, endOffset: log.endOffset }
  }
  const { epoch, endOffset } = log.epochs.endOffsetFor(wish.leaderEpoch, log.endOffset)
  return { ...none(KafkaError.NONE), leaderEpoch: epoch, endOffset }
}
