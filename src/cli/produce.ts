/**
 * `seglog produce TOPIC`: lines of stdin or of a file as records. Ends when the input does, and
 * says where the records are. With acks=all, the default, what it said is stored is stored once.
 */
import { open } from 'node:fs/promises'
import type { Cluster } from '../client/cluster.js'
import { partitionOfKey } from '../client/partitioner.js'
import { RecordSender, type SenderOptions } from '../client/record-sender.js'
import { retrying } from '../client/retry.js'
import { SeglogError } from '../errors.js'
import { type CompressionName, codecNamed, type RecordHeaderInput } from '../records/index.js'
import {
  COMMON_USAGE,
  onlyName,
  pairs,
  parseBootstrap,
  parseClient,
  wholeOption,
  withCluster,
} from './client-options.js'
import { linesOf } from './input-lines.js'
import { listing } from './listing.js'
import { counted, type Io } from './output.js'
import { type InputRecord, jsonLines, type LineReader, plainLines } from './record-lines.js'
import { UsageError } from './usage.js'

const USAGE = `usage: seglog produce TOPIC [--file FILE] [--key-separator TEXT] [--json-lines]
       [--headers K=V,...] [--partition N] [--compression none|gzip|snappy|lz4|zstd]
       [--acks 0|1|all] [--timeout-ms N]
  --file              reads this file instead of stdin
  --key-separator     what comes before it in a line is the key, which chooses the partition
  --json-lines        each line is an object as \`seglog consume --json\` prints it
  --headers           headers of every record; may be repeated
  --partition         where all of them go, whatever their keys
  --compression       of each batch; default none
  --acks              who must have a record before it counts as stored; default all
  --timeout-ms        how long a batch is tried; default 120000
${COMMON_USAGE}`

const options = {
  file: { type: 'string' },
  'key-separator': { type: 'string' },
  'json-lines': { type: 'boolean', default: false },
  headers: { type: 'string', multiple: true },
  partition: { type: 'string' },
  compression: { type: 'string', default: 'none' },
  acks: { type: 'string', default: 'all' },
  'timeout-ms': { type: 'string', default: '120000' },
} as const

const INT32_MAX = 2 ** 31 - 1
/** Of a batch before compression, below what a broker takes at most unless configured. */
const BATCH_BYTES = 512 * 1024
const BATCH_RECORDS = 10_000
/** Of all batches together, however many partitions there are. */
const PENDING_BYTES = 32 * 1024 * 1024
/** Around key and value of a record, at most. */
const RECORD_BYTES = 40
/** ms after which a batch goes that is not full, where no more input comes. */
const LINGER_MS = 100
/** ms in which a topic that the broker makes must have come. */
const TOPIC_MS = 10_000

/** Runs the subcommand with the arguments behind `produce` and returns its exit code. */
export async function run(args: string[], io: Io): Promise<number> {
  const { values, positionals } = parseClient(args, options, USAGE)
  if (values.help) {
    io.stdout.write(USAGE)
    return 0
  }
  const topic = onlyName(positionals, 'TOPIC', USAGE)
  const partition = wholeOption('partition', values.partition, {
    min: 0,
    max: INT32_MAX,
    usage: USAGE,
  })
  const read = readerOf(values)
  const sending = sendingOf(values)
  const bootstrap = parseBootstrap(values['bootstrap-server'], USAGE)
  const file = values.file === undefined ? undefined : await open(values.file)
  const input = file?.createReadStream() ?? process.stdin
  return listing(io, values.json, (out) =>
    withCluster(bootstrap, async (cluster) => {
      const batches = new Batches(cluster, topic, partition, sending)
      await batches.open()
      const failure = await batches.addAll(input, read)
      await batches.sendAll()
      const rows = batches.rows()
      const records = rows.reduce((sum, row) => sum + row.records, 0)
      out.say(`${counted(records, 'record')} to ${topic}`, 'summary', { topic, records })
      out.rows('partition', ['partition', 'records', 'firstOffset', 'lastOffset'], rows)
      if (failure !== undefined) throw failure
    }),
  )
}

type Values = ReturnType<typeof parseClient<typeof options>>['values']

function readerOf(values: Values): LineReader {
  const separator = values['key-separator']
  if (separator === '') throw new UsageError('--key-separator is empty', USAGE)
  const headers: RecordHeaderInput[] = pairs(
    'headers',
    values.headers?.flatMap((text) => text.split(',')),
    USAGE,
  ).map(([key, value]) => ({ key, value }))
  if (!values['json-lines']) return plainLines(separator, headers)
  if (separator === undefined) return jsonLines(headers)
  throw new UsageError('--json-lines and --key-separator exclude each other', USAGE)
}

function sendingOf(values: Values): SenderOptions {
  const acks = new Map<string, 0 | 1 | -1>([
    ['0', 0],
    ['1', 1],
    ['all', -1],
    ['-1', -1],
  ]).get(values.acks)
  if (acks === undefined)
    throw new UsageError(`--acks takes 0, 1 or all, not ${values.acks}`, USAGE)
  const deliveryTimeoutMs =
    wholeOption('timeout-ms', values['timeout-ms'], { min: 1, max: INT32_MAX, usage: USAGE }) ?? 0
  return { acks, compression: compressionOf(values.compression), deliveryTimeoutMs }
}

function compressionOf(name: string): CompressionName {
  try {
    return codecNamed(name).name
  } catch (error) {
    if (!(error instanceof SeglogError)) throw error
    throw new UsageError(`--compression: there is no codec ${name}`, USAGE)
  }
}

interface PartitionBatch {
  records: InputRecord[]
  bytes: number
  sent: number
  firstOffset: number | null
  lastOffset: number | null
}

/** Gathers records by partition, and sends what is full. */
class Batches {
  readonly #cluster: Cluster
  readonly #topic: string
  readonly #fixed: number | undefined
  readonly #sender: RecordSender
  readonly #partitions = new Map<number, PartitionBatch>()
  #count = 0
  #pendingBytes = 0
  #full: number | undefined
  /** Where records without a key go, until the batch is full. */
  #current = 0

  constructor(cluster: Cluster, topic: string, fixed: number | undefined, sending: SenderOptions) {
    this.#cluster = cluster
    this.#topic = topic
    this.#fixed = fixed
    this.#sender = new RecordSender(cluster, sending)
  }

  /** Finds the topic, which the broker may make now. */
  async open(): Promise<void> {
    const topic = await retrying(() => this.#cluster.topic(this.#topic, { create: true }), {
      env: this.#cluster.env,
      timeoutMs: TOPIC_MS,
      isRetriable: (error) =>
        error instanceof Error && 'isStale' in error && error.isStale === true,
    })
    this.#count = topic.partitions.length
    this.#current = this.#cluster.env.random.below(this.#count)
    if (this.#fixed !== undefined) this.#check(this.#fixed)
  }

  /**
   * Takes what the lines of the input say. What stands before a line that says nothing is stored:
   * resolves with why there is no more, or undefined at the end.
   */
  async addAll(input: AsyncIterable<Buffer | string>, read: LineReader): Promise<unknown> {
    let number = 0
    const lines = linesOf(input)
    for (;;) {
      const group: InputRecord[] = []
      let failure: unknown
      try {
        const next = lines.next()
        if (await this.#isLate(next)) await this.sendAll()
        const { done, value = [] } = await next
        if (done) return undefined
        for (const line of value) group.push(read(line, ++number))
      } catch (error) {
        failure = error
      }
      for (const record of group) {
        this.add(record)
        if (this.due) await this.sendDue()
      }
      if (failure !== undefined) return failure
    }
  }

  /** Whether the input is slower than records should wait. */
  #isLate(next: Promise<unknown>): Promise<boolean> {
    return new Promise((resolve) => {
      const timer = this.#cluster.env.after(LINGER_MS, () => resolve(true))
      const inTime = () => {
        timer.cancel()
        resolve(false)
      }
      next.then(inTime, inTime)
    })
  }

  /** Takes a record. */
  add(record: InputRecord): void {
    const partition = this.#partitionOf(record)
    const batch = this.#batch(partition)
    batch.records.push(record)
    const bytes = RECORD_BYTES + (record.key?.length ?? 0) + (record.value?.length ?? 0)
    batch.bytes += bytes
    this.#pendingBytes += bytes
    const isFull = batch.bytes >= BATCH_BYTES || batch.records.length >= BATCH_RECORDS
    if (isFull) this.#full = partition
  }

  /** True when `sendDue` is to be called before the next record. */
  get due(): boolean {
    return this.#full !== undefined || this.#pendingBytes > PENDING_BYTES
  }

  async sendDue(): Promise<void> {
    const full = this.#full
    this.#full = undefined
    if (full !== undefined) await this.send(full)
    if (this.#pendingBytes > PENDING_BYTES) await this.sendAll()
  }

  async send(partition: number): Promise<void> {
    const batch = this.#batch(partition)
    const { records } = batch
    if (records.length === 0) return
    batch.records = []
    this.#pendingBytes -= batch.bytes
    batch.bytes = 0
    this.#current = (this.#current + 1) % this.#count
    const plain = records.map(({ partition: _, ...record }) => record)
    const sent = await this.#sender.send(this.#topic, partition, plain)
    batch.sent += records.length
    if (sent === undefined || sent.baseOffset < 0) return
    batch.firstOffset ??= sent.baseOffset
    batch.lastOffset = sent.lastOffset
  }

  async sendAll(): Promise<void> {
    for (const partition of this.#partitions.keys()) await this.send(partition)
  }

  /** What was sent, by partition. */
  rows() {
    return [...this.#partitions]
      .sort(([a], [b]) => a - b)
      .map(([partition, { sent, firstOffset, lastOffset }]) => ({
        topic: this.#topic,
        partition,
        records: sent,
        firstOffset,
        lastOffset,
      }))
  }

  #partitionOf(record: InputRecord): number {
    if (this.#fixed !== undefined) return this.#fixed
    if (record.partition !== undefined) return this.#check(record.partition)
    return record.key === null ? this.#current : partitionOfKey(record.key, this.#count)
  }

  #check(partition: number): number {
    if (partition >= 0 && partition < this.#count) return partition
    const text = `${this.#topic} has partitions 0 to ${this.#count - 1}, and none of ${partition}`
    throw new SeglogError('BAD_ARGUMENT', text)
  }

  #batch(partition: number): PartitionBatch {
    const known = this.#partitions.get(partition)
    if (known) return known
    const made = { records: [], bytes: 0, sent: 0, firstOffset: null, lastOffset: null }
    this.#partitions.set(partition, made)
    return made
  }
}
