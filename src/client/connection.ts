/**
 * A connection to one broker: requests out, responses in, paired by correlation id, in the versions
 * that both sides speak.
 *
 * `Connection.open` connects and asks for ApiVersions first, as Kafka's clients do since KIP-35; a
 * broker that finds the question too new answers in version 0 (KIP-511), and is asked again. From
 * then on each request goes out in the highest version that this client's table and the broker
 * share. Several requests may be under way at once; the broker answers them in order.
 *
 * Everything is bounded: the time to connect, the time of each request, the size of a response. A
 * request without an answer in time ends the connection, since what comes after it would be late
 * too. After the end every call rejects with DISCONNECTED; a connection does not come back.
 */
import type { Socket } from 'node:net'
import { apiVersions } from '../apis/api-versions.js'
import type { Env, Timer } from '../env.js'
import { KafkaError, SeglogError } from '../errors.js'
import {
  decodeResponse,
  encodeRequest,
  FrameReader,
  RESPONSE_BYTES_MIN,
  readCorrelationId,
} from '../protocol/frame.js'
import type { Part } from '../protocol/parts.js'
import type { Api } from '../protocol/schema.js'
import { checkCode } from './errors.js'
import { VersionTable } from './versions.js'

export interface ConnectionOptions {
  env: Env
  /** Told to the broker with each request; shows up in its logs and groups. */
  clientId: string
  /** ms; also for the first question of a connection. */
  connectTimeoutMs: number
  /** ms that a request waits for its answer, beyond what the broker is asked to wait. */
  requestTimeoutMs: number
  /** The largest response, in bytes. */
  maxResponseBytes: number
}

export interface RequestOptions {
  /** The highest version to use, where the caller cannot speak the newest. */
  versionMax?: number
  /** ms that the broker may take by itself, as a fetch that waits; added to the timeout. */
  waitMs?: number
}

export interface Address {
  host: string
  port: number
}

interface Waiting {
  readonly what: string
  resolve(frame: Uint8Array): void
  reject(error: SeglogError): void
  timer: Timer
}

const CORRELATION_IDS = 2 ** 31

/** What ApiVersions tells of the software since KIP-511: letters, digits, dots and dashes. */
const SOFTWARE = { clientSoftwareName: 'seglog', clientSoftwareVersion: '0.1.0' }

export class Connection {
  readonly address: Address
  readonly #name: string
  readonly #socket: Socket
  readonly #options: ConnectionOptions
  readonly #frames: FrameReader
  readonly #waiting = new Map<number, Waiting>()
  readonly #closeCallbacks = new Set<() => void>()
  #nextId = 0
  #ended: SeglogError | undefined
  #versions = VersionTable.unknown

  private constructor(socket: Socket, address: Address, options: ConnectionOptions) {
    this.address = address
    this.#name = addressText(address)
    this.#socket = socket
    this.#options = options
    this.#frames = new FrameReader(options.maxResponseBytes, RESPONSE_BYTES_MIN)
    socket.on('data', (chunk) => this.#receive(chunk))
    socket.on('error', (error) => this.#end(disconnected(this.#name, causeText(error), error)))
    socket.on('close', () => this.#end(disconnected(this.#name, 'closed by the broker')))
  }

  /** Rejects with DISCONNECTED, TIMED_OUT, MALFORMED_FRAME or BROKER_ERROR. */
  static async open(address: Address, options: ConnectionOptions): Promise<Connection> {
    const socket = await connected(address, options)
    const connection = new Connection(socket, address, options)
    try {
      connection.#versions = await connection.#negotiate()
    } catch (error) {
      connection.close()
      throw error
    }
    return connection
  }

  /** True once it has ended, by whomever. */
  get closed(): boolean {
    return this.#ended !== undefined
  }

  /** Requests that wait for their answers. */
  get inFlight(): number {
    return this.#waiting.size
  }

  /** What the broker speaks. */
  get versions(): VersionTable {
    return this.#versions
  }

  onClose(callback: () => void): void {
    this.#closeCallbacks.add(callback)
  }

  /**
   * Sends a request and resolves with the body of its answer, whose record bytes are views of what
   * was received. Rejects with DISCONNECTED, TIMED_OUT, MALFORMED_FRAME, UNSUPPORTED_VERSION
   * (nothing was sent) or BAD_ARGUMENT (likewise).
   */
  async request<Q, QI, S, SI>(
    api: Api<Q, QI, S, SI>,
    body: QI,
    { versionMax, waitMs = 0 }: RequestOptions = {},
  ): Promise<S> {
    const version = this.#versions.choose(api, this.#name, versionMax)
    const frame = await this.#call(api, version, body, this.#options.requestTimeoutMs + waitMs)
    return this.#decode(api, version, frame)
  }

  /** Sends a request that is not answered, as a produce of acks=0. Errors as `request`. */
  async post<Q, QI, S, SI>(
    api: Api<Q, QI, S, SI>,
    body: QI,
    { versionMax }: RequestOptions = {},
  ): Promise<void> {
    const version = this.#versions.choose(api, this.#name, versionMax)
    if (this.#ended) throw this.#ended
    const { parts } = encodeRequest(api, version, this.#takeId(), this.#options.clientId, body)
    await new Promise<void>((resolve, reject) => {
      this.#write(parts, (error) => (error ? reject(this.#ended ?? error) : resolve()))
    })
  }

  /** Ends it at once; what waits is rejected. */
  close(): void {
    this.#end(disconnected(this.#name, 'closed by this client'))
  }

  /** Ends it when all that was written has been handed to the kernel. */
  async finish(): Promise<void> {
    if (this.#ended) return
    await new Promise<void>((resolve) => {
      this.onClose(resolve)
      this.#socket.end(resolve)
    })
    this.close()
  }

  async #negotiate(): Promise<VersionTable> {
    const newest = apiVersions.versions[1]
    const { connectTimeoutMs } = this.#options
    const frame = await this.#call(apiVersions, newest, SOFTWARE, connectTimeoutMs)
    const refused = frame.length >= 6 && (frame[4]! << 8) + frame[5]! === UNSUPPORTED
    if (!refused) return this.#tableOf(newest, frame)
    const version = this.#tableOf(0, frame, true).highest(apiVersions) ?? 0
    return this.#tableOf(
      version,
      await this.#call(apiVersions, version, SOFTWARE, connectTimeoutMs),
    )
  }

  #tableOf(version: number, frame: Uint8Array, wasRefused = false): VersionTable {
    const { errorCode, apiKeys } = this.#decode(apiVersions, version, frame)
    if (!wasRefused) checkCode(errorCode, `${this.#name}: ApiVersions`)
    return new VersionTable(apiKeys)
  }

  #decode<Q, QI, S, SI>(api: Api<Q, QI, S, SI>, version: number, frame: Uint8Array): S {
    try {
      return decodeResponse(api, version, frame).body
    } catch (error) {
      if (error instanceof SeglogError) error.message = `${this.#name}: ${error.message}`
      throw error
    }
  }

  #call<Q, QI, S, SI>(
    api: Api<Q, QI, S, SI>,
    version: number,
    body: QI,
    timeoutMs: number,
  ): Promise<Uint8Array> {
    return new Promise((resolve, reject) => {
      if (this.#ended) {
        reject(this.#ended)
        return
      }
      const id = this.#takeId()
      const { parts } = encodeRequest(api, version, id, this.#options.clientId, body)
      const what = `${api.name} to ${this.#name}`
      const timer = this.#options.env.after(timeoutMs, () => this.#timeOut(id, timeoutMs))
      this.#waiting.set(id, { what, resolve, reject, timer })
      this.#write(parts, () => {})
    })
  }

  #takeId(): number {
    const id = this.#nextId
    this.#nextId = (id + 1) % CORRELATION_IDS
    return id
  }

  #write(parts: readonly Part[], done: (error?: Error | null) => void): void {
    this.#socket.cork()
    for (const [i, part] of parts.entries()) {
      // Slices of files are for responses; a request is made of bytes alone.
      const bytes = part as Uint8Array
      if (i === parts.length - 1) this.#socket.write(bytes, done)
      else this.#socket.write(bytes)
    }
    this.#socket.uncork()
  }

  #receive(chunk: Buffer): void {
    try {
      for (const frame of this.#frames.push(chunk)) {
        const id = readCorrelationId(frame)
        const waiting = this.#waiting.get(id)
        if (!waiting) {
          throw new SeglogError('MALFORMED_FRAME', `an answer to request ${id}, which is not due`)
        }
        this.#waiting.delete(id)
        waiting.timer.cancel()
        waiting.resolve(frame)
      }
    } catch (error) {
      const text = `${this.#name}: ${causeText(error)}`
      this.#end(new SeglogError('MALFORMED_FRAME', text, { cause: error }))
    }
  }

  #timeOut(id: number, timeoutMs: number): void {
    const waiting = this.#waiting.get(id)
    if (!waiting) return
    this.#waiting.delete(id)
    const text = `no answer to ${waiting.what} within ${timeoutMs} ms`
    waiting.reject(new SeglogError('TIMED_OUT', text))
    this.#end(disconnected(this.#name, `closed after ${text}`))
  }

  #end(error: SeglogError): void {
    if (this.#ended) return
    this.#ended = error
    for (const { timer, reject } of this.#waiting.values()) {
      timer.cancel()
      reject(error)
    }
    this.#waiting.clear()
    this.#socket.destroy()
    for (const callback of this.#closeCallbacks) callback()
    this.#closeCallbacks.clear()
  }
}

const UNSUPPORTED = KafkaError.UNSUPPORTED_VERSION

/** host:port, with IPv6 in brackets. */
export function addressText({ host, port }: Address): string {
  return host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`
}

function connected(address: Address, options: ConnectionOptions): Promise<Socket> {
  const { env, connectTimeoutMs } = options
  const name = addressText(address)
  return new Promise((resolve, reject) => {
    const socket = env.connect(address.host, address.port)
    const onError = (error: Error) => {
      timer.cancel()
      reject(disconnected(name, causeText(error), error))
    }
    const timer = env.after(connectTimeoutMs, () => {
      socket.off('error', onError)
      socket.on('error', () => {})
      socket.destroy()
      reject(new SeglogError('TIMED_OUT', `${name}: no connection within ${connectTimeoutMs} ms`))
    })
    socket.once('error', onError)
    socket.once('connect', () => {
      timer.cancel()
      socket.off('error', onError)
      resolve(socket)
    })
  })
}

function disconnected(name: string, why: string, cause?: unknown): SeglogError {
  return new SeglogError('DISCONNECTED', `${name}: ${why}`, { cause })
}

const causes = new Map([
  ['ECONNREFUSED', 'nothing listens there (ECONNREFUSED)'],
  ['ENOTFOUND', 'there is no such host (ENOTFOUND)'],
  ['ECONNRESET', 'the broker ended the connection (ECONNRESET)'],
])

function causeText(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  if (typeof code === 'string' && causes.has(code)) return causes.get(code) ?? code
  if (error instanceof Error && error.message !== '') return error.message
  return String(code ?? error)
}
