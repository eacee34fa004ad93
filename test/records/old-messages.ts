/** Message sets for tests, laid out by hand, so that they do not depend on what is tested. */
import { crc32 } from './crc32-plain.js'

export interface PlainMessage {
  offset?: number
  key?: Buffer | string | null
  value?: Buffer | string | null
  /** In magic 1. */
  timestamp?: number
  attributes?: number
}

function field(value: Buffer | string | null | undefined): Buffer {
  const length = Buffer.alloc(4)
  if (value === null || value === undefined) {
    length.writeInt32BE(-1)
    return length
  }
  const bytes = Buffer.from(value)
  length.writeInt32BE(bytes.length)
  return Buffer.concat([length, bytes])
}

/** One message around anything behind its attributes. */
export function messageAround(offset: number, magic: number, attributes: number, rest: Buffer) {
  const summed = Buffer.concat([Buffer.from([magic, attributes]), rest])
  const head = Buffer.alloc(16)
  head.writeBigInt64BE(BigInt(offset))
  head.writeInt32BE(4 + summed.length, 8)
  head.writeUInt32BE(crc32(summed), 12)
  return Buffer.concat([head, summed])
}

export function message(magic: number, plain: PlainMessage): Buffer {
  const time = Buffer.alloc(magic === 1 ? 8 : 0)
  if (magic === 1) time.writeBigInt64BE(BigInt(plain.timestamp ?? -1))
  const rest = Buffer.concat([time, field(plain.key), field(plain.value)])
  return messageAround(plain.offset ?? 0, magic, plain.attributes ?? 0, rest)
}

export function messageSet(magic: number, ...plain: PlainMessage[]): Buffer {
  return Buffer.concat(plain.map((each) => message(magic, each)))
}
