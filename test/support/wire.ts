/**
 * A client that is nothing but frames: requests by the tables, in any version, pipelined or not,
 * and raw bytes. It retries nothing and knows no metadata, so that a test sees what the broker
 * answers.
 */
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import type { TestContext } from 'node:test'
import { decodeResponse, encodeRequest, FrameReader } from '../../src/protocol/frame.js'
import type { AnyApi, Api } from '../../src/protocol/schema.js'

const FRAME_BYTES_MAX = 256 * 1024 * 1024
const ANSWER_MS = 10_000

interface Waiting {
  resolve(frame: Uint8Array): void
  reject(error: Error): void
}

export class Wire {
  readonly socket: Socket
  /** Resolves when the broker, or the test, has closed the connection. */
  readonly closed: Promise<void>
  readonly #frames = new FrameReader(FRAME_BYTES_MAX, 4)
  readonly #waiting: Waiting[] = []
  #correlationId = 0

  private constructor(socket: Socket) {
    this.socket = socket
    this.closed = new Promise((resolve) => socket.once('close', () => resolve()))
    socket.on('error', () => {})
    socket.on('close', () => {
      for (const { reject } of this.#waiting.splice(0)) reject(new Error('connection closed'))
    })
    socket.on('data', (chunk) => {
      for (const frame of this.#frames.push(chunk)) this.#waiting.shift()?.resolve(frame)
    })
  }

  /** Closed with the test. */
  static async connect(t: TestContext, port: number): Promise<Wire> {
    const socket = connect({ port, host: '127.0.0.1', noDelay: true })
    t.after(() => socket.destroy())
    await once(socket, 'connect')
    return new Wire(socket)
  }

  static over(socket: Socket): Wire {
    return new Wire(socket)
  }

  /**
   * Sends a request and resolves with the body of the next response. Rejects when the connection
   * closes first.
   */
  async call<Q, QI, S, SI>(api: Api<Q, QI, S, SI>, version: number, body: QI): Promise<S> {
    this.#correlationId++
    const correlationId = this.#correlationId
    const frame = this.nextFrame(`${api.name} v${version}`)
    this.send(api, version, body)
    const answer = decodeResponse(api, version, await frame)
    if (answer.correlationId !== correlationId) {
      throw new Error(`response ${answer.correlationId} where ${correlationId} was due`)
    }
    return answer.body
  }

  /** Sends a request of which no response is expected. */
  post<Q, QI, S, SI>(api: Api<Q, QI, S, SI>, version: number, body: QI): void {
    this.#correlationId++
    this.send(api, version, body)
  }

  private send(api: AnyApi, version: number, body: unknown): void {
    const { parts } = encodeRequest(api, version, this.#correlationId, 'wire', body)
    this.write(Buffer.concat(parts.map((part) => part as Uint8Array)))
  }

  /** Sends bytes as they are. */
  write(bytes: Uint8Array): void {
    this.socket.write(bytes)
  }

  /** A frame around bytes of its own. */
  writeFrame(body: Uint8Array): void {
    const length = Buffer.alloc(4)
    length.writeInt32BE(body.length)
    this.write(Buffer.concat([length, body]))
  }

  /** The next frame that comes and is not yet waited for. */
  nextFrame(what = 'frame'): Promise<Uint8Array> {
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => reject(new Error(`no answer to ${what}`)), ANSWER_MS)
      const settled = () => clearTimeout(timer)
      this.#waiting.push({
        resolve: (frame) => {
          settled()
          resolve(frame)
        },
        reject: (error) => {
          settled()
          reject(error)
        },
      })
    })
  }
}
