/**
 * Offsets of partitions by time or place, asked of their leaders, those of one leader in one
 * request.
 */
import { listOffsets as api } from '../apis/list-offsets.js'
import type { Cluster } from './cluster.js'
import { checkCode, isStale } from './errors.js'
import { retrying } from './retry.js'

/** Timestamps that stand for a place in the log. */
export const OffsetSpec = { LATEST: -1, EARLIEST: -2, MAX_TIMESTAMP: -3 } as const

export interface OffsetWish {
  topic: string
  partition: number
  /** ms since 1970: the first record at or after it; or an `OffsetSpec`. */
  timestamp: number
}

export interface FoundOffset extends OffsetWish {
  /** -1 where no record is that late. */
  offset: number
  /** Of the record that was found; -1 for a place. */
  foundTimestamp: number
}

const RETRY_MS = 10_000

/** In the order of the wishes. Rejects with BROKER_ERROR, or what a connection rejects with. */
export function listOffsets(
  cluster: Cluster,
  wishes: readonly OffsetWish[],
): Promise<FoundOffset[]> {
  return retrying(() => askOnce(cluster, wishes), {
    env: cluster.env,
    timeoutMs: RETRY_MS,
    failed(error) {
      if (isStale(error)) for (const { topic } of wishes) cluster.forgetTopic(topic)
    },
  })
}

async function askOnce(cluster: Cluster, wishes: readonly OffsetWish[]): Promise<FoundOffset[]> {
  const found = await Promise.all(
    [...(await byLeader(cluster, wishes))].map(([leader, own]) => askLeader(cluster, leader, own)),
  )
  const byPlace = new Map(found.flat().map((each) => [placeOf(each), each]))
  return wishes.flatMap((wish) => byPlace.get(placeOf(wish)) ?? [])
}

const placeOf = ({ topic, partition }: { topic: string; partition: number }) =>
  `${topic}-${partition}`

/** Groups what concerns partitions by the node ids of their leaders. */
export async function byLeader<T extends { topic: string; partition: number }>(
  cluster: Cluster,
  items: readonly T[],
): Promise<Map<number, T[]>> {
  const groups = new Map<number, T[]>()
  for (const item of items) {
    const leader = await cluster.leaderOf(item.topic, item.partition)
    const own = groups.get(leader)
    if (own) own.push(item)
    else groups.set(leader, [item])
  }
  return groups
}

/** Groups what concerns partitions by topic, as requests have it. */
export function byTopic<T extends { topic: string }>(items: readonly T[]): Map<string, T[]> {
  const topics = new Map<string, T[]>()
  for (const item of items) {
    const own = topics.get(item.topic)
    if (own) own.push(item)
    else topics.set(item.topic, [item])
  }
  return topics
}

async function askLeader(
  cluster: Cluster,
  leader: number,
  wishes: readonly OffsetWish[],
): Promise<FoundOffset[]> {
  const topics = [...byTopic(wishes)].map(([name, own]) => ({
    name,
    partitions: own.map(({ partition, timestamp }) => ({ partitionIndex: partition, timestamp })),
  }))
  const response = await cluster.request(leader, api, { replicaId: -1, topics })
  return response.topics.flatMap(({ name, partitions }) =>
    partitions.map((answer) => {
      const partition = answer.partitionIndex
      checkCode(answer.errorCode, `partition ${partition} of ${name}`)
      const wish = wishes.find((each) => each.topic === name && each.partition === partition)
      const timestamp = wish?.timestamp ?? OffsetSpec.LATEST
      const { offset, timestamp: foundTimestamp } = answer
      return { topic: name, partition, timestamp, offset, foundTimestamp }
    }),
  )
}
