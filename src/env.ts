/**
 * Clock, timers, randomness and sockets: the only file that touches them. Everything else takes an
 * `Env`, so that a test can run on a simulated one and replay it from a seed.
 */
import { randomBytes, randomInt, randomUUID } from 'node:crypto'
import {
  type AddressInfo,
  createConnection,
  createServer,
  type Server,
  type Socket,
} from 'node:net'

/** A pending timer; `cancel` may be called at any time, also after it fired. */
export interface Timer {
  cancel(): void
}

export interface ServerOptions {
  host: string
  /** 0 takes a free port. */
  port: number
  onConnection(socket: Socket): void
}

export interface Env {
  /** Wall clock in ms since 1970, as Kafka's timestamps. May jump. */
  now(): number
  /** Monotonic clock in ms, for durations. */
  monotonic(): number
  /**
   * Calls back once after `ms`, at most 2^31 - 1. A timer does not keep the process alive by
   * itself, unless `keep` says that somebody waits for it.
   */
  after(ms: number, callback: () => void, keep?: boolean): Timer
  /** Runs before the next turn of the event loop looks for input. */
  soon(callback: () => void): void
  random: {
    bytes(length: number): Buffer
    /** A whole number in [0, below). */
    below(below: number): number
    uuid(): string
  }
  listen(options: ServerOptions): Promise<Server>
  connect(host: string, port: number): Socket
}

/** Node fires a longer timer at once. */
const TIMER_MS_MAX = 2 ** 31 - 1

export const systemEnv: Env = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  after(ms, callback, keep = false) {
    const timer = setTimeout(callback, Math.min(ms, TIMER_MS_MAX))
    if (!keep) timer.unref()
    return { cancel: () => clearTimeout(timer) }
  },
  soon: (callback) => void setImmediate(callback),
  random: {
    bytes: (length) => randomBytes(length),
    below: (below) => randomInt(below),
    uuid: () => randomUUID(),
  },
  listen({ host, port, onConnection }) {
    return new Promise((resolve, reject) => {
      const server = createServer({ noDelay: true }, onConnection)
      server.once('error', reject)
      server.listen({ host, port, backlog: 1024 }, () => {
        server.off('error', reject)
        resolve(server)
      })
    })
  },
  connect: (host, port) => createConnection({ host, port, noDelay: true }),
}

/** The one address that a server listens on, where its host was a name with several. */
export function addressOf(server: Server): string {
  return (server.address() as AddressInfo).address
}

/** The port that a server really listens on. */
export function portOf(server: Server): number {
  return (server.address() as AddressInfo).port
}
