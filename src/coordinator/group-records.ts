/**
 * The records of `__consumer_offsets`, as Kafka has them: what a group has committed, and what a
 * group is. A key begins with its kind as an int16; a record without a value takes away what its
 * key names. Values are written in versions that every Kafka since 2.1 reads.
 *
 *   key 0, 1   group, topic, partition     value 0 to 4   offset, epoch, metadata, times
 *   key 2      group                       value 0 to 4   protocol, generation, leader, members
 *
 * Kinds that are not of classic groups are skipped, and so is what cannot be read: one bad record
 * must not cost the others.
 */
import { Reader, Writer } from '../protocol/bytes.js'
import { between, type Message, message, since, struct, tagged } from '../protocol/schema.js'
import {
  array,
  bytes,
  int32,
  int64,
  int64Clamped,
  nullable,
  string,
  uuid,
} from '../protocol/types.js'
import type { RecordInput } from '../records/record.js'
import type { CommittedOffset } from './offset-store.js'

const offsetKey = message({
  name: 'offset commit key',
  versions: [0, 1],
  fields: { group: string, topic: string, partition: int32 },
})

const offsetValue = message({
  name: 'offset commit value',
  versions: [0, 4],
  flexible: 4,
  fields: {
    offset: int64,
    leaderEpoch: since(3, int32, -1),
    metadata: string,
    commitTimestamp: int64Clamped,
    expireTimestamp: between(1, 1, int64Clamped, -1),
    topicId: tagged(0, 4, uuid),
  },
})

const groupKey = message({ name: 'group key', versions: [2, 2], fields: { group: string } })

const groupValue = message({
  name: 'group value',
  versions: [0, 4],
  flexible: 4,
  fields: {
    protocolType: string,
    generation: int32,
    protocol: nullable(string),
    leader: nullable(string),
    currentStateTimestamp: since(2, int64Clamped, -1),
    members: array(
      struct({
        memberId: string,
        groupInstanceId: since(3, nullable(string), null),
        clientId: string,
        clientHost: string,
        rebalanceTimeout: since(1, int32, -1),
        sessionTimeout: int32,
        subscription: bytes,
        assignment: bytes,
      }),
    ),
  },
})

/** The first version with a leader epoch. */
const OFFSET_VALUE = 3
/** The only version with an expiry of its own. */
const EXPIRING_OFFSET_VALUE = 1
/** The last one that is not flexible. */
const GROUP_VALUE = 3

export interface StoredMember {
  memberId: string
  groupInstanceId: string | null
  clientId: string
  clientHost: string
  /** ms; -1 where it was not written. */
  rebalanceTimeout: number
  /** ms */
  sessionTimeout: number
  subscription: Uint8Array
  assignment: Uint8Array
}

/** A group as it stands in the topic. */
export interface StoredGroup {
  protocolType: string
  generation: number
  protocol: string | null
  leader: string | null
  /** ms since 1970; -1 where it was not written. */
  currentStateTimestamp: number
  members: readonly StoredMember[]
}

export type OffsetPlace = Pick<CommittedOffset, 'topic' | 'partition'>

export type GroupRecord =
  | { kind: 'offset'; groupId: string; place: OffsetPlace; committed: CommittedOffset | null }
  | { kind: 'group'; groupId: string; group: StoredGroup | null }

/** Bytes alone: none of these tables has records in it, which could be slices of a file. */
function encoded<T, I>(type: Message<T, I>, version: number, value: I): Buffer {
  const writer = new Writer(256)
  writer.int16(version)
  type.write(writer, version, value)
  return Buffer.concat(writer.finish() as Uint8Array[])
}

function keyOf(groupId: string, { topic, partition }: OffsetPlace): Buffer {
  return encoded(offsetKey, 1, { group: groupId, topic, partition })
}

/** The record of a commit. */
export function offsetRecord(groupId: string, committed: CommittedOffset): RecordInput {
  const { expireTimestamp } = committed
  const version = expireTimestamp === undefined ? OFFSET_VALUE : EXPIRING_OFFSET_VALUE
  const value = encoded(offsetValue, version, committed)
  return { key: keyOf(groupId, committed), value }
}

/** The record that takes a commit away. */
export function offsetTombstone(groupId: string, place: OffsetPlace): RecordInput {
  return { key: keyOf(groupId, place), value: null }
}

/** The record of a group, or with null the one that takes it away. */
export function groupRecord(groupId: string, group: StoredGroup | null): RecordInput {
  const key = encoded(groupKey, 2, { group: groupId })
  return { key, value: group && encoded(groupValue, GROUP_VALUE, group) }
}

/** Reads a record; undefined where it is of another kind or cannot be read. */
export function readGroupRecord(
  key: Uint8Array | null,
  value: Uint8Array | null,
): GroupRecord | undefined {
  if (key === null) return undefined
  try {
    const reader = new Reader(key)
    const kind = reader.int16()
    if (kind === 0 || kind === 1) return readOffset(offsetKey.read(reader, kind), value)
    if (kind !== 2) return undefined
    return { kind: 'group', groupId: groupKey.read(reader, kind).group, group: readGroup(value) }
  } catch {
    return undefined
  }
}

function readOffset(
  { group: groupId, topic, partition }: OffsetPlace & { group: string },
  value: Uint8Array | null,
): GroupRecord {
  const place = { topic, partition }
  if (value === null) return { kind: 'offset', groupId, place, committed: null }
  const reader = new Reader(value)
  const stored = offsetValue.read(reader, reader.int16())
  const { offset, leaderEpoch, metadata, commitTimestamp, expireTimestamp } = stored
  const expiry = expireTimestamp >= 0 ? { expireTimestamp } : {}
  const committed = { ...place, offset, leaderEpoch, metadata, commitTimestamp, ...expiry }
  return { kind: 'offset', groupId, place, committed }
}

function readGroup(value: Uint8Array | null): StoredGroup | null {
  if (value === null) return null
  const reader = new Reader(value)
  return groupValue.read(reader, reader.int16())
}

/**
 * The partition of the topic that a group belongs to: Java's hash of its name without the sign, as
 * in Kafka, which looks for a group nowhere else.
 */
export function partitionOf(groupId: string, partitionCount: number): number {
  let hash = 0
  for (let at = 0; at < groupId.length; at++) {
    hash = (Math.imul(hash, 31) + groupId.charCodeAt(at)) | 0
  }
  // The one number that has no positive counterpart is 0.
  return (hash === -0x8000_0000 ? 0 : Math.abs(hash)) % partitionCount
}
