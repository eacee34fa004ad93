/**
 * Keeps in order what the fuzzer's requests legitimately make: puts back the topics that they speak
 * of, and deletes topics and groups that are none of those, so that what grows on is a leak. It
 * speaks to the broker as an administrator does, and must be understood.
 */
import { connect } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { createTopics } from '../../src/apis/create-topics.js'
import { deleteGroups } from '../../src/apis/delete-groups.js'
import { deleteTopics } from '../../src/apis/delete-topics.js'
import { listGroups } from '../../src/apis/list-groups.js'
import { metadata } from '../../src/apis/metadata.js'
import { ZERO_UUID } from '../../src/protocol/types.js'
import { Wire } from '../support/wire.js'
import type { Places } from './requests.js'

const TOPICS = ['fuzz-0', 'fuzz-1', 'fuzz-2', 'fuzz-3']
const PARTITIONS = 2
const PAUSE_MS = 500
const OTHERS = /^(fuzz-\d|steady|__.*)$/

export class Housekeeper {
  readonly places = { topics: TOPICS, topicIds: TOPICS.map(() => '') } satisfies Places
  readonly #wire: Wire
  #stopped = false
  #done: Promise<void> = Promise.resolve()

  private constructor(port: number) {
    this.#wire = Wire.over(connect(port, '127.0.0.1'))
  }

  /** Resolves when the topics are there. */
  static async start(port: number, fault: (what: string) => void): Promise<Housekeeper> {
    const keeper = new Housekeeper(port)
    await keeper.#tidy()
    keeper.#done = keeper.#go().catch((error) => fault(`the housekeeper: ${String(error)}`))
    return keeper
  }

  async stop(): Promise<void> {
    this.#stopped = true
    await this.#done
    this.#wire.socket.destroy()
  }

  async #go(): Promise<void> {
    while (!this.#stopped) {
      await sleep(PAUSE_MS)
      await this.#tidy()
    }
  }

  async #tidy(): Promise<void> {
    const { topics } = await this.#wire.call(metadata, 12, { topics: null })
    const strays = topics.filter(({ name }) => name !== null && !OTHERS.test(name))
    if (strays.length > 0) {
      const wanted = strays
        .slice(0, 500)
        .map(({ name, topicId }) => ({ name, topicId: name === null ? topicId : ZERO_UUID }))
      await this.#wire.call(deleteTopics, 6, { topics: wanted, timeoutMs: 5000 })
    }
    await this.#create(TOPICS.filter((name) => !topics.some((topic) => topic.name === name)))
    await this.#forgetGroups()
  }

  async #create(names: string[]): Promise<void> {
    if (names.length > 0) {
      const each = { numPartitions: PARTITIONS, replicationFactor: 1, assignments: [], configs: [] }
      await this.#wire.call(createTopics, 7, { topics: names.map((name) => ({ name, ...each })) })
    }
    const { topics } = await this.#wire.call(metadata, 12, {
      topics: TOPICS.map((name) => ({ name })),
      allowAutoTopicCreation: false,
    })
    for (const { name, topicId } of topics) {
      const index = TOPICS.indexOf(name ?? '')
      if (index >= 0) this.places.topicIds[index] = topicId
    }
  }

  async #forgetGroups(): Promise<void> {
    const { groups } = await this.#wire.call(listGroups, 4, { statesFilter: ['Empty', 'Dead'] })
    const groupsNames = groups.slice(0, 2000).map(({ groupId }) => groupId)
    if (groupsNames.length > 0) await this.#wire.call(deleteGroups, 2, { groupsNames })
  }
}
