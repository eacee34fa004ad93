/**
 * Builds record batches of magic 2: the append path of the library and of the producer.
 *
 * A `BatchEncoder` owns one buffer that grows and is used again: records are laid out straight
 * into it, so that a batch costs no allocation per record or field. Sizes are computed before a
 * byte is written, hence nothing is moved afterwards and the room is checked once per record.
 * `buildBatch` copies the result out of a shared encoder.
 *
 * Leaves to others: stamping offset and leader epoch of an append (native), and which record goes
 * into which batch. Text is UTF-8; an unpaired surrogate becomes U+FFFD, as everywhere in Node.
 */
import { badArgument, given, quoted } from '../arguments.js'
import { SeglogError } from '../errors.js'
import { native } from '../native.js'
import { type CompressionName, codecNamed, OUTPUT_BYTES_MAX_DEFAULT } from './compression.js'
import { Attribute, BATCH_BYTES_MAX, BatchField, HEADER_BYTES, MAGIC, NONE } from './format.js'
import type { RecordHeaderInput, RecordInput } from './record.js'
import { varintBytes, varlongBytes, writeVarint, writeVarlong } from './varint.js'

const INITIAL_BYTES = 64 * 1024
/** A larger buffer is let go before the next batch. */
const RETAINED_BYTES_MAX = 16 * 1024 * 1024
/** Up to here a loop beats a call into the engine. */
const SHORT_TEXT = 16
const SHORT_BYTES = 24
const TWO_32 = 2 ** 32

type Field = Uint8Array | string | null | undefined

/** An idempotent or transactional producer (KIP-98). */
export interface BatchProducer {
  /** [0, 2^53 - 1] */
  id: number
  /** [0, 32767] */
  epoch: number
  /** Sequence of the first record, [0, 2^31 - 1]. */
  baseSequence: number
}

export interface BatchOptions {
  /** Default none. */
  compression?: CompressionName | undefined
  /** As the codec has them; see compression.ts. */
  compressionLevel?: number | undefined
  /**
   * Records that are to be compressed are at most this many bytes before; default
   * `OUTPUT_BYTES_MAX_DEFAULT`, the bound of those who read.
   */
  maxOutputBytes?: number | undefined
  /** Default 0, which an append replaces. */
  baseOffset?: number | undefined
  /** Default -1, which an append replaces. */
  leaderEpoch?: number | undefined
  producer?: BatchProducer | undefined
  transactional?: boolean | undefined
  /** Leaves the CRC out, for an append that computes it (`AppendFlag.FROM_ENCODER`). */
  unsummed?: boolean | undefined
  /** A batch of markers, as only brokers write them. */
  control?: boolean | undefined
  /** ms since 1970 for records that bring none; default -1, no timestamp. */
  timestamp?: number | undefined
  /**
   * Marks the batch as stamped by the broker at this time, which readers then give to each record
   * (KIP-32).
   */
  logAppendTime?: number | undefined
}

function checkedInteger(value: number, min: number, max: number, what: string): number {
  if (!Number.isInteger(value) || value < min || value > max) {
    badArgument(`${what} must be a whole number from ${min} to ${max}, not ${String(value)}`)
  }
  return value
}

/**
 * Bytes of a field, or -1 for null and absent. `what`, `index` and, of a header, `name` say which
 * it is where it is none.
 */
function fieldBytes(field: Field, what: string, index: number, name?: string): number {
  if (field === null || field === undefined) return -1
  if (typeof field === 'string') {
    const length = field.length
    if (length > SHORT_TEXT) return Buffer.byteLength(field)
    for (let at = 0; at < length; at++) {
      if (field.charCodeAt(at) > 0x7f) return Buffer.byteLength(field)
    }
    return length
  }
  if (!(field instanceof Uint8Array)) {
    const place = name === undefined ? what : `${what}: the value of ${quoted(name)}`
    badArgument(`records[${index}].${place} is bytes, text or null, not ${given(field)}`)
  }
  return field.length
}

/** Writes length and bytes of a field whose size is known, and returns the position behind it. */
function writeField(target: Buffer, position: number, field: Field, size: number): number {
  position = writeVarint(target, position, size)
  if (field === null || field === undefined || size === 0) return position
  if (typeof field === 'string') {
    if (size !== field.length) target.write(field, position, size, 'utf8')
    else if (size > SHORT_TEXT) target.write(field, position, size, 'latin1')
    else for (let at = 0; at < size; at++) target[position + at] = field.charCodeAt(at)
  } else if (size > SHORT_BYTES) {
    target.set(field, position)
  } else {
    for (let at = 0; at < size; at++) target[position + at] = field[at] as number
  }
  return position + size
}

const noHeaders: readonly RecordHeaderInput[] = []

/** Neither an array nor bytes nor an object of a class, whose fields would be no headers. */
function isPlainObject(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === Object.prototype || prototype === null
}

function headerList(headers: RecordInput['headers'], index: number): readonly RecordHeaderInput[] {
  if (headers === undefined || headers === null) return noHeaders
  if (Array.isArray(headers)) return headers as readonly RecordHeaderInput[]
  if (typeof headers !== 'object' || !isPlainObject(headers)) {
    badArgument(
      `records[${index}].headers is an array of { key, value } or an object, not ${given(headers)}`,
    )
  }
  return Object.entries(headers as Record<string, Field>).map(([key, value]) => ({ key, value }))
}

function headersBytes(headers: readonly RecordHeaderInput[], index: number): number {
  let size = varintBytes(headers.length)
  for (const header of headers) {
    if (typeof header !== 'object' || header === null || typeof header.key !== 'string') {
      const found = typeof header === 'object' && header !== null ? header.key : header
      badArgument(`records[${index}].headers: the key of a header is text, not ${given(found)}`)
    }
    const keySize = fieldBytes(header.key, 'headers', index)
    const valueSize = fieldBytes(header.value, 'headers', index, header.key)
    size += varintBytes(keySize) + keySize + varintBytes(valueSize) + Math.max(valueSize, 0)
  }
  return size
}

const RECORD_FIELDS = ['key', 'value', 'headers', 'timestamp']

/** A record that says nothing may be one with a slip in its fields. What was read may be put. */
function checkFields(record: object, index: number): void {
  if (Array.isArray(record) || record instanceof Uint8Array) {
    badArgument(
      `records[${index}] is an object of ${RECORD_FIELDS.join(', ')}, not ${given(record)}`,
    )
  }
  const strange = Object.keys(record).find(
    (field) => !RECORD_FIELDS.includes(field) && field !== 'offset',
  )
  if (strange === undefined) return
  badArgument(`records[${index}] has no "${strange}"; it takes ${RECORD_FIELDS.join(', ')}`)
}

function writeInt64(view: DataView, position: number, value: number): void {
  view.setInt32(position, Math.floor(value / TWO_32))
  view.setUint32(position + 4, value >>> 0)
}

/** Bytes of a record behind its own length. */
function recordBytes(
  delta: number,
  index: number,
  keySize: number,
  valueSize: number,
  headers: readonly RecordHeaderInput[],
): number {
  let size = 1 + varlongBytes(delta) + varintBytes(index) + varintBytes(keySize)
  size += varintBytes(valueSize)
  if (keySize > 0) size += keySize
  if (valueSize > 0) size += valueSize
  return size + (headers.length === 0 ? 1 : headersBytes(headers, index))
}

function writeHeaders(
  target: Buffer,
  position: number,
  headers: readonly RecordHeaderInput[],
): number {
  position = writeVarint(target, position, headers.length)
  for (const { key, value } of headers) {
    position = writeField(target, position, key, fieldBytes(key, 'headers', 0))
    position = writeField(target, position, value, fieldBytes(value, 'headers', 0))
  }
  return position
}

function checkTimestamp(timestamp: number, index: number): void {
  if (!Number.isSafeInteger(timestamp) || timestamp < NONE) {
    const found = given(timestamp)
    badArgument(`records[${index}].timestamp is -1 or whole ms since 1970, not ${found}`)
  }
}

export class BatchEncoder {
  /** Holds the batch from 0 on after `encode`, until the next call. */
  bytes: Buffer = Buffer.allocUnsafeSlow(INITIAL_BYTES)
  #view = new DataView(this.bytes.buffer)
  #baseTimestamp = NONE
  #maxTimestamp = NONE

  /**
   * Lays a batch of at least one record out in `bytes` and returns its length. Errors:
   * BAD_ARGUMENT, TOO_LARGE (above 2^31 - 1 bytes), UNSUPPORTED_COMPRESSION.
   */
  encode(records: readonly RecordInput[], options: BatchOptions = {}): number {
    if (!Array.isArray(records)) badArgument(`records is an array, not ${given(records)}`)
    const count = records.length
    if (count === 0) badArgument('records is empty; a batch holds at least one record')
    if (this.bytes.length > RETAINED_BYTES_MAX) this.#allocate(INITIAL_BYTES)
    const timestamp = options.timestamp ?? NONE
    this.#begin((records[0] as RecordInput | undefined)?.timestamp ?? timestamp)
    let position: number = HEADER_BYTES
    for (let index = 0; index < count; index++) {
      const record = records[index] as RecordInput
      if (typeof record !== 'object' || record === null) {
        badArgument(
          `records[${index}] is an object of ${RECORD_FIELDS.join(', ')}, not ${given(record)}`,
        )
      }
      position = this.#record(record, index, record.timestamp ?? timestamp, position)
    }
    return this.#finish(position, count, options)
  }

  /** As `encode`, of records that are made one at a time: each is laid out before the next is. */
  encodeEach(records: Iterable<RecordInput>, options: BatchOptions = {}): number {
    if (this.bytes.length > RETAINED_BYTES_MAX) this.#allocate(INITIAL_BYTES)
    const timestamp = options.timestamp ?? NONE
    let position: number = HEADER_BYTES
    let count = 0
    for (const record of records) {
      const time = record.timestamp ?? timestamp
      if (count === 0) this.#begin(time)
      position = this.#record(record, count, time, position)
      count++
    }
    if (count === 0) badArgument('records is empty; a batch holds at least one record')
    return this.#finish(position, count, options)
  }

  #begin(firstTimestamp: number): void {
    this.#baseTimestamp = firstTimestamp
    this.#maxTimestamp = firstTimestamp
    checkTimestamp(firstTimestamp, 0)
  }

  #finish(position: number, count: number, options: BatchOptions): number {
    const name = options.compression
    if (name !== undefined && name !== 'none') position = this.#compress(position, options)
    this.#header(position, count, options)
    return position
  }

  #record(record: RecordInput, index: number, timestamp: number, position: number): number {
    const delta = timestamp - this.#baseTimestamp
    if (delta !== 0) {
      checkTimestamp(timestamp, index)
      if (!Number.isSafeInteger(delta)) badArgument('timestamps of one batch are too far apart')
      if (timestamp > this.#maxTimestamp) this.#maxTimestamp = timestamp
    }
    const { key, value } = record
    const isBare = (key ?? null) === null && record.headers === undefined
    if (delta === 0 && isBare && value instanceof Uint8Array) {
      return this.#bareValue(value, index, position)
    }
    const headers = headerList(record.headers, index)
    const keySize = fieldBytes(key, 'key', index)
    const valueSize = fieldBytes(value, 'value', index)
    if (keySize + valueSize < -1) checkFields(record, index)
    const size = recordBytes(delta, index, keySize, valueSize, headers)
    if (position + size + 5 > this.bytes.length) this.#grow(position, position + size + 5)
    const target = this.bytes
    position = writeVarint(target, position, size)
    target[position++] = 0
    position = writeVarlong(target, position, delta)
    position = writeVarint(target, position, index)
    position = writeField(target, position, key, keySize)
    position = writeField(target, position, value, valueSize)
    return writeHeaders(target, position, headers)
  }

  /** A record of a value alone, as most are, in one go. */
  #bareValue(value: Uint8Array, index: number, position: number): number {
    const length = value.length
    const size = 4 + varintBytes(index) + varintBytes(length) + length
    if (position + size + 5 > this.bytes.length) this.#grow(position, position + size + 5)
    const target = this.bytes
    position = writeVarint(target, position, size)
    target[position++] = 0 // attributes
    target[position++] = 0 // of the timestamp, the difference to the first
    position = writeVarint(target, position, index)
    target[position++] = 1 // no key
    position = writeVarint(target, position, length)
    if (length > SHORT_BYTES) target.set(value, position)
    else for (let at = 0; at < length; at++) target[position + at] = value[at] as number
    target[position + length] = 0 // headers
    return position + length + 1
  }

  #compress(end: number, options: BatchOptions): number {
    const codec = codecNamed(options.compression ?? 'none')
    const max = options.maxOutputBytes ?? OUTPUT_BYTES_MAX_DEFAULT
    if (end - HEADER_BYTES > max) {
      const size = `${end - HEADER_BYTES} bytes before compression`
      throw new SeglogError('TOO_LARGE', `a batch of ${size}; ${max} are read back`)
    }
    const records = this.bytes.subarray(HEADER_BYTES, end)
    const compressed = codec.compress(records, options.compressionLevel)
    const size = HEADER_BYTES + compressed.length
    if (size > this.bytes.length) this.#grow(HEADER_BYTES, size)
    this.bytes.set(compressed, HEADER_BYTES)
    return size
  }

  #header(size: number, count: number, options: BatchOptions): void {
    const view = this.#view
    const { producer, logAppendTime } = options
    const baseOffset = options.baseOffset ?? 0
    if (baseOffset !== 0) {
      checkedInteger(baseOffset, 0, Number.MAX_SAFE_INTEGER - count + 1, 'baseOffset')
    }
    const leaderEpoch = checkedInteger(options.leaderEpoch ?? NONE, NONE, 0x7fffffff, 'leaderEpoch')
    let attributes = codecNamed(options.compression ?? 'none').id
    let maxTimestamp = this.#maxTimestamp
    if (logAppendTime !== undefined) {
      maxTimestamp = checkedInteger(logAppendTime, 0, Number.MAX_SAFE_INTEGER, 'logAppendTime')
      attributes |= Attribute.LOG_APPEND_TIME
    }
    if (options.transactional) attributes |= Attribute.TRANSACTIONAL
    if (options.control) attributes |= Attribute.CONTROL
    writeInt64(view, BatchField.BASE_OFFSET, baseOffset)
    view.setInt32(BatchField.LENGTH, size - 12)
    view.setInt32(BatchField.LEADER_EPOCH, leaderEpoch)
    view.setInt8(BatchField.MAGIC, MAGIC)
    view.setInt16(BatchField.ATTRIBUTES, attributes)
    view.setInt32(BatchField.LAST_OFFSET_DELTA, count - 1)
    writeInt64(view, BatchField.BASE_TIMESTAMP, this.#baseTimestamp)
    writeInt64(view, BatchField.MAX_TIMESTAMP, maxTimestamp)
    this.#producer(producer)
    view.setInt32(BatchField.COUNT, count)
    if (options.unsummed) return
    const summed = size - BatchField.ATTRIBUTES
    view.setUint32(BatchField.CRC, native.crc32c(this.bytes, BatchField.ATTRIBUTES, summed, 0))
  }

  #producer(producer: BatchProducer | undefined): void {
    const view = this.#view
    if (producer !== undefined) {
      checkedInteger(producer.id, 0, Number.MAX_SAFE_INTEGER, 'producer.id')
      checkedInteger(producer.epoch, 0, 0x7fff, 'producer.epoch')
      // Markers of a transaction carry id and epoch, and no sequence.
      checkedInteger(producer.baseSequence, NONE, 0x7fffffff, 'producer.baseSequence')
    }
    writeInt64(view, BatchField.PRODUCER_ID, producer?.id ?? NONE)
    view.setInt16(BatchField.PRODUCER_EPOCH, producer?.epoch ?? NONE)
    view.setInt32(BatchField.BASE_SEQUENCE, producer?.baseSequence ?? NONE)
  }

  #grow(used: number, needed: number): void {
    if (needed > BATCH_BYTES_MAX) {
      throw new SeglogError('TOO_LARGE', `a batch of more than ${BATCH_BYTES_MAX} bytes`)
    }
    const old = this.bytes
    this.#allocate(Math.min(Math.max(needed, old.length * 2), BATCH_BYTES_MAX))
    old.copy(this.bytes, 0, 0, used)
  }

  #allocate(size: number): void {
    this.bytes = Buffer.allocUnsafeSlow(size)
    this.#view = new DataView(this.bytes.buffer)
  }
}

const shared = new BatchEncoder()

/** One batch in bytes of its own. Options, ranges and errors as in `BatchEncoder.encode`. */
export function buildBatch(records: readonly RecordInput[], options?: BatchOptions): Uint8Array {
  const size = shared.encode(records, options)
  const batch = Buffer.allocUnsafe(size)
  shared.bytes.copy(batch, 0, 0, size)
  return batch
}
