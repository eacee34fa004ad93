/**
 * What a partition knows of its idempotent producers (KIP-98): for each producer id the epoch and
 * the last five batches, by which a repeated batch is told from a new one and a gap is found.
 *
 * The log asks `check` before an append and calls `update` after it succeeded, with no await
 * between the two; a failed append leaves the state alone. After a crash the state is made anew by
 * `replay` of the batch headers in the order of the log, so nothing here needs to be on disk;
 * `entries` gives what a snapshot file would hold. Bounded: above `producersMax` the producer that
 * was silent longest is forgotten, which costs it the recognition of repeats and nothing else.
 */
import { KafkaError, type KafkaErrorCode } from '../errors.js'

/** A batch that was appended. */
export interface KnownBatch {
  firstSequence: number
  lastSequence: number
  baseOffset: number
  lastOffset: number
  /** ms since 1970. */
  timestamp: number
}

/** The header of a batch in the log, as far as it matters here. */
export interface ProducerBatch {
  /** -1: not idempotent, ignored. */
  producerId: number
  producerEpoch: number
  /** -1 in a control batch, which has an epoch but takes no sequence numbers. */
  firstSequence: number
  baseOffset: number
  lastOffset: number
  /**
   * ms since 1970. Expiry counts from it: the clock at a fresh append, the batch's own on replay.
   */
  timestamp: number
}

export interface ProducerEntry {
  readonly producerId: number
  readonly producerEpoch: number
  /** Oldest first, one to five; none where only a control batch was seen. */
  readonly batches: readonly KnownBatch[]
  readonly lastTimestamp: number
}

/** `append`, or the batch that this one repeats, or the error to answer. */
export type SequenceCheck = 'append' | KnownBatch | KafkaErrorCode

const batchesMax = 5
const sequenceMax = 2147483647

/** The sequence number `count` places on; 0 follows 2^31-1. */
export function sequenceAfter(sequence: number, count: number): number {
  return (sequence + count) % (sequenceMax + 1)
}

interface Producer {
  producerId: number
  producerEpoch: number
  batches: KnownBatch[]
  lastTimestamp: number
}

export class ProducerState {
  /** The producer that was silent longest comes first. */
  readonly #producers = new Map<number, Producer>()
  readonly #producersMax: number

  constructor(producersMax = 100_000) {
    this.#producersMax = producersMax
  }

  get size(): number {
    return this.#producers.size
  }

  /**
   * Whether a batch from a client may be appended. `count` is its last offset delta plus one, 1 or
   * more. Errors: INVALID_RECORD for a producer id with a negative sequence or epoch,
   * INVALID_PRODUCER_EPOCH for an epoch that has been superseded, OUT_OF_ORDER_SEQUENCE_NUMBER for
   * a gap, for a repeat that is older than five batches or of another length, and for a new epoch
   * that does not begin at 0.
   */
  check(
    producerId: number,
    producerEpoch: number,
    firstSequence: number,
    count: number,
  ): SequenceCheck {
    if (producerId < 0) return 'append'
    if (!Number.isSafeInteger(producerId) || producerEpoch < 0 || firstSequence < 0) {
      return KafkaError.INVALID_RECORD
    }
    const producer = this.#producers.get(producerId)
    // What a producer wrote may have been deleted or expired, so a stranger may begin anywhere.
    if (producer === undefined) return 'append'
    if (producerEpoch < producer.producerEpoch) return KafkaError.INVALID_PRODUCER_EPOCH
    if (producerEpoch > producer.producerEpoch) {
      return firstSequence === 0 ? 'append' : KafkaError.OUT_OF_ORDER_SEQUENCE_NUMBER
    }
    const lastSequence = sequenceAfter(firstSequence, count - 1)
    const repeated = producer.batches.find(
      (batch) => batch.firstSequence === firstSequence && batch.lastSequence === lastSequence,
    )
    if (repeated !== undefined) return repeated
    const last = producer.batches.at(-1)
    const expected = last === undefined ? 0 : sequenceAfter(last.lastSequence, 1)
    return firstSequence === expected ? 'append' : KafkaError.OUT_OF_ORDER_SEQUENCE_NUMBER
  }

  /** Takes in a batch that was appended. REQUIRES that `check` allowed it. */
  update(batch: ProducerBatch): void {
    const { producerId, producerEpoch, firstSequence, baseOffset, lastOffset, timestamp } = batch
    if (producerId < 0 || !Number.isSafeInteger(producerId)) return
    const producer = this.#touch(producerId, producerEpoch)
    producer.lastTimestamp = timestamp
    if (firstSequence < 0) return
    // Taken in before, as by the log itself and by who appended to it.
    if (baseOffset <= (producer.batches.at(-1)?.baseOffset ?? -1)) return
    const lastSequence = sequenceAfter(firstSequence, lastOffset - baseOffset)
    if (producer.batches.length === batchesMax) producer.batches.shift()
    producer.batches.push({ firstSequence, lastSequence, baseOffset, lastOffset, timestamp })
  }

  /**
   * Takes in a batch that lies in the log: on recovery, or as a follower. The log is the truth, so
   * nothing is checked; control batches count too.
   */
  replay(batch: ProducerBatch): void {
    this.update(batch)
  }

  /**
   * Forgets all batches that end at or above `offset`. A producer of whom nothing is left is
   * forgotten as a whole. Where older batches of it may lie below `offset`, replay them to know it
   * again.
   */
  truncateTo(offset: number): void {
    for (const [producerId, producer] of this.#producers) {
      producer.batches = producer.batches.filter(({ lastOffset }) => lastOffset < offset)
      const last = producer.batches.at(-1)
      if (last === undefined) this.#producers.delete(producerId)
      else producer.lastTimestamp = last.timestamp
    }
  }

  /** Forgets everything, before a replay from the start. */
  clear(): void {
    this.#producers.clear()
  }

  /**
   * Forgets who was silent for longer than `expirationMs` (producer.id.expiration.ms). Returns how
   * many.
   */
  expire(nowMs: number, expirationMs: number): number {
    const before = this.#producers.size
    for (const [producerId, { lastTimestamp }] of this.#producers) {
      if (nowMs - lastTimestamp > expirationMs) this.#producers.delete(producerId)
    }
    return before - this.#producers.size
  }

  /**
   * Every producer, the one that was silent longest first. Valid until the next call that changes.
   */
  entries(): Iterable<ProducerEntry> {
    return this.#producers.values()
  }

  /** The entry of a producer in a given epoch, moved to the end of the map. */
  #touch(producerId: number, producerEpoch: number): Producer {
    let producer = this.#producers.get(producerId)
    if (producer === undefined) {
      producer = { producerId, producerEpoch, batches: [], lastTimestamp: -1 }
      if (this.#producers.size >= this.#producersMax) {
        for (const eldest of this.#producers.keys()) {
          this.#producers.delete(eldest)
          break
        }
      }
    } else {
      this.#producers.delete(producerId)
      if (producer.producerEpoch !== producerEpoch) {
        producer.producerEpoch = producerEpoch
        producer.batches = []
      }
    }
    this.#producers.set(producerId, producer)
    return producer
  }
}
