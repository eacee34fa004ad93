/**
 * Fetch sessions (KIP-227): the broker remembers which partitions a client reads from where, so
 * that a request names only what has changed since the last one, and an answer only what is new: a
 * partition with records, another watermark, another start of the log, or an error.
 *
 * A session is not bound to a connection. Its epoch counts its requests, so that one that came
 * twice or in the wrong order is refused. Bounded: sessions, of which one that was idle for two
 * minutes makes room for another, and the partitions of all of them. A client that gets none is
 * answered in full each time.
 */
import type { fetch as api } from '../apis/fetch.js'
import type { Env } from '../env.js'
import { KafkaError, type KafkaErrorCode } from '../errors.js'
import type { RequestOf, ResponseInput } from '../protocol/schema.js'

type Request = RequestOf<typeof api>
type PartitionRequest = Request['topics'][number]['partitions'][number]
type TopicResponse = ResponseInput<typeof api>['responses'][number]
type PartitionResponse = TopicResponse['partitions'][number]

/** A partition that a client reads. */
export interface Wish {
  readonly topic: string
  readonly topicId: string
  readonly partition: PartitionRequest
  /** The topic was there at an earlier request: it has been deleted where it is not found. */
  known: boolean
}

/** What was found for a wish. */
export interface Found {
  readonly wish: Wish
  readonly response: PartitionResponse
}

/** One request within its session, or outside of any. */
export interface FetchTurn {
  /** Each partition once, in the order in which it is to be looked at. */
  readonly wishes: readonly Wish[]
  /** What of it is to be told, and the session's id, 0 for none. Called once. */
  settle(found: readonly Found[]): { sessionId: number; told: readonly Found[] }
}

interface Remembered extends Wish {
  highWatermark: number
  logStartOffset: number
}

interface Session {
  readonly id: number
  readonly byId: boolean
  epoch: number
  usedMs: number
  partitions: Map<string, Remembered>
}

/** Epochs of a request: of one that begins a session, and of one that has or wants none. */
const FIRST = 0
const NONE = -1
const EPOCH_MAX = 0x7fff_ffff
const IDLE_MS = 120_000
const PARTITIONS_MAX = 200_000

export class FetchSessions {
  readonly #env: Env
  readonly #sessionsMax: number
  /** The one that was used longest ago first. */
  readonly #sessions = new Map<number, Session>()
  #partitions = 0

  constructor(env: Env, sessionsMax: number) {
    this.#env = env
    this.#sessionsMax = sessionsMax
  }

  get size(): number {
    return this.#sessions.size
  }

  /** The turn of a request, or the error that its answer consists of. */
  begin(request: Request, version: number): FetchTurn | KafkaErrorCode {
    const { sessionId, sessionEpoch } = request
    const byId = version >= 13
    if (sessionEpoch === FIRST || sessionEpoch === NONE) {
      this.#end(this.#sessions.get(sessionId))
      const wishes = wishesOf(request, byId)
      return sessionEpoch === NONE ? sessionless(wishes) : this.#full(wishes, byId)
    }
    const session = this.#sessions.get(sessionId)
    if (!session) return KafkaError.FETCH_SESSION_ID_NOT_FOUND
    if (session.epoch !== sessionEpoch) return KafkaError.INVALID_FETCH_SESSION_EPOCH
    if (session.byId !== byId) return KafkaError.FETCH_SESSION_TOPIC_ID_ERROR
    this.#change(session, request)
    if (session.partitions.size === 0) {
      this.#end(session)
      return sessionless(wishesOf(request, byId))
    }
    session.epoch = session.epoch === EPOCH_MAX ? 1 : session.epoch + 1
    this.#touch(session)
    return this.#incremental(session)
  }

  #full(wishes: ReadonlyMap<string, Wish>, byId: boolean): FetchTurn {
    return {
      wishes: [...wishes.values()],
      settle: (found) => ({ sessionId: this.#create(wishes, found, byId), told: found }),
    }
  }

  #incremental(session: Session): FetchTurn {
    const { epoch } = session
    return {
      wishes: [...session.partitions.values()],
      settle: (found) => {
        // A later request has come meanwhile: its answer says what is new.
        if (session.epoch !== epoch) return { sessionId: session.id, told: [] }
        const told = found.filter((each) => isNews(session, each))
        for (const { wish, response } of told) {
          if (!hasRecords(response)) continue
          // The others come first next time, so that none starves behind full ones.
          const key = keyOf(wish.topic, wish.topicId, wish.partition.partition, session.byId)
          const remembered = session.partitions.get(key)
          if (remembered === undefined) continue
          session.partitions.delete(key)
          session.partitions.set(key, remembered)
        }
        return { sessionId: session.id, told }
      },
    }
  }

  #create(wishes: ReadonlyMap<string, Wish>, found: readonly Found[], byId: boolean): number {
    if (!this.#hasRoom(wishes.size)) return 0
    let id: number
    do id = 1 + this.#env.random.below(EPOCH_MAX)
    while (this.#sessions.has(id))
    const partitions = new Map<string, Remembered>()
    const session = { id, byId, epoch: 1, usedMs: this.#env.now(), partitions }
    const responses = new Map(found.map(({ wish, response }) => [wish, response]))
    for (const [key, wish] of wishes) {
      const response = responses.get(wish)
      partitions.set(key, remember(wish, response))
    }
    this.#sessions.set(id, session)
    this.#partitions += partitions.size
    return id
  }

  #hasRoom(partitions: number): boolean {
    const oldest = this.#sessions.values().next()
    const isFull = this.#sessions.size >= this.#sessionsMax
    const isWide = this.#partitions + partitions > PARTITIONS_MAX
    if (!isFull && !isWide) return true
    if (oldest.done || this.#env.now() - oldest.value.usedMs < IDLE_MS) return false
    this.#end(oldest.value)
    return this.#hasRoom(partitions)
  }

  #change({ partitions, byId }: Session, request: Request): void {
    for (const [key, wish] of wishesOf(request, byId)) {
      const present = partitions.get(key)
      if (present) partitions.set(key, { ...present, partition: wish.partition })
      else if (this.#partitions < PARTITIONS_MAX) {
        partitions.set(key, remember(wish, undefined))
        this.#partitions++
      }
    }
    for (const { topic, topicId, partitions: indexes } of request.forgottenTopicsData) {
      for (const index of indexes) {
        if (partitions.delete(keyOf(topic, topicId, index, byId))) this.#partitions--
      }
    }
  }

  #touch(session: Session): void {
    session.usedMs = this.#env.now()
    this.#sessions.delete(session.id)
    this.#sessions.set(session.id, session)
  }

  #end(session: Session | undefined): void {
    if (!session || !this.#sessions.delete(session.id)) return
    this.#partitions -= session.partitions.size
  }
}

/** A partition that is named twice counts once, as it was named last. */
function wishesOf(request: Request, byId: boolean): Map<string, Wish> {
  const wishes = new Map<string, Wish>()
  for (const { topic, topicId, partitions } of request.topics) {
    for (const partition of partitions) {
      const key = keyOf(topic, topicId, partition.partition, byId)
      wishes.set(key, { topic, topicId, partition, known: false })
    }
  }
  return wishes
}

function keyOf(topic: string, topicId: string, index: number, byId: boolean): string {
  return `${byId ? topicId : topic} ${index}`
}

function sessionless(wishes: ReadonlyMap<string, Wish>): FetchTurn {
  return {
    wishes: [...wishes.values()],
    settle: (found) => ({ sessionId: 0, told: found }),
  }
}

function remember(wish: Wish, response: PartitionResponse | undefined): Remembered {
  const isGood = response?.errorCode === KafkaError.NONE
  return {
    ...wish,
    highWatermark: isGood ? response.highWatermark : -1,
    logStartOffset: isGood ? (response.logStartOffset ?? -1) : -1,
  }
}

/** Whether an answer tells something that the last one did not; it is remembered as told. */
function isNews({ partitions, byId }: Session, { wish, response }: Found): boolean {
  const { topic, topicId, partition } = wish
  const remembered = partitions.get(keyOf(topic, topicId, partition.partition, byId))
  if (!remembered) return true
  const { errorCode, highWatermark, logStartOffset = -1 } = response
  remembered.known ||= wish.known
  if (errorCode !== KafkaError.NONE) {
    // So that the next answer tells when it is over.
    remembered.highWatermark = -1
    return true
  }
  const moved =
    remembered.highWatermark !== highWatermark || remembered.logStartOffset !== logStartOffset
  remembered.highWatermark = highWatermark
  remembered.logStartOffset = logStartOffset
  return moved || hasRecords(response)
}

function hasRecords({ records }: PartitionResponse): boolean {
  if (!records) return false
  return ('sizeBytes' in records ? records.sizeBytes : records.length) > 0
}
