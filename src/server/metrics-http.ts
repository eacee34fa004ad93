/**
 * As much of HTTP/1.1 as a scraper and a probe need: GET and HEAD of a path, one request for each
 * connection. Bounded: the head of a request, the time of an exchange, and connections, beyond
 * which new ones are dropped.
 */
import type { Server, Socket } from 'node:net'
import { type Env, portOf } from '../env.js'
import type { Logger } from '../logger.js'
import { listenError } from './listener.js'

export interface HttpReply {
  status: 200 | 404 | 405 | 500 | 503
  type: string
  body: string
}

/** Answers a path, without what stands behind its question mark. */
export type HttpHandler = (path: string) => HttpReply

const HEAD_BYTES_MAX = 8192
const EXCHANGE_MS = 10_000
const CONNECTIONS_MAX = 64

const reasons = {
  200: 'OK',
  404: 'Not Found',
  405: 'Method Not Allowed',
  500: 'Internal Server Error',
  503: 'Service Unavailable',
}

export class HttpEndpoint {
  readonly port: number
  readonly #server: Server
  readonly #env: Env
  readonly #handler: HttpHandler
  readonly #logger: Logger
  readonly #sockets: Set<Socket>

  private constructor(
    server: Server,
    env: Env,
    handler: HttpHandler,
    logger: Logger,
    sockets: Set<Socket>,
  ) {
    this.#server = server
    this.#env = env
    this.#handler = handler
    this.#logger = logger
    this.#sockets = sockets
    this.port = portOf(server)
  }

  /** Rejects with ADDRESS_IN_USE, or IO where the address cannot be listened on. */
  static async open(
    { host, port }: { host: string; port: number },
    handler: HttpHandler,
    env: Env,
    logger: Logger,
  ): Promise<HttpEndpoint> {
    const sockets = new Set<Socket>()
    let endpoint: HttpEndpoint | undefined
    const onConnection = (socket: Socket) => {
      if (endpoint === undefined || sockets.size >= CONNECTIONS_MAX) socket.destroy()
      else endpoint.#accept(socket)
    }
    const server = await env.listen({ host, port, onConnection }).catch((error) => {
      throw listenError({ host, port }, error)
    })
    endpoint = new HttpEndpoint(server, env, handler, logger, sockets)
    return endpoint
  }

  #accept(socket: Socket): void {
    this.#sockets.add(socket)
    const timer = this.#env.after(EXCHANGE_MS, () => socket.destroy())
    let head = ''
    let answered = false
    socket.on('error', () => {})
    socket.on('close', () => {
      timer.cancel()
      this.#sockets.delete(socket)
    })
    socket.on('data', (chunk) => {
      // What comes behind the head is read and dropped, lest the response be lost with a reset.
      if (answered) return
      head += chunk.toString('latin1')
      const isWhole = /\r?\n\r?\n/.test(head)
      if (!isWhole && head.length <= HEAD_BYTES_MAX) return
      answered = true
      if (isWhole) this.#answer(socket, head)
      else socket.destroy()
    })
  }

  #answer(socket: Socket, head: string): void {
    const [, method, target = ''] = /^([A-Z]+) (\S+) HTTP\/1\.[01]\r?\n/.exec(head) ?? []
    if (method === undefined) {
      socket.destroy()
      return
    }
    const { status, type, body } = this.#reply(method, target)
    const lines = [
      `HTTP/1.1 ${status} ${reasons[status]}`,
      `Content-Type: ${type}`,
      `Content-Length: ${Buffer.byteLength(body)}`,
      'Connection: close',
    ]
    if (status === 405) lines.push('Allow: GET, HEAD')
    socket.end(`${lines.join('\r\n')}\r\n\r\n${method === 'HEAD' ? '' : body}`)
  }

  #reply(method: string, target: string): HttpReply {
    const type = 'text/plain; charset=utf-8'
    if (method !== 'GET' && method !== 'HEAD') {
      return { status: 405, type, body: 'GET and HEAD are served\n' }
    }
    try {
      return this.#handler(target.split('?')[0] ?? '')
    } catch (error) {
      const text = error instanceof Error ? (error.stack ?? error.message) : String(error)
      this.#logger.error(`answering ${target} failed: ${text}`)
      return { status: 500, type, body: 'failed; the log says why\n' }
    }
  }

  async close(): Promise<void> {
    const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()))
    for (const socket of this.#sockets) socket.destroy()
    await closed
  }
}
