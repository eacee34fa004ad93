/**
 * Reads partitions from their leaders, by fetch requests without a session: one under way to each
 * leader at a time, for all that is read from it. Positions are kept here and move with the batches
 * that are given out; groups and commits are left to others.
 *
 * A leader that moved is looked up anew. A position outside of the log is the caller's business,
 * who decides where to go on.
 */
import { fetch } from '../apis/fetch.js'
import { KafkaError } from '../errors.js'
import { type Batch, iterateBatches } from '../records/index.js'
import type { Cluster } from './cluster.js'
import { BrokerError, isRetriable, isStale } from './errors.js'
import { byLeader, byTopic } from './offsets.js'
import { pause } from './retry.js'

export interface ReaderOptions {
  /** ms that a broker waits for `minBytes`; default 500. */
  maxWaitMs?: number
  minBytes?: number
  /** Of one answer; default 50 MiB. */
  maxBytes?: number
  /** Of one partition in it; default 1 MiB. A larger batch comes whole (KIP-74). */
  partitionMaxBytes?: number
}

/** A partition that is being read. */
export interface ReadPartition {
  readonly topic: string
  readonly partition: number
  /** The next offset to read. */
  position: number
  /** -1 until an answer told it. */
  highWatermark: number
  logStartOffset: number
}

export interface FetchedBatch {
  from: ReadPartition
  batch: Batch
}

/** Between two attempts when nothing could be read. */
const PAUSE_MS = 100
/** From version 13 on topics go by id alone. */
const BY_NAME = 12
/** ms in which a leader must have been found. */
const LOST_MS = 15_000

export class PartitionReader {
  readonly #cluster: Cluster
  readonly #options: Required<ReaderOptions>
  readonly partitions: ReadPartition[] = []
  #turn = 0
  #failingSinceMs: number | undefined

  constructor(cluster: Cluster, options: ReaderOptions = {}) {
    this.#cluster = cluster
    this.#options = {
      maxWaitMs: options.maxWaitMs ?? 500,
      minBytes: options.minBytes ?? 1,
      maxBytes: options.maxBytes ?? 50 * 1024 * 1024,
      partitionMaxBytes: options.partitionMaxBytes ?? 1024 * 1024,
    }
  }

  add(topic: string, partition: number, position: number): ReadPartition {
    const added = { topic, partition, position, highWatermark: -1, logStartOffset: -1 }
    this.partitions.push(added)
    return added
  }

  /**
   * Fetches once from every leader, at most `maxWaitMs` long, and gives the batches that came.
   * Rejects with BROKER_ERROR (OFFSET_OUT_OF_RANGE with the partition in the text), and with what
   * lasts longer than 15 s.
   */
  async poll(maxWaitMs = this.#options.maxWaitMs): Promise<FetchedBatch[]> {
    // Whoever comes first in an answer gets the most of it.
    this.#turn = (this.#turn + 1) % Math.max(1, this.partitions.length)
    const order = [...this.partitions.slice(this.#turn), ...this.partitions.slice(0, this.#turn)]
    try {
      const leaders = await byLeader(this.#cluster, order)
      const waitMs = leaders.size > 1 ? Math.min(maxWaitMs, PAUSE_MS) : maxWaitMs
      const answers = await Promise.all(
        [...leaders].map(([leader, own]) => this.#fetch(leader, own, waitMs)),
      )
      this.#failingSinceMs = undefined
      return answers.flat()
    } catch (error) {
      const nowMs = this.#cluster.env.monotonic()
      this.#failingSinceMs ??= nowMs
      if (!isRetriable(error) || nowMs - this.#failingSinceMs > LOST_MS) throw error
      if (isStale(error)) for (const { topic } of order) this.#cluster.forgetTopic(topic)
      await pause(this.#cluster.env, PAUSE_MS)
      return []
    }
  }

  async #fetch(leader: number, own: ReadPartition[], maxWaitMs: number): Promise<FetchedBatch[]> {
    const { minBytes, maxBytes, partitionMaxBytes } = this.#options
    const topics = [...byTopic(own)].map(([topic, partitions]) => ({
      topic,
      partitions: partitions.map(({ partition, position }) => ({
        partition,
        fetchOffset: position,
        partitionMaxBytes,
      })),
    }))
    const body = { maxWaitMs, minBytes, maxBytes, topics }
    const options = { versionMax: BY_NAME, waitMs: maxWaitMs }
    const response = await this.#cluster.request(leader, fetch, body, options)
    const found: FetchedBatch[] = []
    let failed: BrokerError | undefined
    if (response.errorCode !== 0) throw new BrokerError(response.errorCode, 'fetch')
    for (const { topic, partitions } of response.responses) {
      for (const answer of partitions) {
        const from = own.find(
          (each) => each.topic === topic && each.partition === answer.partitionIndex,
        )
        if (!from) continue
        failed ??= errorOf(from, answer.errorCode)
        if (answer.errorCode !== 0) continue
        from.highWatermark = answer.highWatermark
        from.logStartOffset = answer.logStartOffset
        if (answer.records) found.push(...this.#batches(from, answer.records))
      }
    }
    // What others of the answer hold is given out; who failed is asked again and fails again.
    if (failed && found.length === 0) throw failed
    return found
  }

  #batches(from: ReadPartition, records: Uint8Array): FetchedBatch[] {
    const found: FetchedBatch[] = []
    try {
      for (const batch of iterateBatches(records)) {
        if (batch.header.lastOffset >= from.position) found.push({ from, batch })
      }
    } catch (error) {
      // What stands before the damage is given out; the next answer begins with it.
      if (found.length === 0) throw error
    }
    return found
  }
}

function errorOf({ topic, partition, position }: ReadPartition, code: number) {
  if (code === KafkaError.NONE) return undefined
  return new BrokerError(code, `partition ${partition} of ${topic} at offset ${position}`)
}
