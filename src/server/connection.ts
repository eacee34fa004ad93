/**
 * One client's connection: frames in, responses out, strictly one request after another, as Kafka
 * does it. The order of responses therefore is the order of requests, whatever a handler waits for.
 *
 * Memory is bounded: while requests wait in line beyond a small amount, or all connections together
 * hold too much, the socket is not read, and the next request is not begun before the response
 * before it has been handed to the kernel. What a peer sends that is no request closes the
 * connection and touches nobody else.
 */
import type { Socket } from 'node:net'
import { ProtocolError, SeglogError } from '../errors.js'
import { FrameReader } from '../protocol/frame.js'
import type { Part } from '../protocol/parts.js'
import { sendParts } from '../storage/slice.js'
import type { Holder, RequestMemory } from './request-memory.js'

/** The connection as a handler sees it. */
export interface Client {
  /** host:port of the peer. */
  readonly address: string
  readonly host: string
  /** Calls back when the connection has closed; the result unsubscribes. */
  onClose(callback: () => void): () => void
}

/**
 * Answers a frame with the parts of a response, or with nothing where none is due. Rejects to
 * close.
 */
export type Dispatch = (frame: Uint8Array, client: Client) => Reply | Promise<Reply>
type Reply = Part[] | undefined

const QUEUED_BYTES_MAX = 256 * 1024
const QUEUED_FRAMES_MAX = 64

export interface ConnectionOptions {
  maxFrameBytes: number
  /** Shared by all connections of a broker. */
  memory?: RequestMemory | undefined
  now: () => number
  complain: (line: string) => void
}

export class Connection implements Client, Holder {
  readonly address: string
  readonly host: string
  readonly #socket: Socket
  readonly #dispatch: Dispatch
  readonly #frames: FrameReader
  readonly #queue: Uint8Array[] = []
  readonly #closeCallbacks = new Set<() => void>()
  readonly #memory: RequestMemory | undefined
  #queuedBytes = 0
  /** Of the request that is being answered. */
  #answeringBytes = 0
  #held = false
  #busy = false
  #closed = false
  #draining: (() => void) | undefined
  /** Monotonic ms of the last byte in or response out; the listener reads and writes it. */
  activeAtMs: number
  readonly #now: () => number
  readonly #complain: (line: string) => void

  constructor(socket: Socket, dispatch: Dispatch, options: ConnectionOptions) {
    this.#socket = socket
    this.#dispatch = dispatch
    this.#frames = new FrameReader(options.maxFrameBytes)
    this.#memory = options.memory
    this.#now = options.now
    this.#complain = options.complain
    this.activeAtMs = options.now()
    this.host = socket.remoteAddress ?? 'unknown'
    this.address = `${this.host}:${socket.remotePort}`
    socket.on('data', (chunk) => this.#receive(chunk))
    socket.on('error', () => this.close())
    socket.on('close', () => this.#gone())
  }

  /** True while a request is being answered: such a connection is not idle. */
  get busy(): boolean {
    return this.#busy
  }

  get heldBytes(): number {
    return this.#queuedBytes + this.#answeringBytes + this.#frames.pendingBytes
  }

  get wantedBytes(): number {
    return Math.max(this.#frames.wantedBytes, this.#answeringBytes)
  }

  hold(held: boolean): void {
    this.#held = held
    this.#readOrPause()
  }

  evict(): void {
    this.#complain(`closing the connection of ${this.address}: it holds memory and sends nothing`)
    this.close()
  }

  onClose(callback: () => void): () => void {
    this.#closeCallbacks.add(callback)
    return () => this.#closeCallbacks.delete(callback)
  }

  close(): void {
    this.#socket.destroy()
  }

  /** Closes once the request under way has been answered; resolves then, or when it has closed. */
  async drain(): Promise<void> {
    if (this.#closed) return
    this.#queue.length = 0
    this.#socket.pause()
    if (this.#busy) {
      await new Promise<void>((resolve) => {
        this.#draining = resolve
      })
    }
    this.close()
  }

  #receive(chunk: Buffer): void {
    this.activeAtMs = this.#now()
    try {
      for (const frame of this.#frames.push(chunk)) {
        this.#queue.push(frame)
        this.#queuedBytes += frame.length
      }
    } catch (error) {
      this.#refuse(error)
      return
    }
    this.#count()
    this.#readOrPause()
    if (!this.#busy && this.#queue.length > 0) void this.#answerAll()
  }

  /** A connection that is gone holds nothing, also when the request under way ends after it. */
  #count(): void {
    if (!this.#closed) this.#memory?.changed(this)
  }

  #readOrPause(): void {
    if (this.#crowded || this.#held || this.#draining) this.#socket.pause()
    else if (this.#socket.isPaused()) this.#socket.resume()
  }

  get #crowded(): boolean {
    return this.#queuedBytes > QUEUED_BYTES_MAX || this.#queue.length > QUEUED_FRAMES_MAX
  }

  async #answerAll(): Promise<void> {
    this.#busy = true
    try {
      while (!this.#closed) {
        const frame = this.#queue.shift()
        if (!frame) break
        this.#queuedBytes -= frame.length
        this.#answeringBytes = frame.length
        await this.#answer(frame)
        this.#answeringBytes = 0
        this.#count()
        this.#readOrPause()
      }
    } catch (error) {
      this.#refuse(error)
    } finally {
      this.#busy = false
      this.#draining?.()
    }
  }

  async #answer(frame: Uint8Array): Promise<void> {
    // Awaiting only what is a promise keeps a pipelined burst within one turn of the loop.
    const answer = this.#dispatch(frame, this)
    const parts = answer instanceof Promise ? await answer : answer
    if (!parts || this.#closed) return
    const sending = sendParts(this.#socket, parts)
    if (sending !== undefined) await sending
    this.activeAtMs = this.#now()
  }

  #refuse(error: unknown): void {
    if (!this.#closed) {
      // Who goes away while being answered is no news.
      const isGone = error instanceof SeglogError && error.code === 'BROKEN_PIPE'
      const expected = error instanceof SeglogError || error instanceof ProtocolError
      const text = expected ? error.message : error instanceof Error ? error.stack : String(error)
      if (!isGone) this.#complain(`closing the connection of ${this.address}: ${text}`)
    }
    this.close()
  }

  #gone(): void {
    this.#closed = true
    this.#queue.length = 0
    this.#memory?.gone(this)
    this.#draining?.()
    for (const callback of this.#closeCallbacks) callback()
    this.#closeCallbacks.clear()
  }
}
