/** The driver of packages that offer librdkafka's API; the first argument names the package. */
import { randomUUID } from 'node:crypto'
import { bootstrap, type Entry, foreign, serve, sleep, tell, tellAssigned } from './serve.js'

type Callback<T = unknown> = (error: Error | null, result: T) => void
type Settings = Record<string, string | number | boolean>

interface Place {
  topic: string
  partition: number
  offset?: number
}

interface Message extends Place {
  offset: number
  key: Buffer
  value: Buffer
}

interface Listing {
  topics: { name: string }[]
}

interface Connected {
  connect(options: object, done: Callback): void
  disconnect(done: Callback): void
  getMetadata(options: object, done: Callback<Listing>): void
  on(event: string, listener: (...args: never[]) => void): void
}

interface Producer extends Connected {
  setPollInterval(ms: number): void
  produce(topic: string, partition: number, value: Buffer, key: string): void
}

interface Consumer extends Connected {
  assign(places: Place[]): void
  assignments(): Place[]
  subscribe(topics: string[]): void
  consume(): void
  commitSync(places: Place[]): void
  committed(places: Place[], timeoutMs: number, done: Callback<Place[]>): void
  queryWatermarkOffsets(
    topic: string,
    partition: number,
    timeoutMs: number,
    done: Callback<{ highOffset: number }>,
  ): void
}

interface Admin {
  createTopic(topic: object, done: Callback): void
  deleteTopic(topic: string, timeoutMs: number, done: Callback): void
  disconnect(): void
}

const library = (await foreign(process.argv[2] ?? '')) as {
  AdminClient: { create(settings: Settings): Admin }
  Producer: new (settings: Settings) => Producer
  KafkaConsumer: new (settings: Settings, topic: Settings) => Consumer
}

const common = { 'bootstrap.servers': bootstrap, 'reconnect.backoff.max.ms': 500 }
const admin = library.AdminClient.create(common)

interface Sender {
  readonly client: Producer
  onDelivery(error: Error | null): void
}
const senders = new Map<string, Sender>()

function promised<T>(act: (done: Callback<T>) => void): Promise<T> {
  return new Promise((resolve, reject) => {
    act((error, result) => (error ? reject(error) : resolve(result)))
  })
}

async function connected<T extends Connected>(client: T): Promise<T> {
  client.on('event.error', (error: Error) => console.error(error.message))
  await promised((done) => client.connect({}, done))
  return client
}

async function sender(codec: string): Promise<Sender> {
  const found = senders.get(codec)
  if (found) return found
  const settings = { dr_cb: true, 'compression.codec': codec, 'enable.idempotence': true }
  const client = await connected(new library.Producer({ ...common, ...settings, 'linger.ms': 50 }))
  client.setPollInterval(20)
  const made: Sender = { client, onDelivery: () => {} }
  client.on('delivery-report', (error: Error | null) => made.onDelivery(error))
  senders.set(codec, made)
  return made
}

async function produce(topic: string, codec: string, records: Entry[]): Promise<void> {
  const to = await sender(codec)
  let left = records.length
  const acknowledged = new Promise<void>((resolve, reject) => {
    to.onDelivery = (error) => {
      left -= 1
      if (error) reject(error)
      else if (left === 0) resolve()
    }
  })
  for (const { partition, key, value } of records) {
    to.client.produce(topic, partition, Buffer.from(value), key)
  }
  await acknowledged
}

async function topics(): Promise<string[]> {
  const { client } = await sender('none')
  const ask = (done: Callback<Listing>) => client.getMetadata({ timeout: 10_000 }, done)
  return (await promised(ask)).topics.map(({ name }) => name)
}

function consumer(group: string, settings: Settings = {}): Promise<Consumer> {
  const quick = {
    'group.id': group,
    'enable.auto.commit': false,
    'session.timeout.ms': 6000,
    'heartbeat.interval.ms': 500,
    'fetch.wait.max.ms': 100,
    'check.crcs': true,
  }
  const all = { ...common, ...quick, ...settings }
  return connected(new library.KafkaConsumer(all, { 'auto.offset.reset': 'earliest' }))
}

const partitionsOf = (topic: string, count: number): Place[] =>
  Array.from({ length: count }, (_, partition) => ({ topic, partition }))

async function consume(topic: string, count: number): Promise<void> {
  const reader = await consumer(`reader-${randomUUID()}`)
  let left = 0
  for (const { partition } of partitionsOf(topic, count)) {
    const end = (done: Callback<{ highOffset: number }>) =>
      reader.queryWatermarkOffsets(topic, partition, 10_000, done)
    left += (await promised(end)).highOffset
  }
  reader.on('data', ({ partition, offset, key, value }: Message) => {
    tell(partition, offset, key, value)
    left -= 1
  })
  reader.assign(partitionsOf(topic, count).map((place) => ({ ...place, offset: 0 })))
  reader.consume()
  while (left > 0) await sleep(20)
  await promised((done) => reader.disconnect(done))
}

let member: Consumer | undefined
let watch: NodeJS.Timeout | undefined
let memberTopic = ''
const positions = new Map<number, number>()

async function join(group: string, topic: string, assignor: string): Promise<void> {
  const joined = await consumer(group, { 'partition.assignment.strategy': assignor })
  member = joined
  memberTopic = topic
  joined.on('data', ({ partition, offset, key, value }: Message) => {
    positions.set(partition, offset + 1)
    tell(partition, offset, key, value)
  })
  joined.subscribe([topic])
  joined.consume()
  let before = ''
  watch = setInterval(() => {
    const now = joined
      .assignments()
      .map(({ partition }) => partition)
      .sort()
    if (now.join() !== before) tellAssigned(now)
    before = now.join()
  }, 20)
}

async function commit(): Promise<void> {
  const offsets = [...positions].map(([partition, offset]) => ({
    topic: memberTopic,
    partition,
    offset,
  }))
  for (let attempt = 1; ; attempt += 1) {
    try {
      member?.commitSync(offsets)
      return
    } catch (error) {
      if (attempt === 40) throw error
      await sleep(500)
    }
  }
}

async function committed(group: string, topic: string, count: number): Promise<number[]> {
  const reader = await consumer(group)
  const places = partitionsOf(topic, count)
  const found = await promised<Place[]>((done) => reader.committed(places, 10_000, done))
  await promised((done) => reader.disconnect(done))
  const by = new Map(found.map(({ partition, offset }) => [partition, offset]))
  return places.map(({ partition }) => by.get(partition) ?? -1)
}

async function leave(): Promise<void> {
  clearInterval(watch)
  const leaving = member
  member = undefined
  if (leaving) await promised((done) => leaving.disconnect(done))
}

await serve({
  create: (topic, count) => {
    const wanted = { topic, num_partitions: count, replication_factor: 1 }
    return promised((done) => admin.createTopic(wanted, done))
  },
  topics,
  produce,
  consume,
  join,
  commit,
  committed,
  leave,
  delete: (topic) => promised((done) => admin.deleteTopic(topic, 10_000, done)),
  close: async () => {
    await leave()
    for (const { client } of senders.values()) {
      await promised((done) => client.disconnect(done))
    }
    admin.disconnect()
  },
})
