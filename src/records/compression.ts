/**
 * The codecs of Kafka's record batches: names, ids, both directions, synchronous.
 *
 * Decompression never gives more than the caller's bound, and measures what it can before it
 * allocates. A codec's package is loaded when it is first used, so a broker, which never opens a
 * batch, does not pay for it: gzip is Node's zlib, snappy `snappy`, lz4 `lz4-napi`, zstd Node's
 * zlib from 22.15 on and `@foxglove/wasm-zstd` before. Packages are optional to install; see
 * docs/decisions/0004-codecs.md.
 *
 * Errors: UNSUPPORTED_COMPRESSION (no such codec, or its package is missing), TOO_LARGE (above
 * the bound), CORRUPT (bytes that the codec cannot read), BAD_ARGUMENT (a level out of range).
 */
import { SeglogError } from '../errors.js'
import { gzip } from './codecs/gzip.js'
import { lz4 } from './codecs/lz4.js'
import { snappy } from './codecs/snappy.js'
import { zstd } from './codecs/zstd.js'

export type CompressionName = 'none' | 'gzip' | 'snappy' | 'lz4' | 'zstd'

/**
 * Bound of a batch's records when decompressed, where a caller sets none: what is written here
 * keeps to it, so that it can be read back. A batch on the wire is bounded by `message.max.bytes`
 * (1 MiB unless configured), whose 32-fold this is.
 */
export const OUTPUT_BYTES_MAX_DEFAULT = 32 * 1024 * 1024

export interface Codec {
  /** In bits 0 to 2 of a batch's attributes. */
  readonly id: number
  readonly name: CompressionName
  /** Levels: gzip 1 to 9 or -1, zstd -131072 to 22; snappy and lz4 have one, and take no notice. */
  compress(bytes: Uint8Array, level?: number): Uint8Array
  /**
   * At most `maxOutputBytes` of output. The result may share memory with `bytes` only where
   * nothing is done.
   */
  decompress(bytes: Uint8Array, maxOutputBytes: number): Uint8Array
}

const none: Codec = {
  id: 0,
  name: 'none',
  compress: (bytes) => bytes,
  decompress(bytes, maxOutputBytes) {
    if (bytes.length > maxOutputBytes) {
      throw new SeglogError('TOO_LARGE', `records of ${bytes.length} bytes`)
    }
    return bytes
  },
}

/** By id. */
export const codecs: readonly Codec[] = [none, gzip, snappy, lz4, zstd]

const byName = new Map<string, Codec>(codecs.map((codec) => [codec.name, codec]))

/** The codec of a name such as `compression.type` has. */
export function codecNamed(name: string): Codec {
  const codec = byName.get(name)
  if (codec === undefined) {
    throw new SeglogError('UNSUPPORTED_COMPRESSION', `compression: there is no codec "${name}"`)
  }
  return codec
}

/** The codec of an id, or undefined for 5 to 7, which no version of Kafka has. */
export function codecOf(id: number): Codec | undefined {
  return codecs[id]
}

/** The records of a batch as they were before compression. */
export function decompress(
  id: number,
  bytes: Uint8Array,
  maxOutputBytes = OUTPUT_BYTES_MAX_DEFAULT,
): Uint8Array {
  const codec = codecOf(id)
  if (codec === undefined) {
    throw new SeglogError('UNSUPPORTED_COMPRESSION', `compression: there is no codec ${id}`)
  }
  return codec.decompress(bytes, maxOutputBytes)
}
