/**
 * Each znode that seglog reads or writes: its path, and how its JSON is made and read. The formats
 * are those of Apache Kafka 0.8.2 to 3.x, so that its tools find what they know.
 */
import { SeglogError } from '../errors.js'

/** `/brokers/topics/[topic]`: replica ids of each partition, the first one preferred as leader. */
export interface TopicAssignment {
  /** Base64url, 22 characters; absent in trees from before Kafka 2.8. */
  topicId: string | undefined
  /** Replica ids by partition. */
  partitions: number[][]
}

export const topicsPath = '/brokers/topics'

export const topicZNode = {
  path: (topic: string) => `${topicsPath}/${topic}`,

  encode({ topicId, partitions }: TopicAssignment): Buffer {
    const byIndex = Object.fromEntries(partitions.map((replicas, i) => [String(i), replicas]))
    return json({
      removing_replicas: {},
      partitions: byIndex,
      ...(topicId === undefined ? {} : { topic_id: topicId }),
      adding_replicas: {},
      version: topicId === undefined ? 2 : 3,
    })
  },

  decode(data: Buffer, topic: string): TopicAssignment {
    const value = parse<{ partitions: Record<string, unknown>; topic_id?: unknown }>(data, topic)
    if (typeof value?.partitions !== 'object' || value.partitions === null) {
      throw new SeglogError('CORRUPT', `${topicZNode.path(topic)} has no partitions`)
    }
    const indexes = Object.keys(value.partitions)
    const partitions = Array.from(indexes, (_, i) => value.partitions[String(i)])
    if (!partitions.every(isReplicas)) {
      const text = `${topicZNode.path(topic)}: partitions are not replica ids numbered from 0`
      throw new SeglogError('CORRUPT', text)
    }
    const { topic_id: topicId } = value
    if (topicId !== undefined && !isTopicId(topicId)) {
      const text = `${topicZNode.path(topic)}: ${JSON.stringify(topicId)} is no topic id`
      throw new SeglogError('CORRUPT', text)
    }
    return { topicId, partitions }
  },
}

type Config = Record<string, string>

/** `/config/topics/[topic]`: overrides of the broker's defaults. */
export const topicConfigZNode = {
  path: (topic: string) => `/config/topics/${topic}`,
  encode: (config: Config): Buffer => json({ version: 1, config }),
  decode: (data: Buffer, topic: string): Config => readConfig(data, topicConfigZNode.path(topic)),
}

/** `/config/brokers/[id]`: what was changed while brokers run; no id: of all of them. */
export const brokerConfigZNode = {
  path: (id: number | undefined) => `/config/brokers/${id ?? '<default>'}`,
  encode: (config: Config): Buffer => json({ version: 1, config }),
  decode: (data: Buffer, id: number | undefined): Config =>
    readConfig(data, brokerConfigZNode.path(id)),
}

function readConfig(data: Buffer, path: string): Config {
  const config = parse<{ config: Config } | null>(data, path)?.config
  if (typeof config !== 'object' || config === null) {
    throw new SeglogError('CORRUPT', `${path} has no config`)
  }
  for (const [key, text] of Object.entries(config)) {
    if (typeof text === 'string') continue
    throw new SeglogError('CORRUPT', `${path}: ${key} is no text`)
  }
  return config
}

export const deletionsPath = '/admin/delete_topics'

/**
 * `/admin/delete_topics/[topic]`: a topic that is being deleted, which a restart goes on with. No
 * data.
 */
export const deletionZNode = { path: (topic: string) => `${deletionsPath}/${topic}` }

/** `/brokers/ids/[id]`, ephemeral: where a broker listens. */
export const brokerZNode = {
  path: (id: number) => `/brokers/ids/${id}`,
  encode(host: string, port: number, nowMs: number): Buffer {
    return json({
      features: {},
      listener_security_protocol_map: { PLAINTEXT: 'PLAINTEXT' },
      endpoints: [`PLAINTEXT://${host}:${port}`],
      jmx_port: -1,
      port,
      host,
      version: 5,
      timestamp: String(nowMs),
    })
  },
}

/** `/latest_producer_id_block`: the block of producer ids that was given out last. */
export const producerIdBlockZNode = {
  path: '/latest_producer_id_block',
  blockSize: 1000,

  encode(brokerId: number, start: number): Buffer {
    const end = start + producerIdBlockZNode.blockSize - 1
    return json({
      version: 1,
      broker: brokerId,
      block_start: String(start),
      block_end: String(end),
    })
  },

  /** The last id of the block. */
  decode(data: Buffer): number {
    const end = Number(parse<{ block_end: string }>(data, 'producer ids').block_end)
    if (!Number.isSafeInteger(end)) throw new SeglogError('CORRUPT', 'producer id block')
    return end
  },
}

/** `/consumers/[group]/offsets/[topic]/[partition]`: an offset in decimal digits. */
export const consumerOffsetZNode = {
  path: (group: string, topic: string, partition: number) =>
    `/consumers/${group}/offsets/${topic}/${partition}`,
  encode: (offset: number): Buffer => Buffer.from(String(offset), 'utf8'),
  /** Undefined where it is none. */
  decode(data: Buffer): number | undefined {
    const text = data.toString('utf8')
    const offset = Number(text)
    return /^-?\d{1,16}$/.test(text) && Number.isSafeInteger(offset) ? offset : undefined
  },
}

function isReplicas(value: unknown): value is number[] {
  return Array.isArray(value) && value.every((id) => Number.isInteger(id) && id >= 0)
}

/** 16 bytes in base64url, as Kafka prints them. */
function isTopicId(value: unknown): value is string {
  return typeof value === 'string' && /^[\w-]{22}$/.test(value)
}

function json(value: unknown): Buffer {
  return Buffer.from(JSON.stringify(value), 'utf8')
}

function parse<T>(data: Buffer, what: string): T {
  try {
    return JSON.parse(data.toString('utf8')) as T
  } catch (cause) {
    throw new SeglogError('CORRUPT', `the znode of ${what} is not JSON`, { cause })
  }
}
