/**
 * Which topics the members of a group read, by what consumers say of themselves when they join: a
 * version, then the topics (ConsumerProtocolSubscription). Bytes are the members' own affair, so
 * what cannot be read is no error: then nobody knows.
 */
import { Reader } from '../protocol/bytes.js'
import { message } from '../protocol/schema.js'
import { array, string } from '../protocol/types.js'
import type { Group } from './group.js'

/** What later versions add follows behind. */
const subscription = message({
  name: 'subscription',
  versions: [0, 0],
  fields: { topics: array(string) },
})

/** Undefined where that is not known: another protocol, or none chosen yet. */
export function subscribedTopics(group: Group): Set<string> | undefined {
  if (group.members.size === 0) return new Set()
  if (group.protocolType !== 'consumer' || group.protocolName === null) return undefined
  const topics = new Set<string>()
  try {
    for (const member of group.members.values()) {
      const reader = new Reader(member.metadata(group.protocolName))
      reader.int16()
      for (const topic of subscription.read(reader, 0).topics) topics.add(topic)
    }
  } catch {
    return undefined
  }
  return topics
}
