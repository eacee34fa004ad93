/**
 * A record that was read as bytes for stdout: its value and a line end, with what was asked for in
 * front of it, in the words and order of Kafka's console consumer; or with --json an object on a
 * line. A plain value goes out byte for byte.
 */
import type { Batch, LogRecord } from '../records/index.js'
import { jsonField } from './shown.js'

export interface ConsumeFormat {
  json: boolean
  printKey: boolean
  printTimestamp: boolean
  printHeaders: boolean
  printOffset: boolean
  printPartition: boolean
  separator: string
}

export interface ReadRecord {
  topic: string
  partition: number
  record: LogRecord
  batch: Batch
}

const LINE_END = Buffer.from('\n')
const NULL = Buffer.from('null')
const COLON = Buffer.from(':')
const COMMA = Buffer.from(',')
const NO_HEADERS = Buffer.from('NO_HEADERS')

export function formatRecord(read: ReadRecord, format: ConsumeFormat): Buffer {
  return format.json ? jsonLine(read) : textLine(read, format)
}

function timeType({ header }: Batch): string {
  if (header.magic === 0) return 'NoTimestampType'
  return header.isLogAppendTime ? 'LogAppendTime' : 'CreateTime'
}

function jsonLine({ topic, partition, record, batch }: ReadRecord): Buffer {
  const { offset, timestamp, key, value, headers } = record
  const fields = {
    topic,
    partition,
    offset,
    timestamp,
    timestampType: timeType(batch),
    ...jsonField('key', key),
    ...jsonField('value', value),
    headers: headers.map((each) => ({ key: each.key, ...jsonField('value', each.value) })),
  }
  return Buffer.from(`${JSON.stringify(fields)}\n`)
}

function textLine({ partition, record, batch }: ReadRecord, format: ConsumeFormat): Buffer {
  const fields: Uint8Array[] = []
  if (format.printTimestamp) fields.push(Buffer.from(`${timeType(batch)}:${record.timestamp}`))
  if (format.printPartition) fields.push(Buffer.from(`Partition:${partition}`))
  if (format.printOffset) fields.push(Buffer.from(`Offset:${record.offset}`))
  if (format.printHeaders) fields.push(headersOf(record))
  if (format.printKey) fields.push(record.key ?? NULL)
  fields.push(record.value ?? NULL)
  const pieces: Uint8Array[] = []
  const separator = Buffer.from(format.separator)
  for (const [i, field] of fields.entries()) {
    if (i > 0) pieces.push(separator)
    pieces.push(field)
  }
  pieces.push(LINE_END)
  return Buffer.concat(pieces)
}

function headersOf({ headers }: LogRecord): Uint8Array {
  if (headers.length === 0) return NO_HEADERS
  const pieces: Uint8Array[] = []
  for (const [i, { key, value }] of headers.entries()) {
    if (i > 0) pieces.push(COMMA)
    pieces.push(Buffer.from(key), COLON, value ?? NULL)
  }
  return Buffer.concat(pieces)
}
