/**
 * lz4 in the frame format, version 1.6, as Kafka has it for magic 2: independent blocks, a right
 * header checksum (older magics have a wrong one by custom). The package `lz4-napi` makes and
 * opens frames and checks checksums, but takes no bound: so the blocks are walked first, and what
 * they may become at most is added up.
 *
 *   magic 4 · FLG 1 · BD 1 · [content size 8] · header checksum 1 ·
 *   { block size 4 · block · [checksum 4] } · end mark 4 of zeros · [content checksum 4]
 *
 * in little-endian; the top bit of a block size marks a stored block.
 *
 * Only where that sum passes the bound are the sequences of the blocks measured, which is exact
 * and slower. The package's output is freed in a later turn of the event loop than the one in which
 * it is let go: who opens very many batches should let the loop turn.
 */
import type { Codec } from '../compression.js'
import { corrupt, loadPackage, tooLarge } from './packages.js'

interface Lz4Package {
  compressFrameSync(bytes: Buffer): Buffer
  decompressFrameSync(bytes: Buffer): Buffer
}

const FRAME_MAGIC = 0x184d2204
const STORED = 0x80000000
/** Bits of FLG. */
const BLOCK_CHECKSUM = 0x10
const CONTENT_SIZE = 0x08
const CONTENT_CHECKSUM = 0x04
const DICTIONARY = 0x01
/** One byte of a match length stands for at most this many. */
const RATIO_MAX = 255

let loaded: Lz4Package | undefined

function load(): Lz4Package {
  loaded ??= loadPackage('lz4-napi', 'lz4') as Lz4Package
  return loaded
}

interface Frame {
  blockBytesMax: number
  blockChecksumBytes: number
  trailerBytes: number
  firstBlock: number
}

function parseFrame(bytes: Buffer, maxOutputBytes: number): Frame {
  if (bytes.length < 7 || bytes.readUInt32LE(0) !== FRAME_MAGIC) {
    throw corrupt('lz4', 'not a frame')
  }
  const flags = bytes.readUInt8(4)
  const code = (bytes.readUInt8(5) >> 4) & 7
  if (flags >> 6 !== 1 || code < 4) throw corrupt('lz4', 'a frame of another version')
  if ((flags & DICTIONARY) !== 0) throw corrupt('lz4', 'a frame that needs a dictionary')
  let firstBlock = 7
  if ((flags & CONTENT_SIZE) !== 0) {
    firstBlock = 15
    if (bytes.length < firstBlock) throw corrupt('lz4', 'the frame ends in its header')
    if (bytes.readBigUInt64LE(6) > BigInt(maxOutputBytes)) throw tooLarge('lz4', maxOutputBytes)
  }
  return {
    blockBytesMax: 1 << (8 + 2 * code),
    blockChecksumBytes: (flags & BLOCK_CHECKSUM) !== 0 ? 4 : 0,
    trailerBytes: (flags & CONTENT_CHECKSUM) !== 0 ? 4 : 0,
    firstBlock,
  }
}

/**
 * Adds up what `measure` gives for each block. The frame must be whole and the bytes must end
 * with it.
 */
function sumBlocks(
  bytes: Buffer,
  frame: Frame,
  measure: (start: number, end: number, stored: boolean) => number,
): number {
  let position = frame.firstBlock
  let total = 0
  for (;;) {
    if (bytes.length - position < 4) throw corrupt('lz4', 'the frame has no end')
    const field = bytes.readUInt32LE(position)
    position += 4
    if (field === 0) break
    const size = field & 0x7fffffff
    if (size > frame.blockBytesMax || size + frame.blockChecksumBytes > bytes.length - position) {
      throw corrupt('lz4', `a block of ${size} bytes`)
    }
    total += measure(position, position + size, field >= STORED)
    position += size + frame.blockChecksumBytes
  }
  if (bytes.length - position < frame.trailerBytes) throw corrupt('lz4', 'the frame has no end')
  return total
}

/**
 * Decompressed length of one block by its sequences: literals, then a match of four bytes or
 * more.
 */
function measureBlock(bytes: Buffer, start: number, end: number): number {
  let position = start
  let total = 0
  const extended = (length: number): number => {
    for (let byte = 255; byte === 255 && position < end; ) {
      byte = bytes[position++] as number
      length += byte
    }
    return length
  }
  while (position < end) {
    const token = bytes[position++] as number
    const literals = token >> 4 === 15 ? extended(15) : token >> 4
    position += literals
    total += literals
    if (position >= end) break
    position += 2
    total += 4 + ((token & 15) === 15 ? extended(15) : token & 15)
  }
  return total
}

function checkOutput(bytes: Buffer, maxOutputBytes: number): void {
  const frame = parseFrame(bytes, maxOutputBytes)
  const bound = sumBlocks(bytes, frame, (start, end, stored) =>
    stored ? end - start : Math.min(frame.blockBytesMax, (end - start) * RATIO_MAX),
  )
  if (bound <= maxOutputBytes) return
  const exact = sumBlocks(bytes, frame, (start, end, stored) =>
    stored ? end - start : measureBlock(bytes, start, end),
  )
  if (exact > maxOutputBytes) throw tooLarge('lz4', maxOutputBytes)
}

const bufferOf = (bytes: Uint8Array) => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)

export const lz4: Codec = {
  id: 3,
  name: 'lz4',

  compress: (bytes) => load().compressFrameSync(bufferOf(bytes)),

  decompress(input, maxOutputBytes) {
    const bytes = bufferOf(input)
    checkOutput(bytes, maxOutputBytes)
    const { decompressFrameSync } = load()
    try {
      return decompressFrameSync(bytes)
    } catch (cause) {
      throw corrupt('lz4', 'a frame does not unpack', cause)
    }
  },
}
