/**
 * Fetch: records of partitions, in sessions or outside of any (KIP-227). A request that finds less
 * than minBytes waits until enough was appended or maxWaitMs is over; an error in any partition
 * answers at once.
 */
import { fetch as api } from '../apis/fetch.js'
import { KafkaError } from '../errors.js'
import type { RequestOf, ResponseInput } from '../protocol/schema.js'
import type { Partition, Watcher } from '../replication/partition.js'
import type { RequestContext } from './context.js'
import {
  CONVERTED_REQUEST_BYTES_MAX,
  partitionFailure,
  readPartition,
  sizeOf,
} from './fetch-partition.js'
import type { FetchTurn, Found, Wish } from './fetch-sessions.js'
import { handler } from './handler.js'

type Request = RequestOf<typeof api>
type Response = ResponseInput<typeof api>
type TopicResponse = Response['responses'][number]

/** What one look at the logs gave. */
interface Look {
  found: Found[]
  /** Bytes to send, and whether there is an error to report now. */
  sizeBytes: number
  failed: boolean
}

export const fetch = handler(api, [0, 18], (request, context) => {
  const turn = context.fetchSessions.begin(request, context.version)
  if (typeof turn === 'number') return failure(turn)
  if (request.isolationLevel < 0 || request.isolationLevel > 1) return refuse(turn, context)
  const first = look(request, turn, context)
  const enough = first.failed || first.sizeBytes >= request.minBytes
  if (enough || request.maxWaitMs <= 0 || turn.wishes.length === 0) return answer(turn, first)
  return wait(request, turn, context, first.sizeBytes)
})

function wait(request: Request, turn: FetchTurn, context: RequestContext, presentBytes: number) {
  return new Promise<Response | undefined>((resolve, reject) => {
    const partitions = partitionsOf(turn, context)
    let sizeBytes = presentBytes
    const finish = () => {
      deadline.cancel()
      unsubscribe()
      for (const partition of partitions) partition.unwatch(watcher)
    }
    const complete = () => {
      finish()
      try {
        resolve(answer(turn, look(request, turn, context)))
      } catch (error) {
        reject(error)
      }
    }
    const watcher: Watcher = {
      appended(appendedBytes) {
        sizeBytes += appendedBytes
        if (sizeBytes >= request.minBytes) complete()
      },
      gone: complete,
    }
    const deadline = context.deadlines.after(request.maxWaitMs, complete)
    const unsubscribe = context.onClose(() => {
      finish()
      resolve(undefined)
    })
    for (const partition of partitions) partition.watch(watcher)
  })
}

function partitionsOf({ wishes }: FetchTurn, context: RequestContext): Set<Partition> {
  const wanted = new Set<Partition>()
  for (const wish of wishes) {
    const partition = servedTopic(wish, context)?.partitions[wish.partition.partition]
    if (partition) wanted.add(partition)
  }
  return wanted
}

function servedTopic({ topic, topicId }: Wish, { version, replicas }: RequestContext) {
  return version >= 13 ? replicas.topicById(topicId) : replicas.topic(topic)
}

function look(request: Request, { wishes }: FetchTurn, context: RequestContext): Look {
  const { version, config } = context
  const result: Look = { found: [], sizeBytes: 0, failed: false }
  let leftBytes = Math.min(request.maxBytes, config.get('fetch.max.bytes'))
  const { isolationLevel } = request
  const replicaId = version < 15 ? request.replicaId : request.replicaState.replicaId
  const reading = { version, isolationLevel, replicaId }
  if (version < 4) leftBytes = Math.min(leftBytes, CONVERTED_REQUEST_BYTES_MAX)
  for (const wish of wishes) {
    const { partition: index, partitionMaxBytes } = wish.partition
    const served = servedTopic(wish, context)
    wish.known ||= served !== undefined
    const partition = served?.partitions[index]
    const maxBytes = Math.min(leftBytes, partitionMaxBytes)
    const isFirst = result.sizeBytes === 0
    const response = partition
      ? readPartition(partition, wish.partition, reading, maxBytes, isFirst)
      : partitionFailure(index, unknown(wish, version), [])
    const sizeBytes = response.records ? sizeOf(response.records) : 0
    leftBytes = Math.max(0, leftBytes - sizeBytes)
    result.sizeBytes += sizeBytes
    result.failed ||= response.errorCode !== KafkaError.NONE
    result.found.push({ wish, response })
  }
  return result
}

/** Of an id that it never knew, Kafka says so; not of a topic that went meanwhile. */
function unknown({ known }: Wish, version: number) {
  const isStrange = version >= 13 && !known
  return isStrange ? KafkaError.UNKNOWN_TOPIC_ID : KafkaError.UNKNOWN_TOPIC_OR_PARTITION
}

function answer(turn: FetchTurn, { found }: Look): Response {
  const { sessionId, told } = turn.settle(found)
  const responses: { topic: string; topicId: string; partitions: Found['response'][] }[] = []
  for (const { wish, response } of told) {
    const last = responses.at(-1)
    if (last?.topic === wish.topic && last.topicId === wish.topicId) last.partitions.push(response)
    else responses.push({ topic: wish.topic, topicId: wish.topicId, partitions: [response] })
  }
  return { throttleTimeMs: 0, errorCode: KafkaError.NONE, sessionId, responses }
}

/** Kafka has no better code for an isolation level that nobody knows. */
function refuse(turn: FetchTurn, { version }: RequestContext): Response {
  const errorCode = KafkaError.UNKNOWN_SERVER_ERROR
  if (version >= 13) return failure(errorCode)
  const found = turn.wishes.map((wish) => {
    return { wish, response: partitionFailure(wish.partition.partition, errorCode, []) }
  })
  return { ...answer(turn, { found, sizeBytes: 0, failed: true }), errorCode, sessionId: 0 }
}

function failure(errorCode: number): Response {
  const responses: TopicResponse[] = []
  return { throttleTimeMs: 0, errorCode, sessionId: 0, responses }
}
