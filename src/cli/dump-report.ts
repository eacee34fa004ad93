/**
 * What `seglog dump` prints: in the words and order of Kafka's DumpLogSegments, or with --json one
 * object a line whose `type` is file, batch, record, entry, note or damage.
 */
import { type BatchHeader, codecOf, type LogRecord } from '../records/index.js'
import type { Output } from './output.js'
import { inText, jsonField } from './shown.js'

export type DamageKind = 'torn-tail' | 'corrupt'

export interface Report {
  file(path: string, baseOffset: number | undefined): void
  batch(header: BatchHeader, position: number, isValid: boolean): void
  record(record: LogRecord, header: BatchHeader): void
  /** An entry of an index, a checkpoint or the like, under the names that Kafka gives. */
  entry(fields: Record<string, number | string>): void
  /** Something worth knowing that is no damage. */
  note(position: number, text: string): void
  damage(kind: DamageKind, position: number, text: string): void
}

/** Sequences wrap from 2^31 - 1 to 0 (KIP-98). */
function sequenceOf(header: BatchHeader, offset: number): number {
  if (header.baseSequence < 0) return -1
  return (header.baseSequence + offset - header.baseOffset) % 2 ** 31
}

function codecName(id: number): string {
  return codecOf(id)?.name ?? `unknown(${id})`
}

const controlTypes = new Map([
  [0, 'ABORT'],
  [1, 'COMMIT'],
])

/** The type of a control record (KIP-98): version 2, type 2. */
function controlType(key: Uint8Array | null): string {
  if (key === null || key.length < 4) return 'UNKNOWN'
  const type = Buffer.from(key.buffer, key.byteOffset, key.length).readInt16BE(2)
  return controlTypes.get(type) ?? String(type)
}

const size = (bytes: Uint8Array | null) => bytes?.length ?? -1

function batchFields(header: BatchHeader, position: number, isValid: boolean) {
  const time = header.isLogAppendTime ? 'LogAppendTime' : 'CreateTime'
  return {
    baseOffset: header.baseOffset,
    lastOffset: header.lastOffset,
    count: header.count,
    baseSequence: header.baseSequence,
    lastSequence: sequenceOf(header, header.lastOffset),
    producerId: header.producerId,
    producerEpoch: header.producerEpoch,
    partitionLeaderEpoch: header.leaderEpoch,
    isTransactional: header.isTransactional,
    isControl: header.isControl,
    deleteHorizonMs: header.hasDeleteHorizon ? header.baseTimestamp : null,
    position,
    [time]: header.maxTimestamp,
    size: header.sizeBytes,
    magic: header.magic,
    compresscodec: codecName(header.compression),
    crc: header.crc,
    isvalid: isValid,
  }
}

function recordFields(record: LogRecord, header: BatchHeader) {
  const time = header.isLogAppendTime ? 'LogAppendTime' : 'CreateTime'
  return {
    offset: record.offset,
    [time]: record.timestamp,
    keySize: size(record.key),
    valueSize: size(record.value),
    sequence: sequenceOf(header, record.offset),
  }
}

/** What a file says as text is printed with the same care as a key. */
function wordOf(value: unknown): string {
  return typeof value === 'string' ? inText(Buffer.from(value)) : String(value)
}

function inWords(fields: Record<string, unknown>): string {
  return Object.entries(fields)
    .map(([name, value]) => `${name}: ${value === null ? 'none' : wordOf(value)}`)
    .join(' ')
}

export function textReport(output: Output, printData: boolean): Report {
  return {
    file(path, baseOffset) {
      output.line(`Dumping ${path}`)
      if (baseOffset !== undefined) output.line(`Log starting offset: ${baseOffset}`)
    },
    batch(header, position, isValid) {
      output.line(inWords(batchFields(header, position, isValid)))
    },
    record(record, header) {
      const keys = record.headers.map(({ key }) => inText(Buffer.from(key)))
      let line = `| ${inWords(recordFields(record, header))} headerKeys: [${keys.join(',')}]`
      if (header.isControl) line += ` controlType: ${controlType(record.key)}`
      else if (record.key !== null) line += ` key: ${inText(record.key)}`
      if (printData && record.value !== null) line += ` payload: ${inText(record.value)}`
      output.line(line)
    },
    entry: (fields) => output.line(inWords(fields)),
    note: (position, text) => output.line(`note: position ${position}: ${text}`),
    damage: (kind, position, text) =>
      output.line(`DAMAGE (${kind}): position ${position}: ${text}`),
  }
}

export function jsonReport(output: Output, printData: boolean): Report {
  const line = (type: string, fields: object) => output.line(JSON.stringify({ type, ...fields }))
  return {
    file: (path, baseOffset) => line('file', { path, baseOffset }),
    batch: (header, position, isValid) => line('batch', batchFields(header, position, isValid)),
    record(record, header) {
      const headers = record.headers.map(({ key, value }) => ({
        key,
        ...(printData ? jsonField('value', value) : { valueSize: size(value) }),
      }))
      line('record', {
        ...recordFields(record, header),
        ...(header.isControl ? { controlType: controlType(record.key) } : {}),
        ...jsonField('key', record.key),
        ...(printData ? jsonField('value', record.value) : {}),
        headers,
      })
    },
    entry: (fields) => line('entry', fields),
    note: (position, text) => line('note', { position, text }),
    damage: (kind, position, text) => line('damage', { kind, position, text }),
  }
}
