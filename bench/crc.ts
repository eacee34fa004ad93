/**
 * How fast are the checksums of the addon, called from JavaScript? Against the npm package crc-32,
 * which is plain JavaScript, and against zlib of Node. One operation sums one message, which is hot
 * in the cache.
 */
import { createRequire } from 'node:module'
import * as zlib from 'node:zlib'
import { native } from '../src/native.js'
import { type Contestant, type MicroSuite, microSuite } from './micro.js'

type Sum = (bytes: Uint8Array) => number

const require = createRequire(import.meta.url)

/** Takes every result, so that no compiler may drop the work. */
const sink = new Uint32Array(1)

function contestant(name: string, note: string, load: () => Sum | undefined): Contestant {
  return {
    name,
    note,
    missing: () => (load() ? undefined : `Node ${process.version} has no zlib.crc32`),
    prepare(size) {
      const sum = load()
      if (!sum) throw new Error(`${name} is missing`)
      const message = Buffer.alloc(size, 'the quick brown fox jumps over the lazy dog ')
      return {
        operations: 1,
        bytes: size,
        deferred: false,
        run: () => {
          sink[0] = sum(message)
        },
      }
    },
  }
}

function packaged(module: string): Sum {
  const { buf } = require(module) as { buf: Sum }
  return buf
}

function ofZlib(): Sum | undefined {
  return 'crc32' in zlib ? (zlib.crc32 as Sum) : undefined
}

export const crcSuite: MicroSuite = {
  name: 'crc',
  question: 'how fast are the checksums, called from JavaScript?',
  sizes: [100, 1 << 10, 16 << 10, 1 << 20],
  contestants: [
    contestant('addon crc32c', 'native.crc32c on a Buffer', () => (bytes) => {
      return native.crc32c(bytes, 0, bytes.length, 0)
    }),
    contestant('npm crc-32 crc32c', 'CRC-32C of the package crc-32, plain JavaScript', () =>
      packaged('crc-32/crc32c.js'),
    ),
    contestant('addon crc32', 'native.crc32 on a Buffer', () => (bytes) => {
      return native.crc32(bytes, 0, bytes.length, 0)
    }),
    contestant('npm crc-32 crc32', 'CRC-32 of the package crc-32, plain JavaScript', () =>
      packaged('crc-32'),
    ),
    contestant('zlib.crc32', 'CRC-32 of the zlib that Node carries', ofZlib),
  ],
  comparisons: [
    { candidate: 'addon crc32c', baseline: 'npm crc-32 crc32c' },
    { candidate: 'addon crc32', baseline: 'npm crc-32 crc32' },
    { candidate: 'addon crc32', baseline: 'zlib.crc32' },
  ],
  context: () => [`path of the addon: ${native.crcPath}`],
}

export const crc = microSuite(crcSuite)
