/** The driver of @platformatic/kafka, which speaks the flexible versions of the protocol alone. */
import { randomUUID } from 'node:crypto'
import { bootstrap, type Entry, foreign, serve, sleep, tell, tellAssigned } from './serve.js'

interface Message {
  partition: number
  offset: bigint
  key: string
  value: string
}

interface Stream extends AsyncIterable<Message> {
  close(): Promise<void>
}

interface Assignment {
  topic: string
  partitions: number[]
}

type Offsets = Map<string, bigint[]>

interface Consumer {
  consume(options: object): Promise<Stream>
  commit(options: { offsets: object[] }): Promise<void>
  listOffsets(options: object): Promise<Offsets>
  listCommittedOffsets(options: { topics: Assignment[] }): Promise<Offsets>
  on(event: string, listener: (payload: { assignments?: Assignment[] }) => void): void
  close(force?: boolean): Promise<void>
}

interface Producer {
  send(options: object): Promise<unknown>
  close(): Promise<void>
}

interface Admin {
  createTopics(options: object): Promise<unknown>
  listTopics(): Promise<string[]>
  deleteTopics(options: { topics: string[] }): Promise<void>
  close(): Promise<void>
}

type Options = Record<string, unknown>
const library = (await foreign('@platformatic/kafka')) as {
  Admin: new (options: Options) => Admin
  Consumer: new (options: Options) => Consumer
  Producer: new (options: Options) => Producer
  stringDeserializers: unknown
  stringSerializers: unknown
}

const common = {
  clientId: 'matrix',
  bootstrapBrokers: [bootstrap],
  retries: 30,
  retryDelay: 300,
  strict: true,
}
const admin = new library.Admin(common)
const producer = new library.Producer({ ...common, serializers: library.stringSerializers })
let member: Consumer | undefined
let stream: Stream | undefined
let memberTopic = ''
const positions = new Map<number, bigint>()

const partitionsOf = (topic: string, count: number): Assignment[] => [
  { topic, partitions: Array.from({ length: count }, (_, partition) => partition) },
]

function consumer(groupId: string): Consumer {
  return new library.Consumer({
    ...common,
    groupId,
    deserializers: library.stringDeserializers,
    autocommit: false,
    sessionTimeout: 6000,
    heartbeatInterval: 500,
    rebalanceTimeout: 10_000,
    maxWaitTime: 100,
  })
}

async function consume(topic: string, count: number): Promise<void> {
  const reader = consumer(`reader-${randomUUID()}`)
  const ends = await reader.listOffsets({ topics: [topic], timestamp: -1n })
  const wanted = Number((ends.get(topic) ?? []).slice(0, count).reduce((sum, end) => sum + end, 0n))
  const messages = await reader.consume({ topics: [topic], mode: 'earliest' })
  let seen = 0
  for await (const { partition, offset, key, value } of messages) {
    tell(partition, offset, key, value)
    seen += 1
    if (seen >= wanted) break
  }
  await reader.close(true)
}

async function follow(messages: Stream): Promise<void> {
  for await (const { partition, offset, key, value } of messages) {
    positions.set(partition, offset + 1n)
    tell(partition, offset, key, value)
  }
}

async function join(group: string, topic: string): Promise<void> {
  const joined = consumer(group)
  member = joined
  memberTopic = topic
  joined.on('consumer:group:join', ({ assignments = [] }) => {
    tellAssigned(assignments.flatMap((each) => (each.topic === topic ? each.partitions : [])))
  })
  const options = { topics: [topic], mode: 'committed', fallbackMode: 'earliest' }
  stream = await joined.consume(options)
  follow(stream).catch((error) => console.error(error))
}

/** Behind a restart the coordinator may not be found at once, and it does not ask again. */
async function commit(): Promise<void> {
  const offsets = [...positions].map(([partition, offset]) => ({
    topic: memberTopic,
    partition,
    offset,
    leaderEpoch: -1,
  }))
  for (let attempt = 1; ; attempt += 1) {
    try {
      await member?.commit({ offsets })
      return
    } catch (error) {
      if (attempt === 20) throw error
      await sleep(500)
    }
  }
}

async function leave(): Promise<void> {
  await stream?.close()
  await member?.close(true)
  member = undefined
  stream = undefined
}

await serve({
  create: (topic, partitions) => admin.createTopics({ topics: [topic], partitions, replicas: 1 }),
  topics: () => admin.listTopics(),
  produce: (topic, compression, records: Entry[]) =>
    producer.send({
      messages: records.map((record) => ({ topic, ...record })),
      compression,
      acks: -1,
      idempotent: true,
    }),
  consume,
  join,
  commit,
  committed: async (group, topic, count) => {
    const reader = consumer(group)
    const found = await reader.listCommittedOffsets({ topics: partitionsOf(topic, count) })
    await reader.close(true)
    return (found.get(topic) ?? []).map(Number)
  },
  leave,
  delete: (topic) => admin.deleteTopics({ topics: [topic] }),
  close: async () => {
    await leave()
    await producer.close()
    await admin.close()
  },
})
