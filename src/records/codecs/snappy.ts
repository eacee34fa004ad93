/**
 * snappy, whose blocks the package `snappy` packs and unpacks. Two forms are read, told apart by
 * the first bytes: a raw block, as librdkafka and others write it; and blocks in the stream form
 * of xerial's snappy-java, as Java clients write it and as it is written here:
 *
 *   82 'SNAPPY' 00 · version 4 · lowest compatible version 4 · { length 4 · block }, big-endian
 *
 * A raw block begins with its decompressed length as a varint. That is checked against the bound,
 * and against what the bytes behind it could hold at most, before the package allocates it.
 */
import type { Codec } from '../compression.js'
import { corrupt, loadPackage, tooLarge } from './packages.js'

interface SnappyPackage {
  compressSync(bytes: Uint8Array, options: { copyOutputData: boolean }): Buffer
  uncompressSync(bytes: Uint8Array, options: { copyOutputData: boolean }): Buffer
}

/** Output in memory of the engine. The package's own would wait for a turn of the event loop. */
const OPTIONS = { copyOutputData: true }

const XERIAL_MAGIC = Buffer.from([0x82, 0x53, 0x4e, 0x41, 0x50, 0x50, 0x59, 0x00])
const XERIAL_HEADER_BYTES = 16
/** As snappy-java cuts its input. */
const BLOCK_BYTES = 32 * 1024
/** A copy of 64 bytes takes three: no block holds more than this per byte. */
const RATIO_MAX = 64 / 3

let loaded: SnappyPackage | undefined

function load(): SnappyPackage {
  loaded ??= loadPackage('snappy', 'snappy') as SnappyPackage
  return loaded
}

/** The decompressed length that a raw block claims. */
function claimedLength(block: Uint8Array): number {
  let length = 0
  for (let at = 0; at < 5; at++) {
    const byte = block[at]
    if (byte === undefined) break
    length += (byte & 0x7f) * 128 ** at
    if (byte < 0x80) return length
  }
  throw corrupt('snappy', 'a block without a length')
}

function unpack(block: Uint8Array, length: number): Uint8Array {
  try {
    return load().uncompressSync(block, OPTIONS)
  } catch (cause) {
    throw corrupt('snappy', `a block of ${length} bytes does not unpack`, cause)
  }
}

function checkedLength(block: Uint8Array, left: number, maxOutputBytes: number): number {
  const length = claimedLength(block)
  if (length > block.length * RATIO_MAX) throw corrupt('snappy', 'a block with a false length')
  if (length > left) throw tooLarge('snappy', maxOutputBytes)
  return length
}

function isXerial(bytes: Buffer): boolean {
  return (
    bytes.length >= XERIAL_HEADER_BYTES &&
    bytes.subarray(0, XERIAL_MAGIC.length).equals(XERIAL_MAGIC)
  )
}

function decompressXerial(bytes: Buffer, maxOutputBytes: number): Uint8Array {
  const blocks: Uint8Array[] = []
  let total = 0
  let position = XERIAL_HEADER_BYTES
  while (position < bytes.length) {
    // Streams may be joined: a header may stand where a block could.
    if (isXerial(bytes.subarray(position))) {
      position += XERIAL_HEADER_BYTES
      continue
    }
    if (bytes.length - position < 4) throw corrupt('snappy', 'the stream ends in a length')
    const size = bytes.readInt32BE(position)
    position += 4
    if (size < 1 || size > bytes.length - position)
      throw corrupt('snappy', `a block of ${size} bytes`)
    const block = bytes.subarray(position, position + size)
    const length = checkedLength(block, maxOutputBytes - total, maxOutputBytes)
    blocks.push(unpack(block, length))
    total += length
    position += size
  }
  return blocks.length === 1 ? (blocks[0] as Uint8Array) : Buffer.concat(blocks, total)
}

export const snappy: Codec = {
  id: 2,
  name: 'snappy',

  compress(bytes) {
    const header = Buffer.alloc(XERIAL_HEADER_BYTES)
    XERIAL_MAGIC.copy(header)
    header.writeInt32BE(1, 8)
    header.writeInt32BE(1, 12)
    const parts: Buffer[] = [header]
    for (let at = 0; at < bytes.length; at += BLOCK_BYTES) {
      const block = load().compressSync(bytes.subarray(at, at + BLOCK_BYTES), OPTIONS)
      const length = Buffer.allocUnsafe(4)
      length.writeInt32BE(block.length)
      parts.push(length, block)
    }
    return Buffer.concat(parts)
  },

  decompress(input, maxOutputBytes) {
    const bytes = Buffer.from(input.buffer, input.byteOffset, input.length)
    if (isXerial(bytes)) return decompressXerial(bytes, maxOutputBytes)
    return unpack(bytes, checkedLength(bytes, maxOutputBytes, maxOutputBytes))
  },
}
