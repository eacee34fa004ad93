/**
 * DescribeLogDirs and AlterReplicaLogDirs (KIP-113, KIP-827): which partition lies in which
 * directory, and what there is of it. Nothing is moved: a partition stays where it was made.
 */
import { statfs } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import { alterReplicaLogDirs as alterApi } from '../apis/alter-replica-log-dirs.js'
import { describeLogDirs as describeApi } from '../apis/describe-log-dirs.js'
import { KafkaError, type KafkaErrorCode } from '../errors.js'
import type { RequestOf, ResponseInput } from '../protocol/schema.js'
import type { Partition } from '../replication/partition.js'
import type { RequestContext } from './context.js'
import { handler } from './handler.js'

type Request = RequestOf<typeof describeApi>
type Result = ResponseInput<typeof describeApi>['results'][number]
type Topic = Result['topics'][number]

export const describeLogDirs = handler(describeApi, [0, 5], async ({ topics }, context) => {
  const partitions = wanted(topics, context)
  const results: Result[] = []
  for (const logDir of directoriesOf(context)) {
    const isOffline = context.replicas.isOffline(logDir)
    const here = partitions.filter(({ log }) => dirname(log.directory) === logDir)
    results.push({
      errorCode: isOffline ? KafkaError.KAFKA_STORAGE_ERROR : KafkaError.NONE,
      logDir,
      topics: topicsOf(isOffline ? [] : here),
      ...(await spaceOf(logDir)),
      isCordoned: false,
    })
  }
  return { throttleTimeMs: 0, errorCode: KafkaError.NONE, results }
})

function directoriesOf({ config }: RequestContext): string[] {
  return config.get('log.dirs').map((path) => resolve(path))
}

/** Null topics ask for all. Each partition once, whatever the request repeats. */
function wanted(topics: Request['topics'], { replicas }: RequestContext): Partition[] {
  if (topics === null) {
    const all = [...replicas.topics()].flatMap(({ partitions }) => partitions)
    return all.filter((partition) => partition !== undefined)
  }
  const found = new Set<Partition>()
  for (const { topic, partitions } of topics) {
    for (const index of partitions) {
      const partition = replicas.partition(topic, index)
      if (partition) found.add(partition)
    }
  }
  return [...found]
}

function topicsOf(partitions: readonly Partition[]): Topic[] {
  const topics = new Map<string, Topic['partitions'][number][]>()
  for (const { topic, index, log } of partitions) {
    const described = {
      partitionIndex: index,
      partitionSize: log.sizeBytes,
      // Nothing lags behind the only replica.
      offsetLag: 0,
      isFutureKey: false,
    }
    const known = topics.get(topic)
    if (known) known.push(described)
    else topics.set(topic, [described])
  }
  return [...topics].map(([name, described]) => ({ name, partitions: described }))
}

/** -1 where the file system does not say. */
async function spaceOf(path: string): Promise<{ totalBytes: number; usableBytes: number }> {
  try {
    const { bsize, blocks, bavail } = await statfs(path)
    return { totalBytes: bsize * blocks, usableBytes: bsize * bavail }
  } catch {
    return { totalBytes: -1, usableBytes: -1 }
  }
}

export const alterReplicaLogDirs = handler(alterApi, [0, 2], ({ dirs }, context) => {
  const directories = directoriesOf(context)
  const topics = new Map<string, Map<number, KafkaErrorCode>>()
  for (const { path, topics: asked } of dirs) {
    for (const { name, partitions } of asked) {
      const answers = topics.get(name) ?? new Map<number, KafkaErrorCode>()
      if (partitions.length > 0) topics.set(name, answers)
      for (const index of partitions) {
        const partition = context.replicas.partition(name, index)
        const moved = move(path, directories, partition)
        // A folder of so long a name could not be made anywhere.
        answers.set(index, name.length > 249 ? KafkaError.INVALID_TOPIC_EXCEPTION : moved)
      }
    }
  }
  const results = [...topics].map(([topicName, answers]) => ({
    topicName,
    partitions: [...answers].map(([partitionIndex, errorCode]) => ({ partitionIndex, errorCode })),
  }))
  return { throttleTimeMs: 0, results }
})

function move(
  path: string,
  directories: readonly string[],
  partition: Partition | undefined,
): KafkaErrorCode {
  if (!directories.includes(path)) return KafkaError.LOG_DIR_NOT_FOUND
  if (!partition) return KafkaError.UNKNOWN_TOPIC_OR_PARTITION
  const isThere = dirname(partition.log.directory) === path
  return isThere ? KafkaError.NONE : KafkaError.INVALID_REQUEST
}
