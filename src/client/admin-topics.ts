/** Topics made, deleted and grown. Each operation goes to the controller, wherever it is now. */
import { createPartitions as createPartitionsApi } from '../apis/create-partitions.js'
import { createTopics } from '../apis/create-topics.js'
import { deleteTopics } from '../apis/delete-topics.js'
import type { Api } from '../protocol/schema.js'
import type { Cluster } from './cluster.js'
import { checkCode } from './errors.js'
import { retrying } from './retry.js'

export interface NewTopic {
  name: string
  /** -1: as the broker has it. */
  partitions: number
  /** -1: as the broker has it. */
  replicationFactor: number
  configs: Readonly<Record<string, string>>
}

/** ms that the controller may take. */
const TIMEOUT_MS = 30_000

async function askController<Q, QI, S, SI>(
  cluster: Cluster,
  api: Api<Q, QI, S, SI>,
  body: QI,
): Promise<S> {
  const { controllerId } = await cluster.metadata([])
  const connection = controllerId < 0 ? await cluster.any() : await cluster.connection(controllerId)
  return connection.request(api, body, { waitMs: TIMEOUT_MS })
}

/** Attempts what is safe to attempt again after an answer that says no. */
function attempts<T>(cluster: Cluster, attempt: () => Promise<T>): Promise<T> {
  const isRetriable = (error: unknown) =>
    error instanceof Error && 'kafkaName' in error && error.kafkaName === 'NOT_CONTROLLER'
  return retrying(attempt, { env: cluster.env, timeoutMs: TIMEOUT_MS, isRetriable })
}

/** Resolves with the id of the topic, all zero where the broker tells none. */
export function createTopic(cluster: Cluster, topic: NewTopic): Promise<string> {
  const { name, partitions, replicationFactor } = topic
  const configs = Object.entries(topic.configs).map(([key, value]) => ({ name: key, value }))
  const wish = { name, numPartitions: partitions, replicationFactor, assignments: [], configs }
  return attempts(cluster, async () => {
    const body = { topics: [wish], timeoutMs: TIMEOUT_MS }
    const answer = (await askController(cluster, createTopics, body)).topics[0]
    checkCode(answer?.errorCode ?? -1, `topic ${name}`, answer?.errorMessage)
    cluster.forgetTopic(name)
    return answer?.topicId ?? ''
  })
}

export function deleteTopic(cluster: Cluster, name: string): Promise<void> {
  return attempts(cluster, async () => {
    // By name in both forms; the version decides which of them is sent.
    const topicId = 'AAAAAAAAAAAAAAAAAAAAAA'
    const body = { topics: [{ name, topicId }], topicNames: [name], timeoutMs: TIMEOUT_MS }
    const answer = (await askController(cluster, deleteTopics, body)).responses[0]
    checkCode(answer?.errorCode ?? -1, `topic ${name}`, answer?.errorMessage)
    cluster.forgetTopic(name)
  })
}

/** Raises the number of partitions to `count`. */
export function createPartitions(cluster: Cluster, name: string, count: number): Promise<void> {
  return attempts(cluster, async () => {
    const topics = [{ name, count, assignments: null }]
    const body = { topics, timeoutMs: TIMEOUT_MS, validateOnly: false }
    const answer = (await askController(cluster, createPartitionsApi, body)).results[0]
    checkCode(answer?.errorCode ?? -1, `topic ${name}`, answer?.errorMessage)
    cluster.forgetTopic(name)
  })
}
