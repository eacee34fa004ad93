/**
 * Changes to the bytes of a request: bits, bytes, numbers, counts, lengths, pieces that are left
 * out, put in, moved, taken from another request, an end that is missing. The length in front of
 * the result is right, unless it is what was changed.
 */
import type { Random } from '../protocol/random.js'

const LENGTH_BYTES = 4
/** Key, version and correlation id are changed less often than what follows them. */
const HEADER_BYTES = 8

const bytes = [0, 1, 2, 0x7f, 0x80, 0x81, 0xfe, 0xff]
const int16s = [0, 1, -1, 0x7fff, -0x8000, 255, 256]
const int32s = [0, 1, -1, 0x7fffffff, -0x80000000, 0xffff, 0x10000, 1_000_001, 100_000_000]
const int64s = [0n, -1n, 1n, 2n ** 63n - 1n, -(2n ** 63n), 2n ** 53n, 2n ** 32n]
const varints = ['00', '01', 'ffffffff07', 'ffffffff0f', 'ffffffffffffffffff01', '80808000']

type Mutation = (frame: Buffer, at: number, random: Random, other: Buffer) => Buffer

/** A place near `at` where four bytes could be a count or a length of what follows. */
function countNear(frame: Buffer, at: number): number {
  for (let place = at; place < Math.min(at + 12, frame.length - LENGTH_BYTES); place++) {
    const value = frame.readInt32BE(place)
    if (value > 0 && value <= frame.length - place) return place
  }
  return at
}

function written(frame: Buffer, at: number, sizeBytes: number, write: (to: Buffer) => void) {
  if (at + sizeBytes <= frame.length) write(frame)
  return frame
}

const spliced = (frame: Buffer, at: number, put: Uint8Array, leave = 0) =>
  Buffer.concat([frame.subarray(0, at), put, frame.subarray(Math.min(at + leave, frame.length))])

const mutations: readonly Mutation[] = [
  (frame, at, random) =>
    written(frame, at, 1, (to) => {
      to[at] = (to[at] ?? 0) ^ (1 << random.below(8))
    }),
  (frame, at, random) => written(frame, at, 1, (to) => to.writeUInt8(random.pick(bytes), at)),
  (frame, at, random) => written(frame, at, 2, (to) => to.writeInt16BE(random.pick(int16s), at)),
  (frame, at, random) => written(frame, at, 4, (to) => to.writeInt32BE(random.pick(int32s), at)),
  (frame, at, random) => {
    const place = countNear(frame, at)
    const near = frame.length - place - LENGTH_BYTES + random.below(3) - 1
    const value = random.chance(0.5) ? near : random.pick(int32s)
    return written(frame, place, 4, (to) => to.writeInt32BE(value, place))
  },
  (frame, at, random) => written(frame, at, 8, (to) => to.writeBigInt64BE(random.pick(int64s), at)),
  (frame, at, random) => spliced(frame, at, Buffer.from(random.pick(varints), 'hex'), 1),
  (frame, at, random) => spliced(frame, at, random.bytes(1 + random.below(9))),
  (frame, at, random) => spliced(frame, at, Buffer.alloc(0), 1 + random.below(9)),
  (frame, at) => frame.subarray(0, at),
  (frame, at, random) => {
    const from = HEADER_BYTES + random.below(Math.max(1, frame.length - HEADER_BYTES))
    return spliced(frame, at, frame.subarray(from, from + 1 + random.below(40)))
  },
  (frame, at, random, other) => {
    const from = Math.min(other.length, HEADER_BYTES + random.below(other.length))
    return Buffer.concat([frame.subarray(0, at), other.subarray(from)])
  },
]

/** A changed copy of a request, with its length in front as `frame` and `other` have it. */
export function mutatedFrame(frame: Buffer, other: Buffer, random: Random): Buffer {
  let body: Buffer = Buffer.from(frame.subarray(LENGTH_BYTES))
  const donor = other.subarray(LENGTH_BYTES)
  for (let left = 1 + random.below(3); left > 0 && body.length > 1; left--) {
    const from = random.chance(0.95) ? Math.min(HEADER_BYTES, body.length - 1) : 0
    const at = from + random.below(body.length - from)
    body = random.pick(mutations)(body, at, random, donor)
  }
  const length = Buffer.alloc(LENGTH_BYTES)
  length.writeInt32BE(body.length)
  return Buffer.concat([length, body])
}

/** The same bytes behind a length that is wrong. */
export function mislaid(frame: Buffer, random: Random): Buffer {
  const copy = Buffer.from(frame)
  const right = frame.length - LENGTH_BYTES
  const near = [right - 1, right + 1, right + 9, right * 2]
  copy.writeInt32BE(random.pick([...near, ...near, 0, 7, 8, -1, 0x7fffffff, 104_857_601]))
  return copy
}
