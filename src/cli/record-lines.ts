/**
 * Records out of lines of input: a line is a value, or key and value with a separator between, or a
 * JSON object in the form that `seglog consume --json` prints.
 */
import { quoted } from '../arguments.js'
import { SeglogError } from '../errors.js'
import type { RecordHeaderInput, RecordInput } from '../records/index.js'

export interface InputRecord extends RecordInput {
  key: Uint8Array | null
  /** Where the line says it. */
  partition?: number
}

export type LineReader = (line: Buffer, number: number) => InputRecord

/** `separator`: between key and value, at its first occurrence. */
export function plainLines(
  separator: string | undefined,
  headers: readonly RecordHeaderInput[],
): LineReader {
  if (separator === undefined) return (line) => ({ key: null, value: line, headers })
  const bytes = Buffer.from(separator)
  return (line, number) => {
    const at = line.indexOf(bytes)
    if (at < 0) throw badLine(number, `no separator ${quoted(separator)} between key and value`)
    const value = line.subarray(at + bytes.length)
    return { key: line.subarray(0, at), value, headers }
  }
}

export function jsonLines(headers: readonly RecordHeaderInput[]): LineReader {
  return (line, number) => {
    const parsed = objectIn(line, number)
    // A name that is misspelt would be a record without a value, which deletes what has its key.
    const stranger = Object.keys(parsed).find((name) => !FIELDS.has(name))
    if (stranger !== undefined) throw badLine(number, `there is no field ${quoted(stranger)}`)
    if (!('value' in parsed)) throw badLine(number, 'it has no value; null is one')
    const timestamp = optionalNumber(parsed, 'timestamp', number)
    const partition = optionalNumber(parsed, 'partition', number)
    return {
      key: bytesIn(parsed, 'key', number),
      value: bytesIn(parsed, 'value', number),
      headers: 'headers' in parsed ? headersIn(parsed.headers, number) : headers,
      ...(timestamp === undefined ? {} : { timestamp }),
      ...(partition === undefined ? {} : { partition }),
    }
  }
}

/** What `seglog consume --json` prints of a record. */
const FIELDS: ReadonlySet<string> = new Set([
  'topic',
  'partition',
  'offset',
  'timestamp',
  'timestampType',
  'key',
  'keyEncoding',
  'value',
  'valueEncoding',
  'headers',
])

const BASE64 = /^(?:[A-Za-z\d+/]{4})*(?:[A-Za-z\d+/]{2}==|[A-Za-z\d+/]{3}=)?$/

type Fields = Readonly<Record<string, unknown>>

function objectIn(line: Buffer, number: number): Fields {
  let value: unknown
  try {
    value = JSON.parse(line.toString('utf8'))
  } catch (error) {
    throw badLine(number, error instanceof Error ? error.message : String(error))
  }
  return fieldsOf(value, number)
}

function fieldsOf(value: unknown, number: number): Fields {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Fields
  throw badLine(number, 'it is no JSON object')
}

function bytesIn(fields: Fields, name: string, number: number): Uint8Array | null {
  const value = fields[name] ?? null
  if (value === null) return null
  if (typeof value !== 'string') throw badLine(number, `${name} is no text`)
  const encoding = fields[`${name}Encoding`] ?? 'utf8'
  if (encoding !== 'utf8' && encoding !== 'base64') {
    throw badLine(number, `${name}Encoding is utf8 or base64`)
  }
  if (encoding === 'base64' && !BASE64.test(value)) throw badLine(number, `${name} is no base64`)
  return Buffer.from(value, encoding)
}

function headersIn(value: unknown, number: number): RecordHeaderInput[] {
  if (!Array.isArray(value)) throw badLine(number, 'headers is no array')
  return value.map((each: unknown) => {
    const fields = fieldsOf(each, number)
    if (typeof fields.key !== 'string') throw badLine(number, 'the key of a header is no text')
    return { key: fields.key, value: bytesIn(fields, 'value', number) }
  })
}

function optionalNumber(fields: Fields, name: string, number: number): number | undefined {
  const value = fields[name] ?? undefined
  if (value === undefined) return undefined
  if (typeof value === 'number' && Number.isSafeInteger(value) && value >= -1) return value
  throw badLine(number, `${name} is no whole number`)
}

function badLine(number: number, text: string): SeglogError {
  const told = text.replaceAll('\n', ' ')
  return new SeglogError('BAD_ARGUMENT', `line ${number} of the input: ${told}`)
}
