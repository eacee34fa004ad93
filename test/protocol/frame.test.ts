/**
 * Frames come out of any cut of the stream; lengths that make no sense end it at once and cost
 * nothing.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { apiVersions } from '../../src/apis/api-versions.js'
import { fetch } from '../../src/apis/fetch.js'
import { metadata } from '../../src/apis/metadata.js'
import { produce } from '../../src/apis/produce.js'
import { apiByKey, apis } from '../../src/apis/registry.js'
import {
  decodeResponse,
  type EncodedFrame,
  encodeRequest,
  encodeResponse,
  FrameReader,
  RESPONSE_BYTES_MIN,
  readCorrelationId,
  readRequestHeader,
  requestHeaderVersion,
  responseHeaderVersion,
} from '../../src/protocol/frame.js'
import { isMalformed } from './malformed.js'
import { seeded } from './random.js'

const MAX_BYTES = 100 * 1024 * 1024

function frameOf(length: number, fill = 1): Buffer {
  const frame = Buffer.alloc(4 + length, fill)
  frame.writeInt32BE(length, 0)
  return frame
}

function bytesOf({ parts, sizeBytes }: EncodedFrame): Buffer {
  const bytes = Buffer.concat(parts.filter((part) => part instanceof Uint8Array))
  assert.equal(bytes.length, sizeBytes)
  assert.equal(bytes.readInt32BE(0), sizeBytes - 4)
  return bytes.subarray(4)
}

function collect(reader: FrameReader, chunks: Uint8Array[]): Uint8Array[] {
  return chunks.flatMap((chunk) => [...reader.push(chunk)])
}

test('frames come out whole wherever the stream is cut', () => {
  const sizes = [8, 9, 300, 70_000, 8, 300_000, 12]
  const stream = Buffer.concat(sizes.map((size, i) => frameOf(size, i + 1)))
  const random = seeded(1)
  for (const longest of [1, 3, 100, 65_536, stream.length]) {
    const reader = new FrameReader(MAX_BYTES)
    const frames: Uint8Array[] = []
    for (let at = 0; at < stream.length; ) {
      const end = at + 1 + (longest > 3 ? random.below(longest) : random.below(longest + 1))
      frames.push(...reader.push(stream.subarray(at, end)))
      at = Math.min(end, stream.length)
    }
    assert.deepEqual(
      frames.map((frame) => frame.length),
      sizes,
    )
    frames.forEach((frame, i) => {
      assert.ok(frame.every((byte) => byte === i + 1))
    })
    assert.equal(reader.pendingBytes, 0)
  }
})

test('a frame that lies whole in one chunk is a view of it', () => {
  const chunk = Buffer.concat([frameOf(10), frameOf(20)])
  const frames = collect(new FrameReader(MAX_BYTES), [chunk])
  assert.deepEqual(
    frames.map((frame) => frame.length),
    [10, 20],
  )
  for (const frame of frames) assert.equal(frame.buffer, chunk.buffer)
})

test('what is left of a chunk is copied, so that the chunk may be used again', () => {
  const frame = frameOf(100, 5)
  const chunk = Buffer.from(frame.subarray(0, 50))
  const reader = new FrameReader(MAX_BYTES)
  assert.equal(collect(reader, [chunk]).length, 0)
  chunk.fill(9)
  const [whole] = collect(reader, [frame.subarray(50)])
  assert.ok(whole?.every((byte) => byte === 5))
})

for (const [hex, cause] of [
  ['47455420', 'an HTTP client'],
  ['504f5354', 'an HTTP client'],
  ['48545450', 'an HTTP client'],
  ['16030100', 'a TLS client'],
  ['15030300', 'a TLS alert'],
] as const) {
  test(`a length of ${hex} is refused as ${cause}`, () => {
    assert.throws(
      () => collect(new FrameReader(MAX_BYTES), [Buffer.from(hex, 'hex')]),
      (error) => isMalformed(error) && String(error).includes(cause),
    )
  })
}

test('a length that is negative, too short or too long is refused', () => {
  for (const hex of ['7fffffff', 'ffffffff', '80000000', '00000000', '00000007', '06400001']) {
    const reader = new FrameReader(MAX_BYTES)
    assert.throws(() => collect(reader, [Buffer.from(hex, 'hex')]), isMalformed, hex)
  }
})

test('a length at its bounds is taken', () => {
  const reader = new FrameReader(100)
  assert.equal(collect(reader, [frameOf(8)])[0]?.length, 8)
  assert.equal(collect(reader, [frameOf(100)])[0]?.length, 100)
  assert.throws(() => collect(reader, [frameOf(101)]), isMalformed)
})

test('a client takes responses of four bytes', () => {
  const reader = new FrameReader(MAX_BYTES, RESPONSE_BYTES_MIN)
  assert.equal(collect(reader, [frameOf(4)])[0]?.length, 4)
})

test('frames in front of a bad length still come out', () => {
  const reader = new FrameReader(MAX_BYTES)
  const chunk = Buffer.concat([frameOf(10), Buffer.from('ffffffff', 'hex')])
  const frames: Uint8Array[] = []
  assert.throws(() => {
    for (const frame of reader.push(chunk)) frames.push(frame)
  }, isMalformed)
  assert.equal(frames.length, 1)
})

test('after a bad length the stream stays refused', () => {
  const reader = new FrameReader(MAX_BYTES)
  assert.throws(() => collect(reader, [Buffer.from('ffffffff', 'hex')]), isMalformed)
  assert.throws(() => collect(reader, [frameOf(10)]), isMalformed)
})

test('half a request and silence costs what came, not what was promised', () => {
  const before = process.memoryUsage().arrayBuffers
  const readers = Array.from({ length: 50 }, () => new FrameReader(MAX_BYTES))
  const start = frameOf(1000).subarray(0, 500)
  start.writeInt32BE(MAX_BYTES, 0)
  for (const reader of readers) collect(reader, [start])
  const grown = process.memoryUsage().arrayBuffers - before
  assert.ok(grown < 50 * 128 * 1024, `${grown} bytes for 50 frames of 100 MiB`)
  assert.ok(readers.every((reader) => reader.pendingBytes === 500))
})

test('a request with a flexible message has header 2, else 1', () => {
  assert.equal(requestHeaderVersion(fetch, 11), 1)
  assert.equal(requestHeaderVersion(fetch, 12), 2)
  assert.equal(requestHeaderVersion(apiVersions, 3), 2)
})

test('a response with a flexible message has header 1, except of ApiVersions', () => {
  assert.equal(responseHeaderVersion(fetch, 11), 0)
  assert.equal(responseHeaderVersion(fetch, 12), 1)
  assert.equal(responseHeaderVersion(apiVersions, 3), 0)
  assert.equal(responseHeaderVersion(apiVersions, 4), 0)
})

test('a flexible request begins as Kafka writes it', () => {
  const frame = encodeRequest(apiVersions, 3, 5, 'ab', {
    clientSoftwareName: 'x',
    clientSoftwareVersion: '1',
  })
  const bytes = Buffer.concat(frame.parts.filter((part) => part instanceof Uint8Array))
  // Length, key, version, correlation id, client id behind two bytes, no tags; the message.
  const expected = ['00000012', '0012', '0003', '00000005', '00026162', '00', '0278023100']
  assert.equal(bytes.toString('hex'), expected.join(''))
})

test('a client id may be null, empty or a name, in every version of every API', () => {
  for (const api of apis) {
    for (let version = api.versions[0]; version <= api.versions[1]; version++) {
      for (const clientId of [null, '', 'x', 'żółw']) {
        const frame = bytesOf(encodeRequest(api, version, 77, clientId, api.request.type.zero))
        const header = readRequestHeader(frame, apiByKey)
        assert.equal(header.clientId, clientId)
        assert.equal(header.correlationId, 77)
        assert.equal(header.api, api)
        assert.equal(header.apiVersion, version)
        assert.deepEqual(api.request.read(header.reader, version), api.request.type.zero)
        assert.equal(header.reader.remaining, 0)
      }
    }
  }
})

test('tags in the header of a request are passed over', () => {
  const header = Buffer.from(
    `0003000c00000001${'0001'}78${'02'}${'00'}03616263${'8001'}00${'00'}010000`,
    'hex',
  )
  const read = readRequestHeader(header, apiByKey)
  assert.equal(read.clientId, 'x')
  assert.equal(metadata.request.read(read.reader, 12).topics, null)
})

test('of an unknown key or version only the fixed start is read', () => {
  for (const hex of [
    '7fff000000000009',
    'ffff000000000009',
    '0012006300000009',
    '0012ffff00000009',
  ]) {
    const header = readRequestHeader(Buffer.from(hex, 'hex'), apiByKey)
    assert.equal(header.api, null, hex)
    assert.equal(header.correlationId, 9)
    assert.equal(header.clientId, null)
  }
})

test('a header that ends too soon is malformed', () => {
  const whole = bytesOf(
    encodeRequest(fetch, 12, 1, 'client', { maxWaitMs: 0, minBytes: 0, topics: [] }),
  )
  for (let length = 0; length < 17; length++) {
    assert.throws(() => readRequestHeader(whole.subarray(0, length), apiByKey), isMalformed)
  }
})

test('a response is read as it was written, in every version of every API', () => {
  for (const api of apis) {
    for (let version = api.versions[0]; version <= api.versions[1]; version++) {
      const frame = bytesOf(encodeResponse(api, version, -5, api.response.type.zero))
      assert.equal(readCorrelationId(frame), -5)
      const { correlationId, body } = decodeResponse(api, version, frame)
      assert.equal(correlationId, -5)
      assert.deepEqual(body, api.response.type.zero)
    }
  }
})

test('a slice in a response is counted in the frame and goes out between its bytes', () => {
  for (const version of [4, 11, 12, 18]) {
    const slice = { sizeBytes: 123_456 }
    const partition = { partitionIndex: 0, errorCode: 0, highWatermark: 9, records: slice }
    const { parts, sizeBytes } = encodeResponse(fetch, version, 1, {
      responses: [{ partitions: [partition, partition] }],
    })
    assert.equal(parts.filter((part) => part === slice).length, 2)
    const total = parts.reduce(
      (sum, part) => sum + (part instanceof Uint8Array ? part.length : part.sizeBytes),
      0,
    )
    assert.equal(total, sizeBytes)
    assert.ok(parts[0] instanceof Uint8Array)
    assert.equal(Buffer.from(parts[0]).readInt32BE(0), sizeBytes - 4)
  }
})

test('an endpoint of a leader is never sent to a version that lacks it', () => {
  const body = {
    responses: [],
    nodeEndpoints: [{ nodeId: 1, host: 'h', port: 1 }],
  }
  const without = { responses: [] }
  for (const version of [12, 15]) {
    assert.deepEqual(
      encodeResponse(fetch, version, 1, body),
      encodeResponse(fetch, version, 1, without),
    )
  }
  for (const version of [0, 9]) {
    assert.deepEqual(
      encodeResponse(produce, version, 1, body),
      encodeResponse(produce, version, 1, without),
    )
  }
  assert.notDeepEqual(encodeResponse(fetch, 16, 1, body), encodeResponse(fetch, 16, 1, without))
})
