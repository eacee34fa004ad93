/**
 * One of two brokers that are asked the same: sends a request by the project's own tables, takes
 * the answer, and puts a word in the place of what no two brokers have alike: ports, cluster and
 * topic ids, generated member and producer ids, sessions, directories, sizes, texts of errors.
 */
import { connect } from 'node:net'
import { apiByName } from '../../src/apis/registry.js'
import { decodeResponse, encodeRequest } from '../../src/protocol/frame.js'
import type { AnyApi } from '../../src/protocol/schema.js'
import { ZERO_UUID } from '../../src/protocol/types.js'
import { Wire } from '../support/wire.js'

export type Body = Readonly<Record<string, unknown>>
export type Answer = { readonly [field: string]: unknown }

export function tableOf(name: string): AnyApi {
  const api = apiByName(name)
  if (!api) throw new Error(`there is no table of ${name}`)
  return api
}

export class Side {
  readonly label: string
  readonly port: number
  /** What the broker says that it serves, by API key. */
  readonly ranges = new Map<number, readonly [number, number]>()
  /** What requests need and only this side knows: a member's id, a directory. */
  readonly known = new Map<string, string>()
  readonly #topicIds = new Map<string, string>()
  #wire: Wire | undefined

  constructor(label: string, port: number) {
    this.label = label
    this.port = port
  }

  topicId(topic: string): string {
    return this.#topicIds.get(topic) ?? ZERO_UUID
  }

  /** The newest version of an API that this broker has. */
  newest(api: AnyApi): number {
    return Math.min(this.ranges.get(api.key)?.[1] ?? 0, api.versions[1])
  }

  async begin(): Promise<void> {
    const { apiKeys } = await this.call('ApiVersions', {}, 0)
    for (const { apiKey, minVersion, maxVersion } of rows(apiKeys)) {
      this.ranges.set(Number(apiKey), [Number(minVersion), Number(maxVersion)])
    }
  }

  /** A request that must be answered, in the newest version unless one is given. */
  async call(name: string, body: Body, version?: number): Promise<Answer> {
    const api = tableOf(name)
    const used = version ?? this.newest(api)
    const frame = await this.#exchange(encoded(api, used, body))
    if (typeof frame === 'string') throw new Error(`${this.label}: ${name} ${used}: ${frame}`)
    return decodeResponse(api, used, frame).body as Answer
  }

  /** What comes back, normalized: the answer, or that there was none. */
  async ask(api: AnyApi, version: number, frame: Uint8Array): Promise<unknown> {
    const answer = await this.#exchange(frame)
    if (typeof answer === 'string') return answer
    await this.#learnTopics()
    return this.#normal('', this.#decode(api, version, answer))
  }

  close(): void {
    this.#wire?.socket.destroy()
  }

  #decode(api: AnyApi, version: number, frame: Uint8Array): unknown {
    try {
      return decodeResponse(api, version, frame).body
    } catch {
      // ApiVersions answers a version that it does not know in the form of version 0 (KIP-511).
      return api.key === 18 ? decodeResponse(api, 0, frame).body : 'undecodable'
    }
  }

  async #exchange(frame: Uint8Array): Promise<Uint8Array | 'closed' | 'no answer'> {
    if (!this.#wire || this.#wire.socket.destroyed) {
      const socket = connect({ port: this.port, host: '127.0.0.1', noDelay: true })
      this.#wire = Wire.over(socket)
    }
    const wire = this.#wire
    const answer = wire.nextFrame()
    wire.write(frame)
    try {
      return await answer
    } catch (error) {
      this.#wire = undefined
      wire.socket.destroy()
      return String(error).includes('closed') ? 'closed' : 'no answer'
    }
  }

  async #learnTopics(): Promise<void> {
    if (this.#isLearned) return
    this.#isLearned = true
    const { topics } = await this.call('Metadata', { topics: null, allowAutoTopicCreation: false })
    for (const { name, topicId } of rows(topics)) {
      if (typeof name === 'string' && typeof topicId === 'string') this.#name(name, topicId)
    }
  }

  #isLearned = false
  readonly #namesById = new Map<string, string>()

  #name(topic: string, topicId: string): void {
    this.#topicIds.set(topic, topicId)
    if (topicId !== ZERO_UUID) this.#namesById.set(topicId, topic)
  }

  /** To be called when there may be further topics. */
  async refresh(): Promise<void> {
    this.#isLearned = false
    await this.#learnTopics()
  }

  #normal(field: string, value: unknown): unknown {
    if (Array.isArray(value)) {
      const parts = value.map((each) => this.#normal(field, each))
      return parts.every((part) => typeof part === 'object') ? sorted(parts) : parts
    }
    if (value instanceof Uint8Array) return Buffer.from(value).toString('hex')
    if (typeof value === 'object' && value !== null) {
      const entries = Object.entries(value).flatMap(([name, each]) =>
        SILENT.has(name) ? [] : [[name, this.#normal(name, each)] as const],
      )
      return Object.fromEntries(entries)
    }
    return this.#word(field, value)
  }

  #word(field: string, value: unknown): unknown {
    switch (field) {
      case 'topicId':
        if (value === ZERO_UUID) return 'none'
        return `id of ${this.#namesById.get(String(value)) ?? 'no topic that is there'}`
      case 'port':
        return value === this.port ? 'port' : value
      case 'clusterId':
        return value === null || value === '' ? value : 'cluster'
      case 'memberId':
      case 'leader':
        return String(value).replace(/[0-9a-f-]{36}$/, 'uuid')
      case 'producerId':
        return Number(value) < 0 ? value : 'producer'
      case 'sessionId':
        return value === 0 ? value : 'session'
      case 'logDir':
        return 'directory'
      default:
        return value
    }
  }
}

/** Texts, times and sizes, which may differ. */
const SILENT: ReadonlySet<string> = new Set([
  'throttleTimeMs',
  'errorMessage',
  'batchIndexErrorMessage',
  'documentation',
  'totalBytes',
  'usableBytes',
  'lastTimestamp',
])

function sorted(parts: readonly unknown[]): unknown[] {
  const keyed = parts.map((part) => [JSON.stringify(part), part] as const)
  return keyed.sort(([a], [b]) => (a < b ? -1 : 1)).map(([, part]) => part)
}

/** The structs of a list. */
export function rows(list: unknown): Answer[] {
  return Array.isArray(list) ? list : []
}

export function encoded(api: AnyApi, version: number, body: Body): Uint8Array {
  const { parts } = encodeRequest(api, version, 7, 'differ', body)
  return Buffer.concat(parts.filter((part) => part instanceof Uint8Array))
}

/** The frame without its last byte. */
export function shortened(frame: Uint8Array): Uint8Array {
  const cut = Buffer.from(frame.subarray(0, -1))
  cut.writeInt32BE(cut.length - 4)
  return cut
}

/** The frame as one of another version. */
export function ofVersion(frame: Uint8Array, version: number): Uint8Array {
  const changed = Buffer.from(frame)
  changed.writeInt16BE(version, 6)
  return changed
}
