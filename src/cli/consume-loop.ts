/**
 * The loop of `seglog consume`: where each partition begins, the records as they come, when it is
 * over, and what is committed. What was written and passed on is committed, and nothing else: after
 * a kill, a group sees again what came after its last commit.
 */
import { commitOffsets, committedOffsets } from '../client/admin-groups.js'
import type { Cluster } from '../client/cluster.js'
import { BrokerError } from '../client/errors.js'
import { listOffsets, OffsetSpec } from '../client/offsets.js'
import {
  type FetchedBatch,
  PartitionReader,
  type ReadPartition,
} from '../client/partition-reader.js'
import { retrying } from '../client/retry.js'
import type { Env } from '../env.js'
import { KafkaError, SeglogError } from '../errors.js'
import { iterateRecords } from '../records/index.js'
import type { ByteOutput } from './byte-output.js'
import { type ConsumeFormat, formatRecord } from './consume-format.js'

export type StartAt = 'earliest' | 'latest' | { offset: number }

export interface ConsumeWish {
  topic: string
  /** One of them, else all. */
  partition: number | undefined
  startAt: StartAt
  group: string | undefined
  messagesMax: number
  timeoutMs: number
  toEnd: boolean
  format: ConsumeFormat
  /** Takes what the reader is to know and is no record. */
  note(line: string): void
}

const COMMIT_MS = 5000
/** A stop is noticed at the latest behind a fetch that waits so long, ms. */
const WAIT_MS = 500
/** ms in which a topic must be known. */
const TOPIC_MS = 3000

export async function consume(
  cluster: Cluster,
  wish: ConsumeWish,
  output: ByteOutput,
  stop: AbortSignal,
  env: Env,
): Promise<void> {
  const reader = new PartitionReader(cluster)
  const ends = await begin(cluster, reader, wish)
  const commits = new Commits(cluster, wish.group, env)
  const writer = new RecordWriter(wish, output)
  let lastMs = env.monotonic()
  const isOver = () =>
    stop.aborted ||
    output.closed ||
    writer.count >= wish.messagesMax ||
    (wish.toEnd && reader.partitions.every((each) => each.position >= (ends.get(each) ?? 0)))
  while (!isOver()) {
    const leftMs = wish.timeoutMs - (env.monotonic() - lastMs)
    if (leftMs <= 0) break
    const batches = await poll(cluster, reader, Math.min(WAIT_MS, leftMs), wish)
    for (const fetched of batches) {
      const before = writer.count
      await writer.write(fetched, wish.toEnd ? ends.get(fetched.from) : undefined)
      if (writer.count > before) lastMs = env.monotonic()
      if (isOver()) break
    }
    await output.flush()
    if (!output.closed) await commits.commit(reader.partitions)
  }
  await output.flush()
  if (!output.closed) await commits.commit(reader.partitions, true)
}

/** A position below the log's start, as retention moves it, goes on at the start. */
async function poll(
  cluster: Cluster,
  reader: PartitionReader,
  waitMs: number,
  { topic, note }: ConsumeWish,
): Promise<FetchedBatch[]> {
  try {
    return await reader.poll(Math.ceil(waitMs))
  } catch (error) {
    const isOutside =
      error instanceof BrokerError && error.kafkaCode === KafkaError.OFFSET_OUT_OF_RANGE
    if (!isOutside) throw error
    let moved = false
    for (const each of reader.partitions) {
      const start = await offsetAt(cluster, each, OffsetSpec.EARLIEST)
      if (each.position >= start) continue
      const gone = `offsets ${each.position} to ${start - 1} are no longer there`
      note(`partition ${each.partition} of ${topic}: ${gone}`)
      each.position = start
      moved = true
    }
    if (!moved) throw error
    return []
  }
}

async function offsetAt(
  cluster: Cluster,
  { topic, partition }: ReadPartition,
  timestamp: number,
): Promise<number> {
  const [found] = await listOffsets(cluster, [{ topic, partition, timestamp }])
  return found?.offset ?? 0
}

/** Adds the partitions to the reader, and gives their ends. */
async function begin(cluster: Cluster, reader: PartitionReader, wish: ConsumeWish) {
  const { topic, partition, startAt, group } = wish
  const known = await retrying(() => cluster.topic(topic), {
    env: cluster.env,
    timeoutMs: TOPIC_MS,
  })
  const all = known.partitions.map(({ index }) => index)
  if (partition !== undefined && !all.includes(partition)) {
    const text = `${topic} has partitions 0 to ${all.length - 1}, and none of ${partition}`
    throw new SeglogError('NOT_FOUND', text)
  }
  const indexes = partition === undefined ? all : [partition]
  const at = async (timestamp: number) => {
    const wishes = indexes.map((each) => ({ topic, partition: each, timestamp }))
    return new Map(
      (await listOffsets(cluster, wishes)).map((each) => [each.partition, each.offset]),
    )
  }
  const [starts, ends] = [await at(OffsetSpec.EARLIEST), await at(OffsetSpec.LATEST)]
  const committed = group === undefined ? [] : await committedOffsets(cluster, group)
  const endOf = new Map<ReadPartition, number>()
  for (const index of indexes) {
    const [start = 0, end = 0] = [starts.get(index), ends.get(index)]
    const own = committed.find((each) => each.topic === topic && each.partition === index)?.offset
    const position = own ?? positionOf(startAt, start, end)
    if (position < start || position > end) {
      const what = `partition ${index} of ${topic}`
      if (own === undefined || position > end) {
        const text = `${what} holds offsets ${start} to ${end}, and ${position} is outside of them`
        throw new SeglogError('OFFSET_OUT_OF_RANGE', text)
      }
    }
    endOf.set(reader.add(topic, index, position), end)
  }
  return endOf
}

function positionOf(startAt: StartAt, start: number, end: number): number {
  if (startAt === 'earliest') return start
  return startAt === 'latest' ? end : startAt.offset
}

/** Writes records, and moves the positions behind them. */
class RecordWriter {
  readonly #wish: ConsumeWish
  readonly #output: ByteOutput
  count = 0

  constructor(wish: ConsumeWish, output: ByteOutput) {
    this.#wish = wish
    this.#output = output
  }

  async write({ from, batch }: FetchedBatch, end = Number.POSITIVE_INFINITY): Promise<void> {
    const { topic, format, messagesMax } = this.#wish
    const { partition } = from
    if (!batch.header.isControl) {
      for (const record of iterateRecords(batch)) {
        if (record.offset < from.position || record.offset >= end) continue
        if (this.count >= messagesMax || this.#output.closed) return
        this.#output.write(formatRecord({ topic, partition, record, batch }, format))
        this.count++
        from.position = record.offset + 1
        if (this.#output.full) await this.#output.flush()
      }
    }
    // What lies behind the end was not printed, and is not passed either.
    from.position = Math.max(from.position, Math.min(batch.header.lastOffset + 1, end))
  }
}

/** What a group has read, committed now and then. */
class Commits {
  readonly #cluster: Cluster
  readonly #group: string | undefined
  readonly #env: Env
  readonly #done = new Map<ReadPartition, number>()
  #lastMs: number

  constructor(cluster: Cluster, group: string | undefined, env: Env) {
    this.#cluster = cluster
    this.#group = group
    this.#env = env
    this.#lastMs = env.monotonic()
  }

  async commit(partitions: readonly ReadPartition[], isLast = false): Promise<void> {
    const group = this.#group
    const nowMs = this.#env.monotonic()
    if (group === undefined || (!isLast && nowMs - this.#lastMs < COMMIT_MS)) return
    this.#lastMs = nowMs
    const moved = partitions.filter((each) => this.#done.get(each) !== each.position)
    if (moved.length === 0) return
    const offsets = moved.map(({ topic, partition, position }) => ({
      topic,
      partition,
      offset: position,
    }))
    await commitOffsets(this.#cluster, group, offsets)
    for (const each of moved) this.#done.set(each, each.position)
  }
}
