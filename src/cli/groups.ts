/**
 * `seglog groups list|describe|reset-offsets|delete`: consumer groups and what they have committed,
 * by Kafka's protocol.
 */
import { quoted } from '../arguments.js'
import {
  type CommittedOffset,
  commitOffsets,
  committedOffsets,
  type DescribedGroup,
  deleteGroup,
  describeGroup,
  listGroups,
} from '../client/admin-groups.js'
import type { Cluster } from '../client/cluster.js'
import { BrokerError } from '../client/errors.js'
import { listOffsets, OffsetSpec } from '../client/offsets.js'
import { KafkaError } from '../errors.js'
import {
  COMMON_USAGE,
  noMore,
  onlyName,
  parseBootstrap,
  parseClient,
  withCluster,
} from './client-options.js'
import { type Planned, planReset, type Reset, resetOf, resetOptions } from './groups-reset.js'
import { type Listing, listing } from './listing.js'
import { counted, type Io } from './output.js'
import { UsageError } from './usage.js'

const USAGE = `usage: seglog groups list
       seglog groups describe GROUP...
       seglog groups reset-offsets GROUP --topic TOPIC[:PARTITION,...]... WHERE [--execute]
       seglog groups delete GROUP...
  WHERE               one of --to-earliest, --to-latest, --to-offset N, --shift-by N,
                      --to-datetime TIME (ISO 8601, or ms since 1970)
  --topic             may be repeated; without it, every partition that has an offset
  --execute           does it; else the plan is printed and nothing changes
${COMMON_USAGE}`

const options = {
  ...resetOptions,
  topic: { type: 'string', multiple: true },
  execute: { type: 'boolean', default: false },
} as const

/** Runs the subcommand with the arguments behind `groups` and returns its exit code. */
export async function run(args: string[], io: Io): Promise<number> {
  const { values, positionals } = parseClient(args, options, USAGE)
  if (values.help) {
    io.stdout.write(USAGE)
    return 0
  }
  const [action = '', ...names] = positionals
  const reset = resetOf(values, USAGE)
  const isReset = action === 'reset-offsets'
  if (!isReset && (reset || values.topic || values.execute)) {
    throw new UsageError(`only reset-offsets takes what says where, not ${quoted(action)}`, USAGE)
  }
  const work = workOf(action, names, values, reset)
  const bootstrap = parseBootstrap(values['bootstrap-server'], USAGE)
  return listing(io, values.json, (out) => withCluster(bootstrap, (cluster) => work(cluster, out)))
}

type Work = (cluster: Cluster, out: Listing) => Promise<void>

function workOf(
  action: string,
  names: string[],
  values: { topic?: string[] | undefined; execute: boolean },
  reset: Reset | undefined,
): Work {
  if (action === 'list') {
    noMore(names, USAGE)
    return list
  }
  if (action === 'describe' || action === 'delete') {
    if (names.length === 0) throw new UsageError('GROUP is needed', USAGE)
    const each = action === 'describe' ? describe : remove
    return async (cluster, out) => {
      for (const name of names) await each(cluster, name, out)
    }
  }
  if (action !== 'reset-offsets') {
    throw new UsageError(
      action ? `there is no action ${action} of groups` : 'what is to be done?',
      USAGE,
    )
  }
  const group = onlyName(names, 'GROUP', USAGE)
  if (!reset) throw new UsageError('where the offsets are to be set to is needed', USAGE)
  return async (cluster, out) => {
    const plan = await planReset(cluster, group, { topics: values.topic, reset, usage: USAGE })
    if (values.execute) await commit(cluster, group, plan)
    const rows = plan.map((each) => ({ group, ...each, executed: values.execute }))
    out.rows('reset', ['topic', 'partition', 'offset', 'newOffset'], rows.map(withNewOffset))
    if (!values.execute) {
      out.say('nothing was changed; --execute does it', 'plan', { group, executed: false })
    }
  }
}

async function commit(cluster: Cluster, group: string, plan: readonly Planned[]) {
  try {
    await commitOffsets(cluster, group, plan)
  } catch (error) {
    if (!(error instanceof BrokerError) || error.kafkaCode !== KafkaError.UNKNOWN_MEMBER_ID) {
      throw error
    }
    throw new BrokerError(error.kafkaCode, `group ${group} has members, which must end first`)
  }
}

/** `offset` is what was committed before; what it becomes is `newOffset`. */
function withNewOffset<T extends { offset: number; before: number | null }>(row: T) {
  const { before, offset, ...rest } = row
  return { ...rest, offset: before, newOffset: offset }
}

async function list(cluster: Cluster, out: Listing): Promise<void> {
  const groups = await listGroups(cluster)
  const rows = groups.map(({ groupId, type, ...rest }) => {
    return { group: groupId, ...rest, groupType: type }
  })
  out.rows('group', ['group', 'state', 'groupType', 'protocolType'], rows)
}

async function describe(cluster: Cluster, name: string, out: Listing): Promise<void> {
  const offsets = await committedOffsets(cluster, name)
  const group = await describeGroup(cluster, name)
  const { state, protocol, protocolType, members } = group
  const strategy = protocol === '' ? '' : `, ${protocol}`
  const count = counted(members.length, 'member')
  out.say(`${name}: ${state || 'of unknown state'}${strategy}, ${count}`, 'group', {
    group: name,
    state,
    protocolType,
    protocol,
    members: members.map(({ assignment: _, ...member }) => member),
  })
  const rows = await lagRows(cluster, group, offsets)
  const columns = ['topic', 'partition', 'offset', 'endOffset', 'lag', 'memberId', 'host']
  out.rows('offset', columns, rows)
}

/** A row for each partition that has an offset or a member. */
async function lagRows(cluster: Cluster, group: DescribedGroup, offsets: CommittedOffset[]) {
  const place = (topic: string, partition: number) => `${topic}-${partition}`
  const owners = new Map(
    group.members.flatMap((member) =>
      member.assignment.map(
        ({ topic, partition }) => [place(topic, partition), { topic, partition, member }] as const,
      ),
    ),
  )
  const wanted = new Map<string, { topic: string; partition: number; offset: number | null }>()
  for (const { topic, partition, offset } of offsets) {
    wanted.set(place(topic, partition), { topic, partition, offset })
  }
  for (const [key, { topic, partition }] of owners) {
    if (!wanted.has(key)) wanted.set(key, { topic, partition, offset: null })
  }
  const ends = await endsOf(cluster, [...wanted.values()])
  return [...wanted].map(([key, { topic, partition, offset }]) => {
    const endOffset = ends.get(key) ?? null
    const lag = endOffset === null || offset === null ? null : Math.max(0, endOffset - offset)
    const member = owners.get(key)?.member
    const { memberId = null, host = null, clientId = null } = member ?? {}
    return {
      group: group.groupId,
      topic,
      partition,
      offset,
      endOffset,
      lag,
      memberId,
      clientId,
      host,
    }
  })
}

/** End offsets by `topic-partition`; of topics that are gone there are none. */
async function endsOf(
  cluster: Cluster,
  partitions: readonly { topic: string; partition: number }[],
): Promise<Map<string, number>> {
  const topics = [...new Set(partitions.map(({ topic }) => topic))]
  if (topics.length === 0) return new Map()
  const metadata = await cluster.metadata(topics)
  const led = partitions.filter(({ topic, partition }) =>
    metadata
      .topic(topic)
      ?.partitions.some((each) => each.index === partition && each.leaderId >= 0),
  )
  const wishes = led.map((each) => ({ ...each, timestamp: OffsetSpec.LATEST }))
  const found = await listOffsets(cluster, wishes)
  return new Map(found.map(({ topic, partition, offset }) => [`${topic}-${partition}`, offset]))
}

async function remove(cluster: Cluster, name: string, out: Listing): Promise<void> {
  try {
    await deleteGroup(cluster, name)
  } catch (error) {
    if (!(error instanceof BrokerError) || error.kafkaCode !== KafkaError.NON_EMPTY_GROUP)
      throw error
    throw new BrokerError(
      error.kafkaCode,
      `group ${name}`,
      'it has members, which must leave first',
    )
  }
  out.say(`group ${name} deleted`, 'deleted', { group: name })
}
