/**
 * A run of record batches in a segment file, and how it reaches a socket without entering
 * JavaScript.
 *
 * Order: a transfer takes its place among the writes of a socket as an empty placeholder in the
 * socket's own stream. When its turn comes the native side sends past Node, and the stream,
 * believing a write to be under way, buffers whatever follows; so earlier and later writes, corks
 * and `end` keep their order, and a socket that is destroyed fails the transfer as it fails its
 * other writes. An idle socket needs no placeholder unless it cannot take all at once.
 *
 * Sockets without a descriptor of their own (TLS, simulated ones) get copies, a piece at a time.
 * Bytes that go past Node are in neither `bytesWritten` nor `writableLength`, and do not restart a
 * timer of `socket.setTimeout`.
 */
import assert from 'node:assert'
import type { Socket } from 'node:net'
import { SeglogError } from '../errors.js'
import {
  checked,
  native,
  POOLED_BYTES_MAX,
  Status,
  statusError,
  type TransferPart,
} from '../native.js'
import type { Part, RecordSlice } from '../protocol/parts.js'

/** A copied slice passes through memory in pieces of this size. */
const COPY_BYTES = 256 * 1024
/** Less is not worth a block of the addon's pool. */
const POOLED_BYTES_MIN = 16 * 1024

export class Slice implements RecordSlice {
  readonly handle: number
  readonly position: number
  readonly sizeBytes: number

  /**
   * `sizeBytes` bytes at `position` in the .log file of the native segment `handle`, which stays
   * open meanwhile.
   */
  constructor(handle: number, position: number, sizeBytes: number) {
    this.handle = handle
    this.position = position
    this.sizeBytes = sizeBytes
  }

  /** A copy of the bytes. Throws SHORT where the segment ends before them, CLOSED, IO. */
  bytes(): Buffer {
    const target = bufferOf(this.sizeBytes)
    const { handle, position, sizeBytes } = this
    const count = checked(native.segmentRead(handle, position, sizeBytes, target, 0), 'slice')
    if (count < sizeBytes) throw statusError(Status.SHORT, 'slice', 0)
    return target
  }

  /**
   * Sends the bytes in order with the other writes of `socket`. Resolves and rejects as
   * `sendParts`.
   */
  async sendTo(socket: Socket): Promise<void> {
    await sendParts(socket, [this])
  }
}

function bufferOf(sizeBytes: number): Buffer {
  if (sizeBytes >= POOLED_BYTES_MIN && sizeBytes <= POOLED_BYTES_MAX) {
    const pooled = native.pooledBuffer(sizeBytes)
    if (typeof pooled !== 'number') return pooled
  }
  return Buffer.allocUnsafeSlow(sizeBytes)
}

/**
 * Sends buffers and slices in order with the other writes of `socket`, idle or not. Returns
 * undefined when the kernel has them all, else a promise of that. The segments of the slices may be
 * closed meanwhile; the buffers must stay as they are. Rejects with BROKEN_PIPE (the socket was
 * closed, by either side), SHORT (a file ended before its slice), CLOSED (a segment was, before the
 * call), BAD_ARGUMENT (more than 65,536 parts), IO; the socket is then destroyed and emits 'error',
 * as after any failed write.
 */
export function sendParts(socket: Socket, parts: readonly Part[]): Promise<void> | undefined {
  if (typeof socket?.write !== 'function') {
    throw new SeglogError('BAD_ARGUMENT', 'a slice is sent to a socket of node:net')
  }
  let sender = senders.get(socket)
  if (sender === undefined) {
    sender = new Sender(socket)
    senders.set(socket, sender)
  }
  return sender.send(parts)
}

type Callback = (error?: Error | null) => void

/** A transfer that did not leave at once. */
interface Job {
  /** Of the native transfer; 0 where there is none. */
  readonly id: number
  /** What to copy where there is no native transfer. */
  readonly parts: readonly Part[]
  finished: boolean
  error?: SeglogError
  /** Ends the placeholder's write; known from its turn on. */
  settle?: Callback
}

/** What is used of a socket beyond its public interface; a simulated one has none of it. */
interface Internals {
  readonly connecting: boolean
  readonly encrypted?: boolean
  readonly _handle?: { readonly fd?: number } | null
}

const senders = new WeakMap<Socket, Sender>()
const PLACEHOLDER = Buffer.alloc(0)
/** What a stream gives to `_write` as the encoding of bytes; its types leave it out. */
const BYTES = 'buffer' as string as BufferEncoding

class Sender {
  readonly #socket: Socket
  readonly #write: Socket['_write']
  readonly #writev: Socket['_writev']
  /** Jobs whose placeholder waits in the stream, in its order. */
  readonly #queue: Job[] = []
  /** Jobs whose promise is not settled. */
  #unsettled = 0
  /** The job that is under way; at most one is. */
  #current: Job | undefined

  constructor(socket: Socket) {
    this.#socket = socket
    this.#write = socket._write.bind(socket)
    this.#writev = socket._writev
    socket._write = (chunk, encoding, callback) =>
      chunk === PLACEHOLDER ? this.#begin(callback) : this.#write(chunk, encoding, callback)
    socket.once('close', () => this.#abandon())
  }

  send(parts: readonly Part[]): Promise<void> | undefined {
    const socket = this.#socket
    if (socket.destroyed || socket.writableEnded) return Promise.reject(gone())
    const fd = descriptorOf(socket)
    if (fd === undefined && !socket.connecting)
      return this.#enqueue({ id: 0, parts, finished: false })
    if (fd === undefined || !this.#idle()) {
      return this.#enqueue(nativeJob(native.transferHold(flatten(parts))))
    }
    const id = native.transferSend(fd, flatten(parts), this.#done)
    if (id === 0) return undefined
    const job = nativeJob(id)
    if (id > 0) this.#current = job
    return this.#enqueue(job)
  }

  /** Nothing that was written or sent before still waits, here, in Node or in libuv. */
  #idle(): boolean {
    const { connecting, writableLength, writableCorked } = this.#socket
    return !connecting && writableLength === 0 && writableCorked === 0 && this.#unsettled === 0
  }

  #enqueue(job: Job): Promise<void> {
    this.#unsettled++
    this.#queue.push(job)
    this.#allowGathering()
    return new Promise((resolve, reject) => {
      this.#socket.write(PLACEHOLDER, (error) => {
        this.#unsettled--
        if (error) reject(error instanceof SeglogError ? error : gone(error))
        else resolve()
      })
    })
  }

  /**
   * The turn of a placeholder: everything before it is in the kernel, and `settle` lets the stream
   * go on.
   */
  #begin(settle: Callback): void {
    const job = this.#queue.shift()
    assert(job !== undefined, 'a placeholder without a job')
    this.#allowGathering()
    job.settle = settle
    if (job.finished) settle(job.error)
    else if (job.id === 0) this.#copy(job.parts, settle)
    else if (job !== this.#current) {
      this.#current = job
      if (this.#socket.connecting) this.#socket.once('connect', () => this.#start(job))
      else this.#start(job)
    }
  }

  #start(job: Job): void {
    const fd = descriptorOf(this.#socket)
    if (fd === undefined) this.#abandon()
    else {
      const result = native.transferStart(job.id, fd, this.#done)
      if (result <= 0) this.#done(result, undefined)
    }
  }

  readonly #done = (status: number, errno: number | undefined): void => {
    const job = this.#current
    assert(job !== undefined, 'a transfer ended that was not under way')
    this.#current = undefined
    if (status !== Status.OK) job.error = statusError(status, 'sending to a socket', errno)
    job.finished = true
    job.settle?.(job.error)
  }

  #copy(parts: readonly Part[], settle: Callback): void {
    const pieces = piecesOf(parts)
    const next = (failure?: Error | null): void => {
      const piece = failure ? failure : nextOf(pieces)
      if (piece === undefined || piece instanceof Error) settle(piece)
      // Not at once: a stream may call back before it returns, and many pieces fill the stack.
      else this.#write(piece, BYTES, (error) => process.nextTick(next, error))
    }
    next()
  }

  /**
   * Node gathers buffered writes into one call of `_writev`, which a placeholder cannot be part of.
   */
  #allowGathering(): void {
    Object.assign(this.#socket, { _writev: this.#queue.length > 0 ? null : this.#writev })
  }

  /** The socket is gone: nobody waits for what was not sent. */
  #abandon(): void {
    for (const job of this.#queue) native.transferCancel(job.id)
    const job = this.#current
    if (job === undefined) return
    native.transferCancel(job.id)
    this.#current = undefined
    job.error = gone()
    job.finished = true
    job.settle?.(job.error)
  }
}

function gone(cause?: unknown): SeglogError {
  return new SeglogError('BROKEN_PIPE', 'the socket was closed before all was sent', { cause })
}

/** A job for the id or status of a native call: after an error it fails in its turn. */
function nativeJob(id: number): Job {
  if (id > 0) return { id, parts: [], finished: false }
  return { id: 0, parts: [], finished: true, error: statusError(id, 'sending to a socket') }
}

function descriptorOf(socket: Internals): number | undefined {
  const fd = socket.encrypted === true ? undefined : socket._handle?.fd
  return fd !== undefined && fd >= 0 ? fd : undefined
}

function flatten(parts: readonly Part[]): TransferPart[] {
  const flat: TransferPart[] = []
  for (const part of parts) {
    if (part instanceof Uint8Array) flat.push(part)
    else {
      assert(part instanceof Slice, 'a slice that is not in a segment')
      flat.push(part.handle, part.position, part.sizeBytes)
    }
  }
  return flat
}

function* piecesOf(parts: readonly Part[]): Generator<Uint8Array, undefined> {
  for (const part of parts) {
    if (part instanceof Uint8Array) {
      yield part
      continue
    }
    assert(part instanceof Slice, 'a slice that is not in a segment')
    for (let at = 0; at < part.sizeBytes; at += COPY_BYTES) {
      const sizeBytes = Math.min(COPY_BYTES, part.sizeBytes - at)
      yield new Slice(part.handle, part.position + at, sizeBytes).bytes()
    }
  }
}

/** The next piece, undefined at the end, or why there is none. */
function nextOf(pieces: Iterator<Uint8Array, undefined>): Uint8Array | Error | undefined {
  try {
    return pieces.next().value
  } catch (error) {
    return error instanceof Error ? error : gone(error)
  }
}
