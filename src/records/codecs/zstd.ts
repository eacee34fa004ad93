/**
 * zstd (RFC 8878): by Node's zlib where it has it (22.15 and later), else by the WebAssembly of
 * `@foxglove/wasm-zstd`.
 *
 * Frames are walked before they are opened: the content size, where a frame states it, and the
 * number of its blocks bound what it can become, so that the room is known and a bomb costs
 * nothing.
 *
 * The package's own entry point starts asynchronously and asks for the output size without a way
 * to tell corrupt from too small, so its module is started here, synchronously, with its own
 * loader; the version is pinned for that. Its memory grows and never shrinks: an instance that
 * has grown large is let go.
 */
import { readFileSync } from 'node:fs'
import * as zlib from 'node:zlib'
import type { Codec } from '../compression.js'
import { checkLevel, corrupt, loadPackage, packageFile, tooLarge } from './packages.js'

const FRAME_MAGIC = 0xfd2fb528
const SKIPPABLE_MAGIC = 0x184d2a5
const BLOCK_BYTES_MAX = 128 * 1024
const LEVEL_DEFAULT = 3
const PACKAGE = '@foxglove/wasm-zstd'
/** An instance with more memory than this is not kept for the next call. */
const RETAINED_BYTES_MAX = 16 * 1024 * 1024

/** Synchronous functions that zlib of Node 20 lacks. */
interface ZlibWithZstd {
  zstdCompressSync?(bytes: Uint8Array, options: { params: Record<number, number> }): Buffer
  zstdDecompressSync?(bytes: Uint8Array, options: { maxOutputLength: number }): Buffer
  constants: { ZSTD_c_compressionLevel?: number }
}

/**
 * What the loader of the package puts on the object that it is given. Pointers are numbers; 0 is
 * out of memory.
 */
interface Wasm {
  HEAPU8: Uint8Array
  _malloc(size: number): number
  _free(pointer: number): void
  _compressBound(size: number): number
  _compress(target: number, room: number, source: number, size: number, level: number): number
  _decompress(target: number, room: number, source: number, size: number): number
}

/** The part of WebAssembly that is used; the types of Node 20 have none of it. */
interface WasmInstance {
  exports: object
}
interface WasmEngine {
  Module: new (bytes: Uint8Array) => object
  Instance: new (module: object, imports: object) => WasmInstance
}
const engine = (globalThis as unknown as { WebAssembly: WasmEngine }).WebAssembly

let compiled: object | undefined
let running: Wasm | undefined

function start(): Wasm {
  if (running !== undefined) return running
  const loader = loadPackage(PACKAGE, 'zstd', `${PACKAGE}/dist/wasm-zstd.js`) as (
    module: object,
  ) => Promise<unknown>
  const file = packageFile(PACKAGE, 'zstd', `${PACKAGE}/dist/wasm-zstd.wasm`)
  compiled ??= new engine.Module(readFileSync(file))
  const code = compiled
  const module = {
    instantiateWasm(imports: object, receive: (instance: WasmInstance) => void) {
      const instance = new engine.Instance(code, imports)
      receive(instance)
      return instance.exports
    },
  }
  loader(module).catch(() => {})
  running = module as unknown as Wasm
  return running
}

/**
 * Runs `act` with the input in the module's memory and `room` bytes for the output, and copies
 * the output out.
 */
function within(
  input: Uint8Array,
  room: number,
  act: (wasm: Wasm, target: number, source: number) => number,
): Buffer | undefined {
  const wasm = start()
  try {
    const source = wasm._malloc(Math.max(input.length, 1))
    const target = wasm._malloc(Math.max(room, 1))
    let output: Buffer | undefined
    if (source !== 0 && target !== 0) {
      wasm.HEAPU8.set(input, source)
      const size = act(wasm, target, source)
      if (size >= 0 && size <= room) {
        output = Buffer.from(wasm.HEAPU8.subarray(target, target + size))
      }
    }
    wasm._free(source)
    wasm._free(target)
    if (wasm.HEAPU8.length > RETAINED_BYTES_MAX) running = undefined
    return output
  } catch {
    // A trap leaves the module's memory in doubt.
    running = undefined
    return undefined
  }
}

/** What frames become, as far as it can be known without opening them. */
interface Bounds {
  least: number
  most: number
}

/** Adds the bounds of the frame at `at` and returns the position behind it. */
function measureFrame(bytes: Buffer, at: number, bounds: Bounds): number {
  const descriptor = bytes.readUInt8(at + 4)
  const single = (descriptor & 0x20) !== 0
  const dictionaryBytes = [0, 1, 2, 4][descriptor & 3] as number
  const sizeBytes = [single ? 1 : 0, 2, 4, 8][descriptor >> 6] as number
  let position = at + 5 + (single ? 0 : 1) + dictionaryBytes
  let content: number | undefined
  if (sizeBytes === 8) content = Number(bytes.readBigUInt64LE(position))
  else if (sizeBytes > 0) content = bytes.readUIntLE(position, sizeBytes)
  if (sizeBytes === 2 && content !== undefined) content += 256
  position += sizeBytes
  let least = 0
  let most = 0
  for (let last = false; !last; ) {
    const header = bytes.readUIntLE(position, 3)
    last = (header & 1) === 1
    const type = (header >> 1) & 3
    const size = header >> 3
    if (type === 3 || size > BLOCK_BYTES_MAX) throw corrupt('zstd', 'a block that cannot be')
    least += type === 2 ? 0 : size
    most += type === 2 ? BLOCK_BYTES_MAX : size
    position += 3 + (type === 1 ? 1 : size)
  }
  if ((descriptor & 4) !== 0) position += 4
  if (position > bytes.length) throw corrupt('zstd', 'a frame ends early')
  if (content !== undefined && (content < least || content > most)) {
    throw corrupt('zstd', 'a frame with a false content size')
  }
  bounds.least += content ?? least
  bounds.most += content ?? most
  return position
}

function measure(bytes: Buffer): Bounds {
  const bounds = { least: 0, most: 0 }
  try {
    for (let at = 0; at < bytes.length; ) {
      const magic = bytes.readUInt32LE(at)
      if (magic >>> 4 === SKIPPABLE_MAGIC) {
        at += 8 + bytes.readUInt32LE(at + 4)
      } else {
        if (magic !== FRAME_MAGIC) throw corrupt('zstd', 'not a frame')
        at = measureFrame(bytes, at, bounds)
      }
    }
  } catch (cause) {
    if (cause instanceof RangeError) throw corrupt('zstd', 'a frame ends early', cause)
    throw cause
  }
  return bounds
}

const builtin: ZlibWithZstd = zlib as unknown as ZlibWithZstd

function decompressBuiltin(bytes: Buffer, maxOutputBytes: number): Buffer | undefined {
  try {
    return builtin.zstdDecompressSync?.(bytes, { maxOutputLength: Math.max(maxOutputBytes, 1) })
  } catch (cause) {
    const { code } = cause as { code?: string }
    if (code === 'ERR_BUFFER_TOO_LARGE') throw tooLarge('zstd', maxOutputBytes)
    throw corrupt('zstd', 'a frame does not unpack', cause)
  }
}

export const zstd: Codec = {
  id: 4,
  name: 'zstd',

  compress(bytes, level = LEVEL_DEFAULT) {
    checkLevel('zstd', level, -131072, 22)
    const parameter = builtin.constants.ZSTD_c_compressionLevel
    if (builtin.zstdCompressSync !== undefined && parameter !== undefined) {
      return builtin.zstdCompressSync(bytes, { params: { [parameter]: level } })
    }
    const room = start()._compressBound(bytes.length)
    const output = within(bytes, room, (wasm, target, source) =>
      wasm._compress(target, room, source, bytes.length, level),
    )
    if (output === undefined) throw tooLarge('zstd', bytes.length)
    return output
  },

  decompress(input, maxOutputBytes) {
    const bytes = Buffer.from(input.buffer, input.byteOffset, input.length)
    const { least, most } = measure(bytes)
    if (least > maxOutputBytes) throw tooLarge('zstd', maxOutputBytes)
    // Without a content size, `most` is rounded up to whole blocks: the output may still fit.
    const room = Math.min(most, maxOutputBytes)
    if (builtin.zstdDecompressSync !== undefined) {
      return decompressBuiltin(bytes, room) ?? Buffer.alloc(0)
    }
    const output = within(bytes, room, (wasm, target, source) =>
      wasm._decompress(target, room, source, bytes.length),
    )
    if (output !== undefined) return output
    if (most > maxOutputBytes) throw tooLarge('zstd', maxOutputBytes)
    throw corrupt('zstd', 'a frame does not unpack')
  },
}
