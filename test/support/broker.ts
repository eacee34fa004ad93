/** A broker in this process for one test or file, and the requests that most tests begin with. */
import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import { createTopics } from '../../src/apis/create-topics.js'
import { fetch } from '../../src/apis/fetch.js'
import { metadata } from '../../src/apis/metadata.js'
import { produce } from '../../src/apis/produce.js'
import { Broker, type BrokerOptions } from '../../src/broker.js'
import { buildBatch } from '../../src/records/encoder.js'
import { temporaryDirectory } from './tmp.js'
import { Wire } from './wire.js'

/** A broker on a free port and a directory that goes with the test, and one connection to it. */
export async function startBroker(t: TestContext, options: BrokerOptions = {}) {
  let started: Broker | undefined
  // What was registered first is done first: the directory goes after the broker.
  t.after(() => started?.close())
  const broker = await Broker.start({ port: 0, dataDir: temporaryDirectory(t), ...options })
  started = broker
  return { broker, wire: await Wire.connect(t, broker.port) }
}

/** Creates a topic that must not exist, and gives its id. */
export async function createTopic(
  wire: Wire,
  name: string,
  { partitions = 1, configs = {} }: { partitions?: number; configs?: Record<string, string> } = {},
): Promise<string> {
  const topic = {
    name,
    numPartitions: partitions,
    replicationFactor: 1,
    assignments: [],
    configs: Object.entries(configs).map(([key, value]) => ({ name: key, value })),
  }
  const { topics } = await wire.call(createTopics, 7, { topics: [topic] })
  assert.equal(topics[0]?.errorCode, 0, topics[0]?.errorMessage ?? '')
  return topics[0].topicId
}

/** A batch of text values. */
export function batchOf(...values: string[]): Uint8Array {
  return buildBatch(
    values.map((value) => ({ value })),
    { timestamp: 1_700_000_000_000 },
  )
}

interface ProduceOptions {
  version?: number
  acks?: number
  partition?: number
}

/** Produces to one partition by name and gives the partition's answer. */
export async function produceTo(
  wire: Wire,
  topic: string,
  records: Uint8Array | null,
  { version = 9, acks = -1, partition = 0 }: ProduceOptions = {},
) {
  const partitionData = [{ index: partition, records: records as Uint8Array }]
  const body = { acks, timeoutMs: 1000, topicData: [{ name: topic, partitionData }] }
  const { responses } = await wire.call(produce, version, body)
  const answer = responses[0]?.partitionResponses[0]
  assert.ok(answer)
  return answer
}

export interface FetchWish {
  topic?: string
  topicId?: string
  partition?: number
  offset?: number
  maxBytes?: number
  leaderEpoch?: number
}

/** The body of a fetch of several partitions. */
export function fetchBody(
  wishes: FetchWish[],
  { maxWaitMs = 0, minBytes = 1, maxBytes = 1 << 20, ...rest } = {},
) {
  const topics = wishes.map(
    ({
      topic = '',
      topicId,
      partition = 0,
      offset = 0,
      maxBytes: most = 1 << 20,
      leaderEpoch,
    }) => ({
      topic,
      ...(topicId === undefined ? {} : { topicId }),
      partitions: [
        {
          partition,
          fetchOffset: offset,
          partitionMaxBytes: most,
          currentLeaderEpoch: leaderEpoch ?? -1,
        },
      ],
    }),
  )
  return { maxWaitMs, minBytes, maxBytes, topics, ...rest }
}

/** Fetches one partition and gives its answer. */
export async function fetchFrom(
  wire: Wire,
  topic: string,
  offset: number,
  {
    version = 12,
    partition = 0,
    ...options
  }: Parameters<typeof fetchBody>[1] & { version?: number; partition?: number } = {},
) {
  const body = fetchBody([{ topic, partition, offset }], options)
  const { responses } = await wire.call(fetch, version, body)
  const answer = responses[0]?.partitions[0]
  assert.ok(answer)
  return answer
}

/** The topic as Metadata shows it, which does not make it. */
export async function describeTopic(wire: Wire, name: string) {
  const { topics } = await wire.call(metadata, 12, {
    topics: [{ name }],
    allowAutoTopicCreation: false,
  })
  const topic = topics[0]
  assert.ok(topic)
  return topic
}
