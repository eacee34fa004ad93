/**
 * One member of a group and the requests of it that wait for an answer. Bytes that came with a
 * request are copied, since the request's buffer is used again. A member either has a session timer
 * running or a request parked; `Rebalance` keeps that so.
 */
import type { Timer } from '../env.js'
import { KafkaError, type KafkaErrorCode } from '../errors.js'
import type {
  GroupProtocol,
  JoinGroupRequest,
  JoinGroupResponse,
  SyncGroupResponse,
} from './types.js'

/** A request whose answer comes later. It is answered once; `onAbort` may come before, once. */
export class Parked<T> {
  readonly promise: Promise<T>
  readonly #settle: (answer: T) => void
  readonly #signal: AbortSignal | undefined
  readonly #onAbort: () => void

  constructor(signal: AbortSignal | undefined, onAbort: (parked: Parked<T>) => void) {
    let settle: (answer: T) => void = () => {}
    this.promise = new Promise((resolve) => {
      settle = resolve
    })
    this.#settle = settle
    this.#signal = signal
    this.#onAbort = () => onAbort(this)
    signal?.addEventListener('abort', this.#onAbort, { once: true })
  }

  answer(answer: T) {
    this.#signal?.removeEventListener('abort', this.#onAbort)
    this.#settle(answer)
  }
}

const noBytes = new Uint8Array(0)

export class Member {
  /** Changes when a static member returns. */
  id: string
  readonly instanceId: string | null
  readonly clientId: string
  readonly clientHost: string
  readonly protocolType: string
  /** Metadata by protocol, in order of preference. */
  protocols: ReadonlyMap<string, Uint8Array> = new Map()
  sessionTimeoutMs = 0
  rebalanceTimeoutMs = 0
  assignment: Uint8Array = noBytes
  /**
   * Until it was in a generation. The session of a new member runs while its first join is parked.
   */
  isNew = true
  /** Set through `Group`, which counts them. */
  join: Parked<JoinGroupResponse> | undefined
  sync: Parked<SyncGroupResponse> | undefined
  session: Timer | undefined

  constructor(id: string, request: JoinGroupRequest) {
    this.id = id
    this.instanceId = request.groupInstanceId
    this.clientId = request.clientId
    this.clientHost = request.clientHost
    this.protocolType = request.protocolType
    this.take(request)
  }

  /** Takes over what a join says. REQUIRES: through `Group.update` for one in a group. */
  take(request: JoinGroupRequest) {
    this.protocols = new Map(
      request.protocols.map(({ name, metadata }) => [name, new Uint8Array(metadata)]),
    )
    this.sessionTimeoutMs = request.sessionTimeoutMs
    // Clients that leave it at 0 mean none of their own; as a time it would never let a sync
    // arrive.
    this.rebalanceTimeoutMs =
      request.rebalanceTimeoutMs > 0 ? request.rebalanceTimeoutMs : request.sessionTimeoutMs
  }

  /** Whether a join says the same protocols in the same order with the same metadata. */
  matches(protocols: readonly GroupProtocol[]): boolean {
    const own = [...this.protocols]
    return (
      own.length === protocols.length &&
      protocols.every(({ name, metadata }, index) => {
        const [ownName, ownMetadata] = own[index] ?? []
        return ownName === name && Buffer.compare(ownMetadata ?? noBytes, metadata) === 0
      })
    )
  }

  metadata(protocolName: string | null): Uint8Array {
    return this.protocols.get(protocolName ?? '') ?? noBytes
  }

  assign(assignment: Uint8Array | undefined) {
    this.assignment = assignment === undefined ? noBytes : new Uint8Array(assignment)
  }

  /** The protocol that this member likes best of some. REQUIRES: it has one of them. */
  vote(candidates: ReadonlySet<string>): string {
    for (const name of this.protocols.keys()) if (candidates.has(name)) return name
    return ''
  }
}

export function joinError(memberId: string, errorCode: KafkaErrorCode): JoinGroupResponse {
  return {
    errorCode,
    generationId: -1,
    protocolType: null,
    protocolName: null,
    leader: '',
    skipAssignment: false,
    memberId,
    members: [],
  }
}

export function syncError(errorCode: KafkaErrorCode): SyncGroupResponse {
  return { errorCode, protocolType: null, protocolName: null, assignment: noBytes }
}

/** What a parked request of a member is answered that is no longer one. */
export const goneCode = KafkaError.UNKNOWN_MEMBER_ID
