/**
 * What is changed of the brokers' configuration while they run (KIP-226): of one broker, or of all
 * of them. Kept in the coordination tree, taken over at the start, and applied to every log at
 * once. Changes run one after the other.
 */
import { BrokerConfig, brokerKey } from '../config.js'
import { isDynamic } from '../config-dynamic.js'
import type { Coordination } from '../coordination/coordination.js'
import { brokerConfigZNode } from '../coordination/znodes.js'
import { KafkaError, ProtocolError, SeglogError } from '../errors.js'
import type { Replicas } from '../replication/replicas.js'

type Values = Readonly<Record<string, string>>

export class BrokerChanges {
  readonly #coordination: Coordination
  readonly #config: BrokerConfig
  readonly #replicas: Replicas
  #dynamic: Values = {}
  #cluster: Values = {}
  #queue: Promise<unknown> = Promise.resolve()

  constructor(coordination: Coordination, config: BrokerConfig, replicas: Replicas) {
    this.#coordination = coordination
    this.#config = config
    this.#replicas = replicas
  }

  /** Takes over what the tree holds. Rejects with CORRUPT or INVALID_CONFIG. */
  async load(): Promise<void> {
    this.#dynamic = await this.#read(this.#config.get('broker.id'))
    this.#cluster = await this.#read(undefined)
    this.#config.change({ dynamic: this.#dynamic, cluster: this.#cluster })
  }

  /**
   * Replaces the values of this broker, or with `cluster` those of all brokers, by what `change`
   * makes of them, or with `validateOnly` says whether it could. Rejects with a `ProtocolError`:
   * INVALID_REQUEST for a key that needs a restart, INVALID_CONFIG, KAFKA_STORAGE_ERROR, and what
   * `change` throws.
   */
  configure(
    scope: 'dynamic' | 'cluster',
    change: (present: Values) => Values,
    validateOnly: boolean,
  ): Promise<void> {
    const done = this.#queue.then(() => this.#configure(scope, change, validateOnly))
    this.#queue = done.catch(() => {})
    return done
  }

  async #configure(
    scope: 'dynamic' | 'cluster',
    change: (present: Values) => Values,
    validateOnly: boolean,
  ): Promise<void> {
    const values = change(scope === 'cluster' ? this.#cluster : this.#dynamic)
    const fixed = Object.keys(values).filter((name) => !isDynamic(name))
    if (fixed.length > 0) {
      const text = `Cannot update these configs dynamically: ${fixed.join(', ')}`
      throw new ProtocolError(KafkaError.INVALID_REQUEST, text)
    }
    const secret = Object.keys(values).find((name) => brokerKey(name)?.type === 'password')
    if (secret !== undefined) {
      throw new ProtocolError(KafkaError.INVALID_REQUEST, `${secret} is not kept by this broker.`)
    }
    try {
      BrokerConfig.check(values)
    } catch (error) {
      if (!(error instanceof SeglogError)) throw error
      throw new ProtocolError(KafkaError.INVALID_CONFIG, error.message)
    }
    if (validateOnly) return
    const id = scope === 'cluster' ? undefined : this.#config.get('broker.id')
    await this.#write(id, values)
    if (scope === 'cluster') this.#cluster = values
    else this.#dynamic = values
    this.#config.change({ dynamic: this.#dynamic, cluster: this.#cluster })
    for (const { topic, config } of [...this.#replicas.topics()]) {
      this.#replicas.configure(topic, config)
    }
  }

  async #read(id: number | undefined): Promise<Values> {
    const znode = await this.#coordination.get(brokerConfigZNode.path(id))
    const values = znode ? brokerConfigZNode.decode(znode.data, id) : {}
    // Another version of the broker may have known more keys.
    return Object.fromEntries(Object.entries(values).filter(([name]) => isDynamic(name)))
  }

  async #write(id: number | undefined, values: Values): Promise<void> {
    const path = brokerConfigZNode.path(id)
    const data = brokerConfigZNode.encode({ ...values })
    try {
      const znode = await this.#coordination.get(path)
      if (znode) await this.#coordination.set(path, data, znode.version)
      else await this.#coordination.create(path, data)
    } catch (error) {
      if (!(error instanceof SeglogError)) throw error
      throw new ProtocolError(KafkaError.KAFKA_STORAGE_ERROR, error.message)
    }
  }
}
