/**
 * The header checksum of lz4 frames in messages of magic 0. Kafka up to 0.9 computed it over the
 * frame's magic number as well, which the format leaves out; readers of that time insist on the
 * wrong value, and later ones take either (KIP-57). Both turn the one into the other.
 *
 * The checksum is the second byte of xxHash32 (seed 0) of the descriptor, and stands behind it.
 */
import { SeglogError } from '../errors.js'

const DESCRIPTOR_AT = 4
const CONTENT_SIZE = 0x08
const PRIMES = [0x9e3779b1, 0x85ebca77, 0xc2b2ae3d, 0x27d4eb2f, 0x165667b1] as const

function rotated(value: number, bits: number): number {
  return (value << bits) | (value >>> (32 - bits))
}

/** xxHash32 with seed 0. REQUIRES: fewer than 16 bytes, which spares its stripes. */
function shortHash(bytes: Buffer): number {
  let hash = (PRIMES[4] + bytes.length) | 0
  let at = 0
  for (; at + 4 <= bytes.length; at += 4) {
    hash = (hash + Math.imul(bytes.readUInt32LE(at), PRIMES[2])) | 0
    hash = Math.imul(rotated(hash, 17), PRIMES[3])
  }
  for (; at < bytes.length; at++) {
    hash = (hash + Math.imul(bytes.readUInt8(at), PRIMES[4])) | 0
    hash = Math.imul(rotated(hash, 11), PRIMES[0])
  }
  hash = Math.imul(hash ^ (hash >>> 15), PRIMES[1])
  hash = Math.imul(hash ^ (hash >>> 13), PRIMES[2])
  return (hash ^ (hash >>> 16)) >>> 0
}

/** A copy of the frame with the checksum of the bytes from `from` up to it. */
function withChecksum(frame: Uint8Array, from: number): Buffer {
  const copy = Buffer.from(frame)
  const flags = copy[DESCRIPTOR_AT] ?? 0
  const checksumAt = DESCRIPTOR_AT + ((flags & CONTENT_SIZE) !== 0 ? 10 : 2)
  if (checksumAt >= copy.length) {
    throw new SeglogError('CORRUPT', 'compression: lz4: the frame ends in its header')
  }
  copy[checksumAt] = (shortHash(copy.subarray(from, checksumAt)) >>> 8) & 0xff
  return copy
}

/** The frame as the format has it. Errors: CORRUPT where it ends in its header. */
export function rightChecksum(frame: Uint8Array): Uint8Array {
  return withChecksum(frame, DESCRIPTOR_AT)
}

/** The frame as Kafka up to 0.9 has it. */
export function oldChecksum(frame: Uint8Array): Uint8Array {
  return withChecksum(frame, 0)
}
