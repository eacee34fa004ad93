/**
 * Requests of the Kafka protocol written by hand, and a socket to send them on, so that what the
 * broker does with a connection is judged without any client's or seglog's own code. Only what the
 * tests need: a few APIs in one non-flexible version each.
 */
import { connect, type Socket } from 'node:net'
import { until } from './harness.js'

export const Api = {
  PRODUCE: 0,
  FETCH: 1,
  METADATA: 3,
  FIND_COORDINATOR: 10,
  API_VERSIONS: 18,
  CREATE_TOPICS: 19,
} as const

const int8 = (value: number) => Buffer.from([value & 0xff])
const int16 = (value: number) => {
  const bytes = Buffer.alloc(2)
  bytes.writeInt16BE(value)
  return bytes
}
const int32 = (value: number) => {
  const bytes = Buffer.alloc(4)
  bytes.writeInt32BE(value)
  return bytes
}
const int64 = (value: number) => {
  const bytes = Buffer.alloc(8)
  bytes.writeBigInt64BE(BigInt(value))
  return bytes
}
const string = (text: string) => Buffer.concat([int16(Buffer.byteLength(text)), Buffer.from(text)])
const array = (items: readonly Buffer[]) => Buffer.concat([int32(items.length), ...items])
const blob = (bytes: Buffer) => Buffer.concat([int32(bytes.length), bytes])

/** A frame with a request header of version 1, whose client id is 'test'. */
export function request(api: number, version: number, id: number, body: Buffer): Buffer {
  return blob(Buffer.concat([int16(api), int16(version), int32(id), string('test'), body]))
}

function crc32c(bytes: Buffer): number {
  let crc = 0xffffffff
  for (const byte of bytes) {
    crc ^= byte
    for (let bit = 0; bit < 8; bit += 1) crc = (crc >>> 1) ^ (crc & 1 ? 0x82f63b78 : 0)
  }
  return (crc ^ 0xffffffff) >>> 0
}

/** A batch of magic 2 with one record without key or headers. The value has at most 50 bytes. */
function batch(value: string): Buffer {
  const text = Buffer.from(value)
  const varint = (number: number) => int8(number * 2)
  const fields = [int8(0), varint(0), varint(0), int8(1), varint(text.length), text, varint(0)]
  const record = Buffer.concat(fields)
  const now = int64(Date.now())
  const covered = Buffer.concat([
    ...[int16(0), int32(0), now, now, int64(-1), int16(-1), int32(-1), int32(1)],
    ...[varint(record.length), record],
  ])
  const crc = Buffer.alloc(4)
  crc.writeUInt32BE(crc32c(covered))
  return Buffer.concat([int64(0), int32(9 + covered.length), int32(-1), int8(2), crc, covered])
}

export const requests = {
  /** In version 3 the body names the client's software, as KIP-511 asks. */
  apiVersions(id: number, version = 0, software?: string): Buffer {
    if (software === undefined) return request(Api.API_VERSIONS, version, id, Buffer.alloc(0))
    const compact = (text: string) => Buffer.concat([int8(text.length + 1), Buffer.from(text)])
    const body = Buffer.concat([int8(0), compact(software), compact('1.0'), int8(0)])
    return request(Api.API_VERSIONS, version, id, body)
  },
  metadata(id: number, topics: readonly string[]): Buffer {
    return request(Api.METADATA, 1, id, array(topics.map(string)))
  },
  findCoordinator(id: number, group: string): Buffer {
    return request(Api.FIND_COORDINATOR, 0, id, string(group))
  },
  createTopic(id: number, topic: string): Buffer {
    const asked = [string(topic), int32(1), int16(1), array([]), array([])]
    const body = [array([Buffer.concat(asked)]), int32(5000), int8(0)]
    return request(Api.CREATE_TOPICS, 2, id, Buffer.concat(body))
  },
  produce(id: number, topic: string, acks: number, value = 'x', partition = 0): Buffer {
    const part = Buffer.concat([int32(partition), blob(batch(value))])
    const data = array([Buffer.concat([string(topic), array([part])])])
    return request(Api.PRODUCE, 3, id, Buffer.concat([int16(-1), int16(acks), int32(5000), data]))
  },
  fetch(id: number, topic: string, offset: number, maxWaitMs: number, minBytes = 1): Buffer {
    const part = Buffer.concat([int32(0), int64(offset), int32(1 << 20)])
    const data = array([Buffer.concat([string(topic), array([part])])])
    const head = [int32(-1), int32(maxWaitMs), int32(minBytes), int32(1 << 20), int8(0)]
    return request(Api.FETCH, 4, id, Buffer.concat([...head, data]))
  },
}

/** A connection that tells what came back and when it ended. */
export class Wire {
  readonly #socket: Socket
  #received: Buffer = Buffer.alloc(0)
  #closed = false

  private constructor(socket: Socket) {
    this.#socket = socket
    socket.setNoDelay(true)
    socket.on('data', (bytes) => {
      this.#received = Buffer.concat([this.#received, bytes])
    })
    // The end of the other side is what tests wait for; a reset is an end as well.
    socket.on('error', () => {})
    socket.on('close', () => {
      this.#closed = true
    })
  }

  static open(port: number): Promise<Wire> {
    return new Promise((resolve, reject) => {
      const socket = connect({ host: '127.0.0.1', port })
      socket.once('error', reject)
      socket.once('connect', () => {
        socket.off('error', reject)
        resolve(new Wire(socket))
      })
    })
  }

  get closed(): boolean {
    return this.#closed
  }

  send(...frames: Buffer[]): void {
    this.#socket.write(Buffer.concat(frames))
  }

  /** The next whole response without its length: correlation id first. */
  async receive(timeoutMs = 5_000): Promise<Buffer> {
    const whole = () =>
      this.#received.length >= 4 && this.#received.length >= 4 + this.#received.readInt32BE(0)
    await until('response', () => whole() || this.#closed, timeoutMs)
    if (!whole()) throw new Error('the connection was closed before a response came')
    const end = 4 + this.#received.readInt32BE(0)
    const frame = this.#received.subarray(4, end)
    this.#received = this.#received.subarray(end)
    return frame
  }

  /** Sends one request and resolves with the body of its response. */
  async ask(frame: Buffer, timeoutMs = 5_000): Promise<Buffer> {
    this.send(frame)
    return (await this.receive(timeoutMs)).subarray(4)
  }

  /** Bytes that came and were not taken by `receive`. */
  get pendingBytes(): number {
    return this.#received.length
  }

  async untilClosed(timeoutMs: number): Promise<void> {
    await until('end of the connection', () => this.#closed, timeoutMs)
  }

  destroy(): void {
    this.#socket.destroy()
  }
}

/**
 * The error code in the response body of a `createTopic`, a `produce` and a `fetch` of one
 * partition.
 */
export const errorOf = {
  createTopic: (body: Buffer, topic: string) =>
    body.readInt16BE(4 + 4 + 2 + Buffer.byteLength(topic)),
  produce: (body: Buffer, topic: string) =>
    body.readInt16BE(4 + 2 + Buffer.byteLength(topic) + 4 + 4),
  fetch: (body: Buffer, topic: string) =>
    body.readInt16BE(4 + 4 + 2 + Buffer.byteLength(topic) + 4 + 4),
}
