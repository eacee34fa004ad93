/**
 * Producer ids, each given once in the life of a cluster. They are taken in blocks from the znode
 * `/latest_producer_id_block`, as Kafka does it, so that a restart loses the rest of a block and
 * never gives an id again. A block begins above every id that a log knows: the logs may have been
 * another cluster's, which gave ids by a count of its own.
 */
import type { Coordination } from '../coordination/coordination.js'
import { producerIdBlockZNode } from '../coordination/znodes.js'

export class ProducerIds {
  readonly #coordination: Coordination
  readonly #brokerId: number
  readonly #highestKnown: () => number
  #next = 0
  #end = 0
  #taking: Promise<void> | undefined

  /** `highestKnown` tells the largest id of any producer that wrote to a log, or -1. */
  constructor(coordination: Coordination, brokerId: number, highestKnown = () => -1) {
    this.#coordination = coordination
    this.#brokerId = brokerId
    this.#highestKnown = highestKnown
  }

  /** A producer id that nobody has. Rejects where the tree cannot be written. */
  async next(): Promise<number> {
    while (this.#next >= this.#end) {
      this.#taking ??= this.#takeBlock().finally(() => {
        this.#taking = undefined
      })
      await this.#taking
    }
    return this.#next++
  }

  async #takeBlock(): Promise<void> {
    const { path, blockSize } = producerIdBlockZNode
    const present = await this.#coordination.get(path)
    const given = present ? producerIdBlockZNode.decode(present.data) : -1
    const start = Math.max(given, this.#highestKnown()) + 1
    const data = producerIdBlockZNode.encode(this.#brokerId, start)
    if (present) await this.#coordination.set(path, data, present.version)
    else await this.#coordination.create(path, data)
    this.#next = start
    this.#end = start + blockSize
  }
}
