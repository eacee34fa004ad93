/**
 * Which producer has a transactional id at present: its producer id and epoch (KIP-98). Each
 * InitProducerId gives the next epoch, which fences whoever had the one before; a producer that
 * says what it has is refused where another came in between, and gets the same answer again where
 * it asks twice (KIP-360).
 *
 * In memory and bounded: the ids that were not asked for longest are forgotten. One that was
 * forgotten begins with a new producer id, which nothing that was written before has.
 */
import { KafkaError } from '../errors.js'

export interface ProducerIdentity {
  producerId: number
  producerEpoch: number
}

interface Entry extends ProducerIdentity {
  /** What a producer had that asked for the present epoch, or -1. */
  lastEpoch: number
  previousProducerId: number
}

/** An epoch that cannot be raised: the next one is another producer id's. */
const EPOCH_MAX = 32_766

export class TransactionalIds {
  readonly #entries = new Map<string, Entry>()
  readonly #newProducerId: () => Promise<number>
  readonly #idsMax: number

  constructor(newProducerId: () => Promise<number>, idsMax = 100_000) {
    this.#newProducerId = newProducerId
    this.#idsMax = idsMax
  }

  /**
   * The identity that a producer begins with. `claimed` is what it says it has. Resolves with
   * PRODUCER_FENCED where another has taken its place. Rejects as `newProducerId`.
   */
  async begin(
    transactionalId: string,
    claimed?: ProducerIdentity,
  ): Promise<ProducerIdentity | typeof KafkaError.PRODUCER_FENCED> {
    if (!this.#entries.has(transactionalId)) {
      const producerId = await this.#newProducerId()
      // Another request for it may have come meanwhile.
      if (!this.#entries.has(transactionalId)) {
        return this.#keep(transactionalId, producerId, 0, -1, -1)
      }
    }
    const entry = this.#entries.get(transactionalId)!
    if (claimed && !isPossible(entry, claimed)) return KafkaError.PRODUCER_FENCED
    const { producerId, producerEpoch, lastEpoch } = entry
    const isNow = claimed === undefined || claimed.producerEpoch === producerEpoch
    if (isNow && producerEpoch >= EPOCH_MAX) {
      const next = await this.#newProducerId()
      const last = claimed ? producerEpoch : -1
      return this.#keep(transactionalId, next, 0, last, claimed ? producerId : -1)
    }
    if (isNow) {
      const last = claimed ? producerEpoch : -1
      return this.#keep(transactionalId, producerId, producerEpoch + 1, last, -1)
    }
    // Its last answer was lost.
    if (claimed.producerEpoch === lastEpoch) return { producerId, producerEpoch }
    return KafkaError.PRODUCER_FENCED
  }

  #keep(
    transactionalId: string,
    producerId: number,
    producerEpoch: number,
    lastEpoch: number,
    previousProducerId: number,
  ): ProducerIdentity {
    this.#entries.delete(transactionalId)
    this.#entries.set(transactionalId, {
      producerId,
      producerEpoch,
      lastEpoch,
      previousProducerId,
    })
    if (this.#entries.size > this.#idsMax) {
      const oldest = this.#entries.keys().next()
      if (!oldest.done) this.#entries.delete(oldest.value)
    }
    return { producerId, producerEpoch }
  }
}

function isPossible(entry: Entry, claimed: ProducerIdentity): boolean {
  if (claimed.producerId === entry.producerId) return true
  return claimed.producerId === entry.previousProducerId && claimed.producerEpoch >= EPOCH_MAX
}
