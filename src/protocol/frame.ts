/**
 * Frames: a length of four bytes, a header, a message. Cuts frames out of a stream of bytes, reads
 * and writes the headers of both directions, and puts whole frames together.
 *
 * A length is judged before anything is made for it, and the memory of a frame that is under way
 * grows with the bytes that came, at most fourfold, not with the length that was promised. A frame
 * that lies whole within one chunk is a view of that chunk. What is malformed is a `SeglogError`
 * MALFORMED_FRAME, after which the stream is useless.
 *
 * Headers (KIP-482): a request has version 2 where its message is flexible, else 1, and the client
 * id keeps its two-byte length in both. A response has version 1 where flexible; ApiVersions alone
 * keeps 0, so that a client can read it before it knows what the broker speaks (KIP-511).
 */
import { malformed, Reader, Writer } from './bytes.js'
import type { Part } from './parts.js'
import type { AnyApi, Api } from './schema.js'

/** The shortest request: key, version and correlation id. */
export const REQUEST_BYTES_MIN = 8
/** The shortest response: a correlation id. */
export const RESPONSE_BYTES_MIN = 4

const LENGTH_BYTES = 4
/** What is set aside for a frame before more than this has come. */
const FIRST_BYTES = 64 * 1024
const GROWTH = 4

const API_VERSIONS = 18
const CONTROLLED_SHUTDOWN = 7

/** Cuts a stream of bytes into frames. One for each connection and direction. */
export class FrameReader {
  private readonly prefix = Buffer.alloc(LENGTH_BYTES)
  private prefixBytes = 0
  /** The frame under way: as much of it as came, or null between frames. */
  private frame: Buffer | null = null
  private frameBytes = 0
  private frameSize = 0

  /** `maxBytes` and `minBytes` bound the length of a frame, the length itself not counted. */
  constructor(
    readonly maxBytes: number,
    readonly minBytes: number = REQUEST_BYTES_MIN,
  ) {}

  /** Bytes that are held for a frame that is not yet whole. */
  get pendingBytes(): number {
    return this.prefixBytes + this.frameBytes
  }

  /** Bytes that the frame under way takes when it is whole; 0 between frames. */
  get wantedBytes(): number {
    return this.frameSize
  }

  /**
   * Gives the frames that `chunk` completes, without their lengths. Iterate to the end. A frame may
   * be a view of `chunk`; what is left of it afterwards was copied. Errors: MALFORMED_FRAME, once
   * the frames before it are out.
   */
  *push(chunk: Uint8Array): Generator<Uint8Array, void, undefined> {
    let at = 0
    while (at < chunk.length) {
      if (this.frame !== null) {
        at += this.fill(this.frame, chunk, at)
        if (this.frameBytes < this.frameSize) return
        const whole = this.frame
        this.reset()
        yield whole
        continue
      }
      at += this.fillPrefix(chunk, at)
      if (this.prefixBytes < LENGTH_BYTES) return
      const size = this.judge()
      if (chunk.length - at >= size) {
        this.reset()
        yield chunk.subarray(at, at + size)
        at += size
      } else {
        this.frameSize = size
        this.frame = Buffer.allocUnsafeSlow(Math.min(size, FIRST_BYTES))
      }
    }
  }

  private fillPrefix(chunk: Uint8Array, at: number): number {
    const count = Math.min(LENGTH_BYTES - this.prefixBytes, chunk.length - at)
    for (let i = 0; i < count; i++) this.prefix[this.prefixBytes++] = chunk[at + i]!
    return count
  }

  private judge(): number {
    const size = this.prefix.readInt32BE(0)
    if (size >= this.minBytes && size <= this.maxBytes) return size
    const cause = likelyCause(this.prefix)
    const told = cause === null ? '' : `; this looks like ${cause}`
    throw malformed(
      `a frame of ${size} bytes, where ${this.minBytes} to ${this.maxBytes} are allowed${told}`,
    )
  }

  private fill(frame: Buffer, chunk: Uint8Array, at: number): number {
    const count = Math.min(this.frameSize - this.frameBytes, chunk.length - at)
    const needed = this.frameBytes + count
    if (needed > frame.length) {
      const grown = Math.max(needed, frame.length * GROWTH)
      this.frame = Buffer.allocUnsafeSlow(Math.min(grown, this.frameSize))
      frame.copy(this.frame, 0, 0, this.frameBytes)
      frame = this.frame
    }
    frame.set(chunk.subarray(at, at + count), this.frameBytes)
    this.frameBytes = needed
    return count
  }

  private reset(): void {
    this.frame = null
    this.frameBytes = 0
    this.frameSize = 0
    this.prefixBytes = 0
  }
}

const HTTP_STARTS = new Set([
  'GET ',
  'POST',
  'PUT ',
  'HEAD',
  'HTTP',
  'OPTI',
  'DELE',
  'CONN',
  'PRI ',
])

/** Who may have sent a length that makes no sense, or null. */
function likelyCause(prefix: Buffer): string | null {
  if (HTTP_STARTS.has(prefix.toString('latin1'))) return 'an HTTP client'
  if (prefix[1] !== 0x03) return null
  if (prefix[0] === 0x16) return 'a TLS client'
  return prefix[0] === 0x15 ? 'a TLS alert' : null
}

export function requestHeaderVersion(api: AnyApi, version: number): 0 | 1 | 2 {
  if (api.key === CONTROLLED_SHUTDOWN && version === 0) return 0
  return api.request.isFlexible(version) ? 2 : 1
}

export function responseHeaderVersion(api: AnyApi, version: number): 0 | 1 {
  return api.key !== API_VERSIONS && api.response.isFlexible(version) ? 1 : 0
}

/** What the header of a request says. */
export interface RequestHeader {
  readonly apiKey: number
  readonly apiVersion: number
  readonly correlationId: number
  /** Null also where the header could not be read so far: see `api`. */
  readonly clientId: string | null
  /**
   * The API, where key and version are both known; else null, and nothing behind the correlation id
   * was read.
   */
  readonly api: AnyApi | null
  /** Stands at the start of the message: `api.request.read(reader, apiVersion)`. */
  readonly reader: Reader
}

/** Reads the header of a request. `find` gives the table of an API. Errors: MALFORMED_FRAME. */
export function readRequestHeader(
  frame: Uint8Array,
  find: (apiKey: number) => AnyApi | undefined,
): RequestHeader {
  const reader = new Reader(frame)
  const apiKey = reader.int16()
  const apiVersion = reader.int16()
  const correlationId = reader.int32()
  const found = find(apiKey)
  const [min, max] = found?.versions ?? [0, -1]
  const api = found !== undefined && apiVersion >= min && apiVersion <= max ? found : null
  let clientId: string | null = null
  if (api !== null) {
    const headerVersion = requestHeaderVersion(api, apiVersion)
    if (headerVersion > 0) clientId = readClientId(reader)
    if (headerVersion > 1) skipTags(reader)
  }
  return { apiKey, apiVersion, correlationId, clientId, api, reader }
}

function readClientId(reader: Reader): string | null {
  const length = reader.int16()
  return length < 0 ? null : reader.utf8(length)
}

function skipTags(reader: Reader): void {
  for (let count = reader.uvarint(); count > 0; count--) {
    reader.uvarint()
    reader.skip(reader.uvarint())
  }
}

/** A frame that is ready to go out. */
export interface EncodedFrame {
  readonly parts: Part[]
  /** All of it, the length in front included. */
  readonly sizeBytes: number
}

/** A whole request. Errors: BAD_ARGUMENT, UNSUPPORTED_VERSION, TOO_LARGE. */
export function encodeRequest<Q, QI, S, SI>(
  api: Api<Q, QI, S, SI>,
  version: number,
  correlationId: number,
  clientId: string | null,
  body: QI,
): EncodedFrame {
  const writer = new Writer()
  writer.beginFrame()
  writer.int16(api.key)
  writer.int16(version)
  writer.int32(correlationId)
  const headerVersion = requestHeaderVersion(api, version)
  if (headerVersion > 0) {
    if (clientId === null) writer.int16(-1)
    else writer.string(clientId, false)
  }
  if (headerVersion > 1) writer.uvarint(0)
  api.request.write(writer, version, body)
  return { parts: writer.finishFrame(), sizeBytes: writer.sizeBytes }
}

/** A whole response. Errors: BAD_ARGUMENT, UNSUPPORTED_VERSION, TOO_LARGE. */
export function encodeResponse<Q, QI, S, SI>(
  api: Api<Q, QI, S, SI>,
  version: number,
  correlationId: number,
  body: SI,
): EncodedFrame {
  const writer = new Writer()
  writer.beginFrame()
  writer.int32(correlationId)
  if (responseHeaderVersion(api, version) > 0) writer.uvarint(0)
  api.response.write(writer, version, body)
  return { parts: writer.finishFrame(), sizeBytes: writer.sizeBytes }
}

/**
 * The correlation id of a response, before it is known what it answers. Errors: MALFORMED_FRAME.
 */
export function readCorrelationId(frame: Uint8Array): number {
  return new Reader(frame).int32()
}

/**
 * Reads a whole response, its frame without the length. Errors: MALFORMED_FRAME,
 * UNSUPPORTED_VERSION.
 */
export function decodeResponse<Q, QI, S, SI>(
  api: Api<Q, QI, S, SI>,
  version: number,
  frame: Uint8Array,
): { correlationId: number; body: S } {
  const reader = new Reader(frame)
  const correlationId = reader.int32()
  if (responseHeaderVersion(api, version) > 0) skipTags(reader)
  return { correlationId, body: api.response.read(reader, version) }
}
