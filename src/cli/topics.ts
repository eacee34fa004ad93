/**
 * `seglog topics list|describe|create|alter|delete`: the topics of a cluster, by Kafka's protocol,
 * of any broker that speaks it.
 */
import {
  alterKnown,
  type ConfigChange,
  type ConfigEntry,
  describeConfigs,
} from '../client/admin-configs.js'
import { createPartitions, createTopic, deleteTopic } from '../client/admin-topics.js'
import type { Cluster } from '../client/cluster.js'
import { BrokerError, checkCode } from '../client/errors.js'
import type { TopicMetadata } from '../client/metadata.js'
import { listOffsets, OffsetSpec } from '../client/offsets.js'
import { KafkaError, kafkaErrorName } from '../errors.js'
import {
  COMMON_USAGE,
  noMore,
  onlyName,
  pairs,
  parseBootstrap,
  parseClient,
  wholeOption,
  withCluster,
} from './client-options.js'
import { type Listing, listing } from './listing.js'
import { counted, type Io } from './output.js'
import { UsageError } from './usage.js'

const USAGE = `usage: seglog topics list [--internal]
       seglog topics describe [--internal] [TOPIC]...
       seglog topics create TOPIC [--partitions N] [--replication-factor N]
           [--config KEY=VALUE]... [--if-not-exists]
       seglog topics alter TOPIC [--partitions N] [--config KEY=VALUE]...
           [--delete-config KEY]...
       seglog topics delete TOPIC... [--if-exists]
  --internal          list or describe what begins as internal topics do, too
  --partitions        of a new topic, else as the broker has it; of an old one, more than it has
  --config            sets a key of its configuration; may be repeated
  --delete-config     takes a key back to the broker's value; may be repeated
${COMMON_USAGE}`

const INT32_MAX = 2 ** 31 - 1

const options = {
  internal: { type: 'boolean', default: false },
  partitions: { type: 'string' },
  'replication-factor': { type: 'string' },
  config: { type: 'string', multiple: true },
  'delete-config': { type: 'string', multiple: true },
  'if-not-exists': { type: 'boolean', default: false },
  'if-exists': { type: 'boolean', default: false },
} as const

type Values = ReturnType<typeof parse>['values']
type Action = (cluster: Cluster, names: string[], values: Values, out: Listing) => Promise<void>

/** Which options an action takes, besides those of all. */
const actions = new Map<string, { takes: readonly (keyof typeof options)[]; run: Action }>([
  ['list', { takes: ['internal'], run: list }],
  ['describe', { takes: ['internal'], run: describe }],
  [
    'create',
    { takes: ['partitions', 'replication-factor', 'config', 'if-not-exists'], run: create },
  ],
  ['alter', { takes: ['partitions', 'config', 'delete-config'], run: alter }],
  ['delete', { takes: ['if-exists'], run: remove }],
])

const parse = (args: string[]) => parseClient(args, options, USAGE)

/** Runs the subcommand with the arguments behind `topics` and returns its exit code. */
export async function run(args: string[], io: Io): Promise<number> {
  const { values, positionals } = parse(args)
  if (values.help) {
    io.stdout.write(USAGE)
    return 0
  }
  const [name = '', ...names] = positionals
  const action = actions.get(name)
  if (!action) {
    throw new UsageError(
      name ? `there is no action ${name} of topics` : 'what is to be done?',
      USAGE,
    )
  }
  for (const option of Object.keys(options) as (keyof typeof options)[]) {
    if (
      values[option] !== undefined &&
      values[option] !== false &&
      !action.takes.includes(option)
    ) {
      throw new UsageError(`topics ${name} takes no --${option}`, USAGE)
    }
  }
  const bootstrap = parseBootstrap(values['bootstrap-server'], USAGE)
  return listing(io, values.json, (out) =>
    withCluster(bootstrap, (cluster) => action.run(cluster, names, values, out)),
  )
}

async function list(cluster: Cluster, names: string[], values: Values, out: Listing) {
  noMore(names, USAGE)
  const { topics } = await cluster.metadata(null)
  const shown = topics.filter(({ isInternal }) => values.internal || !isInternal)
  const rows = shown.map((topic) => ({
    topic: topic.name,
    partitions: topic.partitions.length,
    replicationFactor: topic.partitions[0]?.replicas.length ?? 0,
  }))
  out.rows('topic', ['topic', 'partitions', 'replicationFactor'], rows)
}

async function describe(cluster: Cluster, names: string[], values: Values, out: Listing) {
  const isAll = names.length === 0
  const { topics } = await cluster.metadata(isAll ? null : names)
  const shown = topics.filter(({ isInternal }) => !isAll || values.internal || !isInternal)
  for (const topic of shown) await describeOne(cluster, topic, out)
}

async function describeOne(cluster: Cluster, topic: TopicMetadata, out: Listing) {
  const { name, topicId, partitions } = topic
  checkCode(topic.errorCode, `topic ${name}`)
  const entries = await describeConfigs(cluster, { type: 'topic', name })
  const configs = Object.fromEntries(entries.filter(isOwn).map(({ name, value }) => [name, value]))
  const replicationFactor = partitions[0]?.replicas.length ?? 0
  const text = Object.entries(configs).map(([key, value]) => ` ${key}=${value}`)
  const replicas = `${counted(replicationFactor, 'replica')} each`
  const counts = `${counted(partitions.length, 'partition')}, ${replicas}`
  out.say(
    `${name}: ${counts}, id ${topicId}${text.length > 0 ? `, with${text.join('')}` : ''}`,
    'topic',
    {
      topic: name,
      topicId,
      partitions: partitions.length,
      replicationFactor,
      isInternal: topic.isInternal,
      configs,
    },
  )
  const offsets = await offsetsOf(cluster, topic)
  const columns = ['partition', 'leader', 'replicas', 'isr', 'startOffset', 'endOffset', 'error']
  const rows = partitions.map(({ index, leaderId, leaderEpoch, replicas, isr, errorCode }) => ({
    topic: name,
    partition: index,
    leader: leaderId,
    leaderEpoch,
    replicas,
    isr,
    startOffset: offsets.get(`start ${index}`) ?? null,
    endOffset: offsets.get(`end ${index}`) ?? null,
    error: errorCode === KafkaError.NONE ? null : kafkaErrorName(errorCode),
  }))
  out.rows('partition', columns, rows)
}

const isOwn = ({ source }: ConfigEntry) => source === 'topic'

/** Of partitions that have a leader. */
async function offsetsOf(cluster: Cluster, { name, partitions }: TopicMetadata) {
  const led = partitions.filter(({ leaderId }) => leaderId >= 0)
  const offsets = new Map<string, number>()
  for (const [what, timestamp] of [
    ['start', OffsetSpec.EARLIEST],
    ['end', OffsetSpec.LATEST],
  ] as const) {
    const wishes = led.map(({ index }) => ({ topic: name, partition: index, timestamp }))
    for (const { partition, offset } of await listOffsets(cluster, wishes)) {
      offsets.set(`${what} ${partition}`, offset)
    }
  }
  return offsets
}

const count = (name: string, text: string | undefined, max: number) =>
  wholeOption(name, text, { min: 1, max, usage: USAGE })

async function create(cluster: Cluster, names: string[], values: Values, out: Listing) {
  const name = onlyName(names, 'TOPIC', USAGE)
  const partitions = count('partitions', values.partitions, INT32_MAX) ?? -1
  const factor = values['replication-factor']
  const replicationFactor = count('replication-factor', factor, 32_767) ?? -1
  const configs = Object.fromEntries(pairs('config', values.config, USAGE))
  try {
    await createTopic(cluster, { name, partitions, replicationFactor, configs })
  } catch (error) {
    if (!values['if-not-exists'] || !hasCode(error, KafkaError.TOPIC_ALREADY_EXISTS)) throw error
    out.say(`topic ${name} is there already`, 'exists', { topic: name })
    return
  }
  out.say(`topic ${name} created`, 'created', { topic: name })
}

async function alter(cluster: Cluster, names: string[], values: Values, out: Listing) {
  const name = onlyName(names, 'TOPIC', USAGE)
  const partitions = count('partitions', values.partitions, INT32_MAX)
  const changes: ConfigChange[] = [
    ...pairs('config', values.config, USAGE).map(([key, value]) => ({ name: key, set: value })),
    ...(values['delete-config'] ?? []).map((key) => ({ name: key, unset: true as const })),
  ]
  if (partitions === undefined && changes.length === 0) {
    throw new UsageError('--partitions, --config or --delete-config is needed', USAGE)
  }
  if (changes.length > 0) await alterKnown(cluster, { type: 'topic', name }, changes)
  if (partitions !== undefined) await createPartitions(cluster, name, partitions)
  out.say(`topic ${name} altered`, 'altered', { topic: name })
}

async function remove(cluster: Cluster, names: string[], values: Values, out: Listing) {
  if (names.length === 0) throw new UsageError('TOPIC is needed', USAGE)
  for (const name of names) {
    try {
      await deleteTopic(cluster, name)
    } catch (error) {
      const isMissing = hasCode(error, KafkaError.UNKNOWN_TOPIC_OR_PARTITION)
      if (!values['if-exists'] || !isMissing) throw error
      out.say(`topic ${name} is not there`, 'missing', { topic: name })
      continue
    }
    out.say(`topic ${name} deleted`, 'deleted', { topic: name })
  }
}

function hasCode(error: unknown, code: number): boolean {
  return error instanceof BrokerError && error.kafkaCode === code
}
