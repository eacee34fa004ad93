/**
 * The same requests to seglog and to Apache Kafka, and the decoded answers compared field by field:
 * to 4.3.1 in all versions that it serves, to 3.6.2 in those that 4.3.1 has dropped. Each API and
 * version with a good request, wrong ones, one whose last byte is missing, and the version behind
 * the last one. What differs must stand in the list of what is meant to, and what stands there must
 * differ: see `differential-meant.ts`.
 */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { apis } from '../../src/apis/registry.js'
import { SeglogError } from '../../src/errors.js'
import type { AnyApi } from '../../src/protocol/schema.js'
import { adminCases } from './differential-admin.js'
import { type Difference, differences, type Meant, surprises } from './differential-compare.js'
import { prepareSide } from './differential-fixtures.js'
import { meantFor3, meantFor4 } from './differential-meant.js'
import { type Case, clientCases, prepareClientCases } from './differential-requests.js'
import { encoded, ofVersion, Side, shortened, tableOf } from './differential-side.js'
import { startBroker, temporaryFolder } from './harness.js'
import { type Server, startKafka4, startKafkaOnZooKeeper, startZooKeeper } from './kafka-server.js'
import { prepare } from './prepare.js'

const limit = { timeout: 300_000 }
const cases = [...clientCases, ...adminCases]

/** What would differ by default, or cost time. */
const settings = {
  'broker.id': 1,
  'offsets.topic.num.partitions': 1,
  'offsets.topic.replication.factor': 1,
  'transaction.state.log.num.partitions': 1,
  'transaction.state.log.replication.factor': 1,
  'transaction.state.log.min.isr': 1,
  'group.initial.rebalance.delay.ms': 0,
}

/** The first version that 4.3.1 serves, where that is not 0. */
const firstOf4 = new Map([
  ['Produce', 3],
  ['Fetch', 4],
  ['ListOffsets', 1],
  ['OffsetCommit', 2],
  ['OffsetFetch', 1],
  ['CreateTopics', 2],
  ['DeleteTopics', 1],
  ['OffsetForLeaderEpoch', 2],
  ['DescribeConfigs', 1],
  ['AlterReplicaLogDirs', 1],
  ['DescribeLogDirs', 1],
])

const isDropped = ({ name }: AnyApi, version: number) => version < (firstOf4.get(name) ?? 0)

before(prepare)

/** Both Kafkas, started at the same time, since most of that is waiting. */
let servers: Promise<{ kafka4: Server; kafka3: Server; zooKeeper: Server }> | undefined

function started() {
  servers ??= (async () => {
    const [kafka4, [kafka3, zooKeeper]] = await Promise.all([
      startKafka4(temporaryFolder(), settings),
      startZooKeeper(temporaryFolder()).then(async (zooKeeper) => {
        const folder = temporaryFolder()
        return [await startKafkaOnZooKeeper('3.6.2', folder, zooKeeper, settings), zooKeeper]
      }) as Promise<[Server, Server]>,
    ])
    return { kafka4, kafka3, zooKeeper }
  })()
  return servers
}

after(async () => {
  const { kafka4, kafka3, zooKeeper } = (await servers) ?? {}
  await Promise.all([kafka4?.stop(), kafka3?.stop()])
  await zooKeeper?.stop()
})

interface Pair {
  readonly kafka: Side
  readonly seglog: Side
}

let counter = 0

class Comparison {
  readonly found: Difference[] = []
  count = 0
  readonly #pair: Pair

  constructor(pair: Pair) {
    this.#pair = pair
  }

  /** Sends one case in one version, unless that version has no way to say it. */
  async send({ api: apiName, name, setup, body }: Case, version: number): Promise<void> {
    counter++
    const n = counter
    const api = tableOf(apiName)
    const { kafka, seglog } = this.#pair
    if (setup) await Promise.all([setup(kafka, n), setup(seglog, n)])
    const frames = [kafka, seglog].map((side) => frameOf(api, version, () => body(side, n)))
    const [first, second] = frames
    if (!first || !second) return
    await this.#exchange(api, version, name, first, second)
    if (name !== 'good') return
    const change = (what: string, changed: (frame: Uint8Array) => Uint8Array) =>
      this.#exchange(api, version, what, changed(first), changed(second))
    await change('good, cut', shortened)
    if (version === api.versions[1]) {
      await change('good, too new', (frame) => ofVersion(frame, version + 1))
    }
  }

  async #exchange(
    api: AnyApi,
    version: number,
    name: string,
    forKafka: Uint8Array,
    forSeglog: Uint8Array,
  ): Promise<void> {
    const { kafka, seglog } = this.#pair
    const [expected, found] = await Promise.all([
      kafka.ask(api, version, forKafka),
      seglog.ask(api, version, forSeglog),
    ])
    this.count++
    this.found.push(...differences({ api: api.name, version, name }, expected, found))
  }
}

function frameOf(api: AnyApi, version: number, body: () => object): Uint8Array | undefined {
  try {
    return encoded(api, version, { ...body() })
  } catch (error) {
    if (error instanceof SeglogError && error.code === 'BAD_ARGUMENT') return undefined
    throw error
  }
}

async function compareAll(
  server: Server,
  isAsked: (api: AnyApi, version: number) => boolean,
  meant: readonly Meant[],
): Promise<Side> {
  const broker = await startBroker({ config: settings })
  const kafka = new Side('Kafka', server.port)
  const seglog = new Side('seglog', broker.port)
  for (const side of [kafka, seglog]) {
    await prepareSide(side)
    await prepareClientCases(side)
  }
  const comparison = new Comparison({ kafka, seglog })
  for (const one of cases) {
    const api = tableOf(one.api)
    const [first, last] = [one.from ?? api.versions[0], one.to ?? api.versions[1]]
    for (let version = first; version <= last; version++) {
      if (isAsked(api, version)) await comparison.send(one, version)
    }
  }
  for (const side of [kafka, seglog]) side.close()
  await broker.stop()
  const lines = surprises(comparison.found, meant)
  assert.equal(lines.length, 0, `of ${comparison.count} requests:\n${lines.join('\n')}`)
  return kafka
}

test('every API that is served has a good request among those that are compared', () => {
  const good = new Set(cases.filter(({ name }) => name === 'good').map(({ api }) => api))
  assert.deepEqual(
    apis.map(({ name }) => name).filter((name) => !good.has(name)),
    [],
  )
})

test('answers are those of Kafka 4.3.1, in all versions that it serves', limit, async () => {
  const { kafka4 } = await started()
  const isAsked = (api: AnyApi, version: number) => !isDropped(api, version)
  const kafka = await compareAll(kafka4, isAsked, meantFor4)
  // It says so itself, but for Produce, which it advertises from 0 on and closes the connection.
  for (const api of apis.filter(({ name }) => name !== 'Produce')) {
    const [first] = kafka.ranges.get(api.key) ?? []
    assert.equal(first, firstOf4.get(api.name) ?? 0, api.name)
  }
})

test(
  'answers are those of Kafka 3.6.2, in the versions that 4.3.1 has dropped',
  limit,
  async () => {
    const { kafka3 } = await started()
    await compareAll(kafka3, isDropped, meantFor3)
  },
)
