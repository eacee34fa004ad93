/**
 * gzip by Node's zlib (RFC 1952). The bound is zlib's own `maxOutputLength`, which stops within
 * the chunk that passes it.
 */
import { constants, gunzipSync, gzipSync } from 'node:zlib'
import type { Codec } from '../compression.js'
import { checkLevel, corrupt, tooLarge } from './packages.js'

const CHUNK_BYTES_MIN = 1024
const CHUNK_BYTES_MAX = 1024 * 1024

export const gzip: Codec = {
  id: 1,
  name: 'gzip',

  compress(bytes, level = constants.Z_DEFAULT_COMPRESSION) {
    if (level !== constants.Z_DEFAULT_COMPRESSION) checkLevel('gzip', level, 1, 9)
    return gzipSync(bytes, { level })
  },

  decompress(bytes, maxOutputBytes) {
    if (maxOutputBytes < 1) throw tooLarge('gzip', maxOutputBytes)
    // Large chunks spare zlib's synchronous form a list of small ones that it joins at the end.
    const chunkSize = Math.min(Math.max(bytes.length * 4, CHUNK_BYTES_MIN), CHUNK_BYTES_MAX)
    try {
      return gunzipSync(bytes, { maxOutputLength: maxOutputBytes, chunkSize })
    } catch (cause) {
      const { code } = cause as { code?: string }
      if (code === 'ERR_BUFFER_TOO_LARGE') throw tooLarge('gzip', maxOutputBytes)
      throw corrupt('gzip', 'not a whole gzip stream', cause)
    }
  },
}
