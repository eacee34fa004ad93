/**
 * Requests of every API and version that a broker serves: plain ones, whose fields say what a
 * client might mean, and bent ones, in which some fields have a value of the bounds of their type,
 * lists are empty, long or null, and records are changed under a right checksum.
 *
 * What would legitimately take long or stay is kept small: waits, partitions, topics that are made.
 */
import { fetch } from '../../src/apis/fetch.js'
import { initProducerId } from '../../src/apis/init-producer-id.js'
import { joinGroup } from '../../src/apis/join-group.js'
import { handlers } from '../../src/handlers/registry.js'
import { decodeResponse, encodeRequest } from '../../src/protocol/frame.js'
import type { AnyApi } from '../../src/protocol/schema.js'
import { type Type, ZERO_UUID } from '../../src/protocol/types.js'
import { BatchField, buildBatch } from '../../src/records/index.js'
import { fieldsOf, type Values } from '../apis/values.js'
import type { Random } from '../protocol/random.js'
import { codecNames, sealed } from '../records/helpers.js'
import { message } from '../records/old-messages.js'
import { mutated } from './records.js'

type AnyType = Type<unknown, unknown>

/** Topics that are there, by name, and their ids in the same order. */
export interface Places {
  topics: readonly string[]
  topicIds: readonly string[]
}

export interface MadeRequest {
  key: number
  version: number
  /** With its length in front. */
  frame: Buffer
  plain: boolean
}

const groups = Array.from({ length: 6 }, (_, index) => `group-${index}`)
const madeTopics = Array.from({ length: 6 }, (_, index) => `fuzz-made-${index}`)
const strangeTexts = ['', '.', '..', 'no/name', '__consumer_offsets', 'é', '\0', 'x'.repeat(249)]
const long = 'y'.repeat(3000)
const configNames = ['retention.ms', 'cleanup.policy', 'segment.bytes', 'flush.ms', 'no.such']
const configValues = ['1000000', 'delete', 'compact', '-1', '', 'x', '99999999999999999999']

/** What a text may be, by the name of its field; anything else is one of a few words. */
const texts: Record<string, readonly string[]> = {
  groupId: groups,
  groups,
  groupsNames: groups,
  key: groups,
  coordinatorKeys: groups,
  memberId: ['', '', 'a-stranger'],
  protocolType: ['consumer'],
  protocolName: ['range'],
  configurationKeys: configNames,
  value: configValues,
  transactionalId: ['transactional-1', 'transactional-2'],
  path: ['/nowhere', ''],
}

const bounds: Record<string, readonly number[]> = {
  int8: [0, 1, -1, 127, -128, 2, 4, 8],
  int16: [0, 1, -1, 0x7fff, -0x8000],
  int32: [0, 1, -1, 0x7fffffff, -0x80000000, 70_000, 0x10000],
  int64: [0, -1, 1, -2, 0x7fffffff, 0x80000000, 2 ** 53 - 1, 1 - 2 ** 53],
  float64: [0, -1.5, Number.NaN, Number.POSITIVE_INFINITY, 1e300],
}

/** What a number may be, by the end of the name of its field. */
const numbers: readonly (readonly [RegExp, readonly number[]])[] = [
  [/^sessionTimeoutMs$/, [20, 100, 400]],
  [/^rebalanceTimeoutMs$/, [10, 50]],
  [/(maxWait|timeout)Ms$/i, [0, 5, 20]],
  [/partition(Index|Id|s|Indexes)?$|^index$/, [0, 0, 0, 1, 2, -1]],
  [/^(numPartitions|count)$/, [1, 2, 3]],
  [/^replicationFactor$/, [1, -1]],
  [/brokerIds|replicas|leader|^brokerId$/i, [0, 0, 1]],
  [/bytes$/i, [0, 1, 1000, 1_000_000]],
  [/^resourceType$/, [2, 2, 4, 8, 32]],
  [/generationId/, [0, 1, -1]],
  [/^timestamp$/, [-1, -2, -3, -4, -5, 0, 1_700_000_000_000]],
  [/offset/i, [0, 1, 5, -1]],
  [/epoch/i, [-1, 0, 1]],
]

/** CreateTopics and DeleteTopics, which mostly leave alone what the others speak of. */
const MAKING = new Set([19, 20])

const LEARNED_MAX = 12
const learnable = new Map<number, AnyApi>(
  [joinGroup, fetch, initProducerId].map((api) => [api.key, api as AnyApi]),
)

function remember<T extends string | number>(list: T[], value: unknown): void {
  if (value === undefined || value === '' || value === 0 || value === -1) return
  if (list.push(value as T) > LEARNED_MAX) list.shift()
}

/** A field is bent with this chance where its request is. */
const BENT = 0.12

export class RequestMaker {
  readonly #random: Random
  readonly #places: Places
  readonly #apis: readonly (readonly [api: AnyApi, version: number])[]
  readonly #batches: readonly Uint8Array[]
  readonly #sets: readonly Uint8Array[]
  #correlationId = 1
  /** Of the request under way. */
  #key = 0
  /** What the broker gave out last, so that requests may speak of what is there. */
  readonly #memberIds: string[] = []
  readonly #generations: number[] = []
  readonly #sessionIds: number[] = []
  readonly #producerIds: number[] = []

  constructor(random: Random, places: Places) {
    this.#random = random
    this.#places = places
    this.#apis = [...handlers.values()].flatMap(({ api, versions: [min, max] }) =>
      Array.from({ length: max - min + 1 }, (_, index) => [api, min + index] as const),
    )
    const records = [{ key: 'k', value: 'some text '.repeat(8) }, { value: null }]
    const producers = [0, 1, 2].map((baseSequence) => ({
      id: 1 + baseSequence,
      epoch: 0,
      baseSequence,
    }))
    this.#batches = [
      ...codecNames.map((compression) => buildBatch(records, { compression })),
      ...producers.map((producer) => buildBatch(records, { producer })),
    ]
    this.#sets = [0, 1].map((magic) => message(magic, { key: 'k', value: 'old text' }))
  }

  /** Every API in every version that is served. */
  get kinds(): number {
    return this.#apis.length
  }

  /** A request of the kind of this number, taken modulo their count. */
  make(kind: number, plain: boolean): MadeRequest {
    const [api, version] = this.#apis[kind % this.#apis.length]!
    this.#key = api.key
    const body = this.#struct(api.request.type, version, plain)
    const clientId = plain || this.#random.chance(0.9) ? 'fuzz' : null
    const { parts } = encodeRequest(api, version, this.#correlationId++, clientId, body)
    const frame = Buffer.concat(parts.map((part) => part as Uint8Array))
    return { key: api.key, version, frame, plain }
  }

  /** Takes from an answer what later requests can name. */
  learn(key: number, version: number, frame: Uint8Array): void {
    const api = learnable.get(key)
    if (api === undefined) return
    const { body } = decodeResponse(api, version, frame) as { body: Values }
    remember(this.#memberIds, body.memberId)
    remember(this.#generations, body.generationId)
    remember(this.#sessionIds, body.sessionId)
    remember(this.#producerIds, body.producerId)
  }

  #struct(type: AnyType, version: number, plain: boolean): Values {
    const value: Values = {}
    for (const [name, field] of fieldsOf(type, version)) {
      if (field.tag !== undefined && this.#random.chance(plain ? 0.9 : 0.5)) continue
      value[name] = this.#value(name, field.type, version, plain)
    }
    return value
  }

  #value(name: string, type: AnyType, version: number, plain: boolean): unknown {
    const random = this.#random
    const bent = !plain && random.chance(BENT)
    if (version >= type.nullableFrom && random.chance(bent ? 0.5 : 0.05)) return null
    switch (type.kind) {
      case 'bool':
        return name === 'validateOnly' ? random.chance(0.9) : random.chance(0.5)
      case 'string':
        return this.#text(name, bent)
      case 'uuid':
        return bent || MAKING.has(this.#key)
          ? random.pick([ZERO_UUID, Buffer.from(random.bytes(16)).toString('base64url')])
          : random.pick(this.#places.topicIds)
      case 'bytes':
        return random.bytes(bent ? random.pick([0, 1, 127, 128, 5000]) : random.below(40))
      case 'records':
        return this.#records(version, bent)
      case '[]': {
        const count = bent ? random.pick([0, 0, 3, 40]) : 1 + random.below(2)
        const item = type.item!
        return Array.from({ length: count }, () => this.#value(name, item, version, plain))
      }
      case 'struct':
        return this.#struct(type, version, plain)
      default:
        // Where acks=0 fails, the connection must end: nothing else tells the client.
        if (name === 'acks') return random.pick(plain ? [1, -1] : [1, -1, 1, -1, 1, -1, 0, 2])
        return this.#number(name, type.kind, bent)
    }
  }

  #text(name: string, bent: boolean): string {
    if (bent) return this.#random.pick([...strangeTexts, long])
    if (name === 'memberId' && this.#random.chance(0.6) && this.#memberIds.length > 0) {
      return this.#random.pick(this.#memberIds)
    }
    const known = texts[name]
    if (known !== undefined) return this.#random.pick(known)
    if (MAKING.has(this.#key) && this.#random.chance(0.9)) return this.#random.pick(madeTopics)
    const words = [...this.#places.topics, ...this.#places.topics, ...madeTopics, 'range']
    return this.#random.pick(name === 'name' ? [...words, ...configNames] : words)
  }

  #number(name: string, kind: string, bent: boolean): number {
    const all = bounds[kind] ?? [0]
    const learned = bent ? [] : this.#learned(name)
    if (learned.length > 0 && this.#random.chance(0.6)) return this.#random.pick(learned)
    const known = bent ? undefined : numbers.find(([pattern]) => pattern.test(name))
    return this.#random.pick(known?.[1] ?? (bent ? all : all.slice(0, 3)))
  }

  #learned(name: string): readonly number[] {
    if (name.startsWith('generationId')) return this.#generations
    if (name === 'sessionId') return this.#sessionIds
    return name === 'producerId' ? this.#producerIds : []
  }

  #records(version: number, bent: boolean): Uint8Array {
    const random = this.#random
    const known = version < 3 ? random.pick(this.#sets) : random.pick(this.#batches)
    if (!bent && random.chance(0.7)) return known
    const from = version < 3 || random.chance(0.3) ? 0 : BatchField.RECORDS
    const bytes = mutated(known, random, from)
    if (version < 3 || bytes.length < BatchField.RECORDS || random.chance(0.2)) return bytes
    new DataView(bytes.buffer).setInt32(BatchField.LENGTH, bytes.length - 12)
    return sealed(bytes)
  }
}
