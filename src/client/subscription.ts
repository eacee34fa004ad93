/**
 * What members of a consumer group say of themselves and are told, in the form of Kafka's consumer
 * protocol: the topics that they want, and the partitions that they have. The bytes come from other
 * clients by way of the broker, so that nothing of them is trusted: what cannot be read is empty.
 */
import { Reader } from '../protocol/bytes.js'
import { struct } from '../protocol/schema.js'
import { array, int16, int32, string } from '../protocol/types.js'

export interface Subscription {
  topics: string[]
  assignment: { topic: string; partition: number }[]
}

const plain = { version: 0, flexible: false, nullable: false }
// Both begin the same in every version; what newer ones add stands behind.
const subscription = struct({ version: int16, topics: array(string) }).compile(plain)
const assignment = struct({
  version: int16,
  topics: array(struct({ topic: string, partitions: array(int32) })),
}).compile(plain)

/** Of a member of a group with this protocol type; empty where that is not `consumer`. */
export function subscriptionOf(
  protocolType: string,
  metadata: Uint8Array,
  assigned: Uint8Array,
): Subscription {
  if (protocolType !== 'consumer') return { topics: [], assignment: [] }
  const wanted = readable(metadata, (reader) => subscription.read(reader).topics)
  const given = readable(assigned, (reader) => assignment.read(reader).topics)
  return {
    topics: [...(wanted ?? [])],
    assignment: (given ?? []).flatMap(({ topic, partitions }) =>
      partitions.map((partition) => ({ topic, partition })),
    ),
  }
}

function readable<T>(bytes: Uint8Array, read: (reader: Reader) => T): T | undefined {
  if (bytes.length === 0) return undefined
  try {
    return read(new Reader(bytes))
  } catch {
    return undefined
  }
}
