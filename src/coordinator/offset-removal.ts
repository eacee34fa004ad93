/**
 * Which committed offsets a group no longer needs. Decides; the coordinator has them removed.
 *
 * Offsets of a group that had members expire after it has been empty for offsets.retention.minutes,
 * not that long after the commit (KIP-211); those of a group without any, after their last commit.
 * While a group of consumers is stable, offsets of topics that nobody in it reads any more expire
 * that long after their commit. A retention time that a client names itself (OffsetCommit 2 to 4)
 * takes the place of the configured one.
 */
import { KafkaError, type KafkaErrorCode } from '../errors.js'
import type { Group } from './group.js'
import type { CommittedOffset, OffsetStore } from './offset-store.js'
import { subscribedTopics } from './subscription.js'

/** The offsets of a group that have outlived `retentionMs`. */
export function expiredOffsets(
  group: Group,
  store: OffsetStore,
  now: number,
  retentionMs: number,
): CommittedOffset[] {
  const read = topicsInUse(group)
  if (read === undefined) return []
  const isEmpty = group.state === 'Empty' && group.protocolType !== null
  const emptySince = isEmpty ? group.stateSince : 0
  return [...store.all(group.id)].filter(({ topic, commitTimestamp, expireTimestamp }) => {
    if (read.has(topic)) return false
    if (expireTimestamp !== undefined) return now >= expireTimestamp
    return now - Math.max(emptySince, commitTimestamp) >= retentionMs
  })
}

/** Topics whose offsets stay, however old; undefined where all of them do. */
function topicsInUse(group: Group): ReadonlySet<string> | undefined {
  if (group.state === 'Empty') return new Set()
  return group.state === 'Stable' ? subscribedTopics(group) : undefined
}

/** The offsets of a group in these topics. */
export function offsetsOf(
  groupId: string,
  store: OffsetStore,
  topics: ReadonlySet<string>,
): CommittedOffset[] {
  return [...store.all(groupId)].filter(({ topic }) => topics.has(topic))
}

/**
 * Which of these offsets somebody may delete now, and what he is told of each topic: those of a
 * topic that a member reads stay.
 */
export function deletableOffsets(
  group: Group,
  store: OffsetStore,
  partitions: readonly { topic: string; partition: number }[],
): { gone: CommittedOffset[]; errorOf: (topic: string) => KafkaErrorCode } {
  const read = subscribedTopics(group)
  const isRead = (topic: string) => read?.has(topic) ?? true
  const gone = partitions
    .filter(({ topic }) => !isRead(topic))
    .flatMap(({ topic, partition }) => store.get(group.id, topic, partition) ?? [])
  const errorOf = (topic: string) =>
    isRead(topic) ? KafkaError.GROUP_SUBSCRIBED_TO_TOPIC : KafkaError.NONE
  return { gone, errorOf }
}
