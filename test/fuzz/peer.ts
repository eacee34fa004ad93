/**
 * A client that sends anything, on one connection, and knows what may come back: it cuts what it
 * sends into frames as a broker must, so that it can tell an answer that is owed from one that is
 * not. Answers come in the order of the requests; only those to Produce may be left out, because
 * acks=0 has none. After a length that no frame may have the connection must end.
 *
 * What the broker may keep waiting (Fetch, and the joining of groups) is left after a while; all
 * else that has not come in time is a fault.
 */
import { connect, type Socket } from 'node:net'
import { apiVersions } from '../../src/apis/api-versions.js'
import { encodeRequest } from '../../src/protocol/frame.js'

const FRAME_BYTES_MIN = 8
const FRAME_BYTES_MAX = 104_857_600
/** More than any answer that these requests can ask for in good faith. */
const ANSWER_BYTES_MAX = 32 * 1024 * 1024
const PRODUCE = 0
/** Fetch, JoinGroup, SyncGroup. */
const PATIENT = new Set([1, 11, 14])
const PROBE_ID = 0x70726f62
const KEPT_WRITES = 24

interface Pending {
  key: number
  version: number
  correlationId: number
}

export interface PeerEvents {
  /** What must not be; the connection is no longer used. */
  fault(peer: Peer, what: string): void
  /** `frame` without its length. */
  answer(key: number, version: number, frame: Buffer): void
  progress(peer: Peer): void
  closed(peer: Peer): void
}

/** What came back on all connections. */
export interface PeerTally {
  answered: number
  closedByBroker: number
  leftWaiting: number
  answerBytes: number
  answerBytesMax: number
}

export class Peer {
  readonly #socket: Socket
  readonly #events: PeerEvents
  readonly #tally: PeerTally
  readonly #pending: Pending[] = []
  /** Of what was sent: the frame under way, as far as it tells what it is. */
  #head = Buffer.alloc(12)
  #headBytes = 0
  #missingBytes = 0
  #received: Buffer = Buffer.alloc(0)
  #progressAtMs = performance.now()
  #probed = false
  #mustClose = false
  #leaving = false
  /** The last that was sent, for who looks into a fault. */
  readonly writes: Buffer[] = []
  /** Whether anything was sent that a broker may close a connection for. */
  insulted = false
  /** Whether what was sent last may be such a thing. */
  doubtful = false

  constructor(port: number, events: PeerEvents, tally: PeerTally) {
    this.#events = events
    this.#tally = tally
    this.#socket = connect({ port, host: '127.0.0.1', noDelay: true })
    this.#socket.on('connect', () => this.#progress())
    this.#socket.on('data', (chunk) => this.#receive(chunk))
    this.#socket.on('error', () => {})
    this.#socket.on('close', () => this.#closed())
  }

  get pending(): number {
    return this.#pending.length
  }

  /** Whether more may be sent. */
  get open(): boolean {
    const { connecting, destroyed, writableNeedDrain } = this.#socket
    return !(connecting || destroyed || writableNeedDrain || this.#mustClose || this.#leaving)
  }

  /** What the frame under way needs to be whole; 0 between frames. */
  get missingBytes(): number {
    return this.#missingBytes
  }

  /** Sends bytes, whole frames or not. */
  send(bytes: Buffer): void {
    if (this.#pending.length === 0) this.#progressAtMs = performance.now()
    this.writes.push(bytes)
    if (this.writes.length > KEPT_WRITES) this.writes.shift()
    this.#follow(bytes)
    this.#socket.write(bytes)
  }

  /** Ends the connection as a client that has lost interest. */
  leave(): void {
    this.#leaving = true
    this.#socket.destroy()
  }

  /** Looks whether what is owed is late. */
  look(nowMs: number, patienceMs: number, boundMs: number): void {
    const waitedMs = nowMs - this.#progressAtMs
    if (this.#leaving || this.#socket.destroyed || waitedMs < patienceMs) return
    if (this.#mustClose) {
      if (waitedMs > boundMs) this.#fault('a connection with a length that cannot be stays open')
      return
    }
    const owed = this.#pending.find(({ key }) => key !== PRODUCE)
    if (this.#missingBytes > 0 || (owed !== undefined && PATIENT.has(owed.key))) {
      this.#tally.leftWaiting++
      this.leave()
    } else if (this.#pending.length > 0 && !this.#probed) {
      this.#probed = true
      this.#progressAtMs = nowMs
      this.send(probe)
    } else if (this.#pending.length > 0 && waitedMs > boundMs) {
      this.#fault(`no answer to a request of API ${owed?.key} within ${Math.round(waitedMs)} ms`)
    }
  }

  #follow(bytes: Buffer): void {
    for (let at = 0; at < bytes.length && !this.#mustClose; ) {
      if (this.#headBytes < this.#head.length && (this.#headBytes < 4 || this.#missingBytes > 0)) {
        this.#head[this.#headBytes++] = bytes[at++]!
        if (this.#headBytes > 4) this.#missingBytes--
        if (this.#headBytes === 4) this.#begin(this.#head.readInt32BE(0))
      } else {
        const count = Math.min(this.#missingBytes, bytes.length - at)
        this.#missingBytes -= count
        at += count
      }
      if (this.#headBytes === this.#head.length && this.#missingBytes === 0) this.#whole()
    }
  }

  #begin(sizeBytes: number): void {
    this.#missingBytes = sizeBytes
    if (sizeBytes >= FRAME_BYTES_MIN && sizeBytes <= FRAME_BYTES_MAX) return
    this.#mustClose = true
    this.insulted = true
  }

  #whole(): void {
    const [key, version] = [this.#head.readInt16BE(4), this.#head.readInt16BE(6)]
    this.#pending.push({ key, version, correlationId: this.#head.readInt32BE(8) })
    this.#headBytes = 0
  }

  #receive(chunk: Buffer): void {
    this.#received = this.#received.length === 0 ? chunk : Buffer.concat([this.#received, chunk])
    this.#tally.answerBytes += chunk.length
    while (this.#received.length >= 4) {
      const sizeBytes = this.#received.readInt32BE(0)
      if (sizeBytes < 4 || sizeBytes > ANSWER_BYTES_MAX) {
        this.#fault(`an answer of ${sizeBytes} bytes`)
        return
      }
      this.#tally.answerBytesMax = Math.max(this.#tally.answerBytesMax, sizeBytes)
      if (this.#received.length < 4 + sizeBytes) break
      this.#answered(this.#received.subarray(4, 4 + sizeBytes))
      this.#received = this.#received.subarray(4 + sizeBytes)
    }
    this.#progress()
  }

  #answered(frame: Buffer): void {
    const correlationId = frame.readInt32BE(0)
    while (this.#pending.length > 0) {
      const next = this.#pending.shift()
      if (next?.correlationId === correlationId) {
        if (correlationId !== PROBE_ID) this.#tally.answered++
        this.#events.answer(next.key, next.version, frame)
        return
      }
      if (next?.key !== PRODUCE) break
      this.#tally.answered++
    }
    this.#fault(`an answer to ${correlationId}, which is not the next request`)
  }

  #progress(): void {
    this.#progressAtMs = performance.now()
    this.#probed = false
    if (!this.#leaving) this.#events.progress(this)
  }

  #fault(what: string): void {
    if (this.#leaving) return
    this.leave()
    this.#events.fault(this, what)
  }

  #closed(): void {
    if (!this.#leaving) {
      this.#tally.closedByBroker++
      if (!this.insulted) this.#fault('a connection was closed on which all was well')
    }
    this.#events.closed(this)
  }
}

const probe = Buffer.concat(
  encodeRequest(apiVersions, 0, PROBE_ID, 'probe', {}).parts.map((part) => part as Uint8Array),
)
