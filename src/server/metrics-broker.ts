/**
 * What is read off a broker when somebody asks for its metrics: topics, partitions, groups,
 * connections, memory. Costs nothing between two questions.
 */
import type { BrokerContext } from '../handlers/context.js'
import type { Partition } from '../replication/partition.js'
import type { TopicPartition } from '../storage/log-files.js'
import type { Listener } from './listener.js'
import type { MetricsText } from './metrics-text.js'
import type { RequestMemory } from './request-memory.js'

/** The parts of a broker that are looked at. */
export interface Measured {
  readonly context: BrokerContext
  readonly listeners: readonly Listener[]
  readonly memory: RequestMemory | undefined
  /** Absolute paths. */
  readonly dataDirs: readonly string[]
}

export function writeBroker(text: MetricsText, measured: Measured): void {
  const { context, listeners, memory, dataDirs } = measured
  const { brokerId, clusterId, replicas } = context
  text.family('seglog_broker_info', 'gauge', 'Which broker this is; always 1.')
  text.sample(1, { broker_id: brokerId, cluster_id: clusterId })
  text.family('seglog_connections', 'gauge', 'Connections of clients.')
  text.sample(listeners.reduce((sum, { connections }) => sum + connections, 0))
  const held = 'Bytes of requests that are received and not yet answered.'
  text.family('seglog_request_memory_bytes', 'gauge', held)
  text.sample(memory?.totalBytes ?? 0)
  const help = 'Whether a log directory can be used: 1, else 0.'
  text.family('seglog_log_directory_online', 'gauge', help)
  for (const path of dataDirs) text.sample(replicas.isOffline(path) ? 0 : 1, { directory: path })
  writePartitions(text, context)
  writeGroups(text, context)
}

const gauges: readonly [string, string, (partition: Partition) => number][] = [
  [
    'seglog_partition_log_start_offset',
    'The first offset that is kept.',
    ({ log }) => log.startOffset,
  ],
  [
    'seglog_partition_log_end_offset',
    'The offset that the next record gets.',
    ({ log }) => log.endOffset,
  ],
  [
    'seglog_partition_high_watermark',
    'The offset below which consumers read.',
    ({ highWatermark }) => highWatermark,
  ],
  [
    'seglog_partition_recovery_point',
    'The offset below which all is on disk.',
    ({ log }) => log.recoveryPoint,
  ],
  ['seglog_partition_size_bytes', 'Bytes of its segments.', ({ log }) => log.sizeBytes],
  ['seglog_partition_segments', 'Its segments.', ({ log }) => log.segmentCount],
]

function writePartitions(text: MetricsText, { replicas }: BrokerContext): void {
  const topics = [...replicas.topics()]
  const partitions = topics.flatMap((topic) =>
    topic.partitions.filter((partition) => partition !== undefined),
  )
  text.family('seglog_topics', 'gauge', 'Topics that are served.').sample(topics.length)
  text.family('seglog_partitions', 'gauge', 'Partitions that are served.')
  text.sample(partitions.length)
  for (const [name, help, value] of gauges) {
    text.family(name, 'gauge', help)
    for (const partition of partitions) {
      const labels = { topic: partition.topic, partition: partition.index }
      text.sample(value(partition), labels)
    }
  }
  writeUncleanable(text, replicas.uncleanable)
}

/** The count is there to alarm at, also while there is none. */
function writeUncleanable(text: MetricsText, found: readonly TopicPartition[]): void {
  text.family('seglog_uncleanable_partitions', 'gauge', 'Logs whose last compaction failed.')
  text.sample(found.length)
  text.family('seglog_partition_uncleanable', 'gauge', 'One of them; always 1.')
  for (const { topic, partition } of found) text.sample(1, { topic, partition })
}

function writeGroups(text: MetricsText, { groups }: BrokerContext): void {
  const counts = new Map<string, number>()
  const { groups: listed } = groups.listGroups({ statesFilter: [], typesFilter: [] })
  for (const { groupState } of listed) counts.set(groupState, (counts.get(groupState) ?? 0) + 1)
  text.family('seglog_groups', 'gauge', 'Consumer groups by state.')
  for (const [state, count] of counts) text.sample(count, { state })
}
