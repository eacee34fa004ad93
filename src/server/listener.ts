/**
 * A listening socket and the connections that it accepted. One timer looks for idle connections,
 * however many there are.
 */
import type { Server, Socket } from 'node:net'
import { addressOf, type Env, portOf, type Timer } from '../env.js'
import { SeglogError } from '../errors.js'
import type { Logger } from '../logger.js'
import { Complaints } from './complaints.js'
import { Connection, type Dispatch } from './connection.js'
import type { RequestMemory } from './request-memory.js'

export interface ListenerOptions {
  host: string
  /** 0 takes a free port. */
  port: number
  /** `socket.request.max.bytes` */
  maxFrameBytes: number
  /** `connections.max.idle.ms`; below 0 never. */
  maxIdleMs: number
  /** Shared by the listeners of a broker. */
  quota?: ConnectionQuota
  /** Shared likewise. */
  memory?: RequestMemory
}

/**
 * How many clients there may be, in all (`max.connections`) and from one address
 * (`max.connections.per.ip`), as asked when one comes.
 */
export class ConnectionQuota {
  readonly #byAddress = new Map<string, number>()
  #count = 0

  constructor(
    readonly max: () => number,
    readonly maxPerAddress: () => number,
  ) {}

  /** Takes a place, to be given back by `release`; false where there is none. */
  admit(address: string): boolean {
    const count = this.#byAddress.get(address) ?? 0
    if (this.#count >= this.max() || count >= this.maxPerAddress()) return false
    this.#count++
    this.#byAddress.set(address, count + 1)
    return true
  }

  release(address: string): void {
    const left = (this.#byAddress.get(address) ?? 1) - 1
    this.#count--
    if (left > 0) this.#byAddress.set(address, left)
    else this.#byAddress.delete(address)
  }
}

const SWEEPS_PER_IDLE = 4
const SWEEP_MS_MAX = 30_000

export class Listener {
  readonly host: string
  /** What the host is a name of. */
  readonly address: string
  readonly port: number
  readonly #server: Server
  readonly #env: Env
  readonly #options: ListenerOptions
  readonly #connections = new Set<Connection>()
  #sweep: Timer | undefined

  private constructor(server: Server, env: Env, options: ListenerOptions) {
    this.#server = server
    this.#env = env
    this.#options = options
    this.host = options.host
    this.address = addressOf(server)
    this.port = portOf(server)
    this.#scheduleSweep()
  }

  /** Rejects with ADDRESS_IN_USE, or IO where the address cannot be listened on. */
  static async open(
    options: ListenerOptions,
    dispatch: Dispatch,
    env: Env,
    logger: Logger,
  ): Promise<Listener> {
    let listener: Listener | undefined
    const complaints = new Complaints(env, logger)
    const early: Socket[] = []
    const server = await env
      .listen({
        host: options.host,
        port: options.port,
        onConnection: (socket) =>
          listener ? listener.#accept(socket, dispatch, complaints) : early.push(socket),
      })
      .catch((error) => {
        throw listenError(options, error)
      })
    listener = new Listener(server, env, options)
    for (const socket of early) listener.#accept(socket, dispatch, complaints)
    return listener
  }

  get connections(): number {
    return this.#connections.size
  }

  #accept(socket: Socket, dispatch: Dispatch, complaints: Complaints): void {
    const { quota } = this.#options
    const address = socket.remoteAddress ?? ''
    if (quota && !quota.admit(address)) {
      complaints.tell(`refusing a connection of ${address}: there are as many as are allowed`)
      socket.destroy()
      return
    }
    const connection = new Connection(socket, dispatch, {
      maxFrameBytes: this.#options.maxFrameBytes,
      memory: this.#options.memory,
      now: () => this.#env.monotonic(),
      complain: (line) => complaints.tell(line),
    })
    this.#connections.add(connection)
    connection.onClose(() => {
      this.#connections.delete(connection)
      quota?.release(address)
    })
  }

  #scheduleSweep(): void {
    const { maxIdleMs } = this.#options
    if (maxIdleMs < 0) return
    const ms = Math.max(1, Math.min(SWEEP_MS_MAX, maxIdleMs / SWEEPS_PER_IDLE))
    this.#sweep = this.#env.after(ms, () => {
      const before = this.#env.monotonic() - maxIdleMs
      // Where the process was held up, requests have come that are not read yet; they come first.
      this.#env.soon(() => this.#closeIdle(before))
      this.#scheduleSweep()
    })
  }

  #closeIdle(beforeMs: number): void {
    for (const connection of this.#connections) {
      if (!connection.busy && connection.activeAtMs <= beforeMs) connection.close()
    }
  }

  /** Takes no new connection from now on. */
  async stopAccepting(): Promise<void> {
    this.#server.close()
  }

  /**
   * Lets each connection finish the request that it is in, for at most `graceMs`, then closes them
   * all.
   */
  async close(graceMs: number): Promise<void> {
    this.#sweep?.cancel()
    const closed = new Promise<void>((resolve) => {
      if (!this.#server.listening && this.#connections.size === 0) resolve()
      else this.#server.once('close', resolve)
    })
    this.#server.close()
    const grace = this.#env.after(graceMs, () => {
      for (const connection of this.#connections) connection.close()
    })
    await Promise.all([...this.#connections].map((connection) => connection.drain()))
    grace.cancel()
    await closed
  }
}

/** What was wrong with an address, in one line. */
export function listenError(
  { host, port }: { host: string; port: number },
  cause: unknown,
): SeglogError {
  const code = cause instanceof Error && 'code' in cause ? cause.code : undefined
  if (code === 'EADDRINUSE') {
    return new SeglogError('ADDRESS_IN_USE', `${host}:${port} is taken by another process`, {
      cause,
    })
  }
  return new SeglogError('IO', `cannot listen on ${host}:${port}: ${code ?? cause}`, { cause })
}
