/**
 * The driver of no-kafka, of Kafka 0.9's time, which asks for no versions and sends ever the same.
 * Topics it cannot create or delete: asked for by name, they are made.
 */
import { bootstrap, type Entry, foreign, serve, sleep, tell, tellAssigned } from './serve.js'

interface Place {
  topic: string
  partition: number
}

type Handler = (
  messages: { offset: number; message: { key: Buffer; value: Buffer } }[],
  topic: string,
  partition: number,
) => void

interface Base {
  readonly client: {
    init(): Promise<void>
    updateMetadata(topics?: string[]): Promise<void>
    metadataRequest(topics: string[]): Promise<{ topicMetadata: { topicName: string }[] }>
    updateGroupCoordinator(group: string): Promise<void>
  }
  init(strategies?: object): Promise<void>
  end(): Promise<void>
}

interface Producer extends Base {
  send(messages: object[], options: object): Promise<{ error: unknown }[]>
}

interface SimpleConsumer extends Base {
  subscribe(topic: string, partition: number, from: object, handler: Handler): Promise<unknown>
  offset(topic: string, partition: number, time: number): Promise<number>
}

interface GroupConsumer extends Base {
  readonly subscriptions: Record<string, Place>
  commitOffset(offsets: (Place & { offset: number; metadata: string })[]): Promise<unknown>
  fetchOffset(places: Place[]): Promise<(Place & { offset: number })[]>
}

type Options = Record<string, unknown>
const library = (await foreign('no-kafka')) as {
  Producer: new (options: Options) => Producer
  SimpleConsumer: new (options: Options) => SimpleConsumer
  GroupConsumer: new (options: Options) => GroupConsumer
  [constant: string]: unknown
}
const earliest = Number(library.EARLIEST_OFFSET)
const latest = Number(library.LATEST_OFFSET)
const common = {
  connectionString: bootstrap,
  idleTimeout: 50,
  // It calls back, which the package snappy of today does not.
  asyncCompression: false,
  logger: { logLevel: 2 },
  reconnectionDelay: { min: 100, max: 500 },
}
const producer = new library.Producer({
  ...common,
  requiredAcks: -1,
  retries: { attempts: 30, delay: { min: 100, max: 500 } },
})
await producer.init()

async function topics(): Promise<string[]> {
  const { topicMetadata } = await producer.client.metadataRequest([])
  return topicMetadata.map(({ topicName }) => topicName)
}

async function create(topic: string): Promise<void> {
  while (!(await topics()).includes(topic)) await producer.client.updateMetadata([topic])
}

async function produce(topic: string, codec: string, records: Entry[]): Promise<void> {
  const messages = records.map(({ partition, key, value }) => ({
    topic,
    partition,
    message: { key, value },
  }))
  const options = { codec: library[`COMPRESSION_${codec.toUpperCase()}`] }
  for (const { error } of await producer.send(messages, options)) if (error) throw error
}

const partitionsOf = (topic: string, count: number): Place[] =>
  Array.from({ length: count }, (_, partition) => ({ topic, partition }))

async function consume(topic: string, count: number): Promise<void> {
  const reader = new library.SimpleConsumer(common)
  await reader.init()
  let wanted = 0
  for (const { partition } of partitionsOf(topic, count)) {
    wanted += await reader.offset(topic, partition, latest)
  }
  for (const { partition } of partitionsOf(topic, count)) {
    await reader.subscribe(topic, partition, { time: earliest }, (messages) => {
      wanted -= messages.length
      for (const { offset, message } of messages) {
        tell(partition, offset, message.key, message.value)
      }
    })
  }
  while (wanted > 0) await sleep(20)
  await reader.end()
}

let member: GroupConsumer | undefined
let watch: NodeJS.Timeout | undefined
let memberTopic = ''
const positions = new Map<number, number>()

function groupConsumer(groupId: string): GroupConsumer {
  return new library.GroupConsumer({
    ...common,
    groupId,
    sessionTimeout: 6000,
    heartbeatTimeout: 500,
    startingOffset: earliest,
    recoveryOffset: earliest,
  })
}

async function join(group: string, topic: string): Promise<void> {
  const joined = groupConsumer(group)
  member = joined
  memberTopic = topic
  let before = ''
  // It tells nobody what it was assigned.
  watch = setInterval(() => {
    const now = Object.values(joined.subscriptions)
      .map(({ partition }) => partition)
      .sort()
    if (now.join() !== before) tellAssigned(now)
    before = now.join()
  }, 20)
  const handler: Handler = (messages, _, partition) => {
    for (const { offset, message } of messages) {
      positions.set(partition, offset)
      tell(partition, offset, message.key, message.value)
    }
  }
  await joined.init([{ subscriptions: [topic], handler }])
}

/** Behind a restart it joins the group anew, and cannot commit meanwhile. */
async function commit(): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      await commitOnce()
      return
    } catch (error) {
      if (attempt === 40) throw error
      await sleep(500)
    }
  }
}

async function commitOnce(): Promise<void> {
  const offsets = [...positions].map(([partition, offset]) => ({
    topic: memberTopic,
    partition,
    offset,
    metadata: '',
  }))
  await member?.commitOffset(offsets)
}

async function committed(group: string, topic: string, count: number): Promise<number[]> {
  const reader = groupConsumer(group)
  await reader.client.init()
  await reader.client.updateGroupCoordinator(group)
  const found = await reader.fetchOffset(partitionsOf(topic, count))
  const by = new Map(found.map(({ partition, offset }) => [partition, offset]))
  return partitionsOf(topic, count).map(({ partition }) => by.get(partition) ?? -1)
}

async function leave(): Promise<void> {
  clearInterval(watch)
  await member?.end()
  member = undefined
}

await serve({
  create,
  topics,
  produce,
  consume,
  join,
  commit,
  committed,
  leave,
  close: async () => {
    await leave()
    await producer.end()
  },
})
