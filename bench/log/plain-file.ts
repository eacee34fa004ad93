/**
 * One file and Node's own fs: a length before each value, no checksum, no index, no recovery. What
 * one would write in an afternoon, and the bar for reading.
 */
import { closeSync, fdatasyncSync, openSync, readSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { CHUNK_BYTES, type StoreKind, type Visit } from './store.js'

const LENGTH_BYTES = 4

/** Frames all values into one buffer, which grows and is used again. */
class Framer {
  bytes = Buffer.allocUnsafe(CHUNK_BYTES)

  /** Returns the length of the frames. */
  frame(values: readonly Buffer[]): number {
    let needed = 0
    for (const value of values) needed += LENGTH_BYTES + value.length
    if (needed > this.bytes.length) this.bytes = Buffer.allocUnsafe(needed)
    let position = 0
    for (const value of values) {
      position = this.bytes.writeUInt32LE(value.length, position)
      this.bytes.set(value, position)
      position += value.length
    }
    return needed
  }
}

function readAll(file: number, visit: Visit): void {
  let position = 0
  for (;;) {
    // A new buffer each time: whoever keeps a value keeps its bytes.
    const chunk = Buffer.allocUnsafeSlow(CHUNK_BYTES)
    const count = readSync(file, chunk, 0, chunk.length, position)
    let at = 0
    while (count - at >= LENGTH_BYTES) {
      const end = at + LENGTH_BYTES + chunk.readUInt32LE(at)
      if (end > count) break
      if (!visit(chunk.subarray(at + LENGTH_BYTES, end))) return
      at = end
    }
    if (at === 0) return
    position += at
  }
}

export const plainFile: StoreKind = {
  name: 'plain fs',
  note:
    'a length before each value, framed in JavaScript, one fs.writeSync a call; durable: ' +
    'fdatasyncSync after it; read by 1 MiB; no checksum, no index, no recovery',
  open(directory) {
    const file = openSync(join(directory, 'records'), 'a+')
    const framer = new Framer()
    const append = (values: readonly Buffer[]): undefined => {
      const length = framer.frame(values)
      writeSync(file, framer.bytes, 0, length)
    }
    return {
      append,
      appendDurable(values) {
        append(values)
        fdatasyncSync(file)
      },
      read: (visit) => readAll(file, visit),
      close: () => closeSync(file),
    }
  },
}
