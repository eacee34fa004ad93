/**
 * Sends batches to the leaders of partitions, one at a time, and again until they are in or the
 * time is up. With acks=all a producer id keeps a batch that is sent twice from being stored twice
 * (KIP-98); with fewer, one that was sent again may be.
 */
import { initProducerId } from '../apis/init-producer-id.js'
import { produce } from '../apis/produce.js'
import { buildBatch, type CompressionName, type RecordInput } from '../records/index.js'
import type { Cluster } from './cluster.js'
import { checkCode, isStale } from './errors.js'
import { retrying } from './retry.js'

export interface SenderOptions {
  acks: 0 | 1 | -1
  compression: CompressionName
  /** ms until a batch is given up, and that the leader may wait for its followers. */
  deliveryTimeoutMs: number
}

/** Where a batch was put. Of acks=0 nothing is known. */
export interface Sent {
  baseOffset: number
  lastOffset: number
}

/** From version 13 on topics go by id alone. */
const BY_NAME = 12
/** ms that a leader may wait for its followers, of what a delivery may take. */
const ACKS_MS = 10_000
const SEQUENCES = 2 ** 31

export class RecordSender {
  readonly #cluster: Cluster
  readonly #options: SenderOptions
  readonly #sequences = new Map<string, number>()
  #producer: { id: number; epoch: number } | undefined

  constructor(cluster: Cluster, options: SenderOptions) {
    this.#cluster = cluster
    this.#options = options
  }

  /**
   * Sends one batch. Rejects with BROKER_ERROR, and where the time is up with what went wrong last.
   * REQUIRES: the send before has settled.
   */
  async send(
    topic: string,
    partition: number,
    records: readonly RecordInput[],
  ): Promise<Sent | undefined> {
    const { acks, compression, deliveryTimeoutMs } = this.#options
    const place = `${topic}-${partition}`
    if (acks === -1) this.#producer ??= await this.#makeProducer()
    const baseSequence = this.#sequences.get(place) ?? 0
    const producer = this.#producer && { ...this.#producer, baseSequence }
    const timestamp = this.#cluster.env.now()
    const bytes = buildBatch(records, { compression, timestamp, producer })
    const sent = await retrying(() => this.#attempt(topic, partition, bytes), {
      env: this.#cluster.env,
      timeoutMs: deliveryTimeoutMs,
      failed: (error) => {
        if (isStale(error)) this.#cluster.forgetTopic(topic)
      },
    })
    this.#sequences.set(place, (baseSequence + records.length) % SEQUENCES)
    if (sent === undefined) return undefined
    return { baseOffset: sent, lastOffset: sent < 0 ? sent : sent + records.length - 1 }
  }

  async #attempt(topic: string, index: number, records: Uint8Array): Promise<number | undefined> {
    const { acks, deliveryTimeoutMs } = this.#options
    const timeoutMs = Math.min(ACKS_MS, deliveryTimeoutMs)
    const topicData = [{ name: topic, partitionData: [{ index, records }] }]
    const body = { acks, timeoutMs, topicData }
    const connection = await this.#cluster.connection(await this.#cluster.leaderOf(topic, index))
    if (acks === 0) {
      await connection.post(produce, body, { versionMax: BY_NAME })
      return undefined
    }
    const options = { versionMax: BY_NAME, waitMs: timeoutMs }
    const { responses } = await connection.request(produce, body, options)
    const answer = responses[0]?.partitionResponses[0]
    const what = `partition ${index} of ${topic}`
    checkCode(answer?.errorCode ?? -1, what, answer?.errorMessage)
    return answer?.baseOffset ?? -1
  }

  #makeProducer(): Promise<{ id: number; epoch: number }> {
    const attempt = async () => {
      const connection = await this.#cluster.any()
      const body = { transactionalId: null, transactionTimeoutMs: 0 }
      const answer = await connection.request(initProducerId, body)
      checkCode(answer.errorCode, 'producer id')
      return { id: answer.producerId, epoch: answer.producerEpoch }
    }
    const { deliveryTimeoutMs } = this.#options
    return retrying(attempt, { env: this.#cluster.env, timeoutMs: deliveryTimeoutMs })
  }
}
