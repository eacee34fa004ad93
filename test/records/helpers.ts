/** What the tests of records share: a seeded generator, plain forms to compare, damaged batches. */
import { readFileSync } from 'node:fs'
import { native } from '../../src/native.js'
import {
  BatchField,
  type CompressionName,
  type LogRecord,
  type RecordInput,
} from '../../src/records/index.js'

export const codecNames: readonly CompressionName[] = ['none', 'gzip', 'snappy', 'lz4', 'zstd']

/** xorshift32: the same numbers for the same seed, in [0, below). */
export function seeded(seed: number): (below: number) => number {
  let state = seed >>> 0 || 1
  return (below) => {
    state ^= state << 13
    state ^= state >>> 17
    state ^= state << 5
    state >>>= 0
    return state % below
  }
}

export interface PlainRecord {
  offset: number
  timestamp: number
  key: string | null
  value: string | null
  headers: [string, string | null][]
}

/** Bytes one to one as characters, so that null and '' stay apart. */
export function latin1(bytes: Uint8Array | null): string | null {
  return bytes === null ? null : Buffer.from(bytes).toString('latin1')
}

export function plain(record: LogRecord): PlainRecord {
  return {
    offset: record.offset,
    timestamp: record.timestamp,
    key: latin1(record.key),
    value: latin1(record.value),
    headers: record.headers.map(({ key, value }) => [key, latin1(value)]),
  }
}

/** Makes the CRC right again after bytes were changed. */
export function sealed(batch: Uint8Array): Uint8Array {
  const view = new DataView(batch.buffer, batch.byteOffset, batch.length)
  const length = batch.length - BatchField.ATTRIBUTES
  view.setUint32(BatchField.CRC, native.crc32c(batch, BatchField.ATTRIBUTES, length, 0))
  return batch
}

/** A batch around records of any bytes, with a right length and CRC. */
export function batchAround(template: Uint8Array, records: Uint8Array): Uint8Array {
  const batch = Buffer.concat([template.subarray(0, BatchField.RECORDS), records])
  batch.writeInt32BE(batch.length - 12, BatchField.LENGTH)
  return sealed(batch)
}

function fixturesOf(file: string): Map<string, Buffer> {
  const path = new URL(`../../../test/records/fixtures/${file}`, import.meta.url)
  const texts: Record<string, string> = JSON.parse(readFileSync(path, 'utf8'))
  return new Map(Object.entries(texts).map(([name, text]) => [name, Buffer.from(text, 'base64')]))
}

/** Batches that the classes of Apache Kafka 4.3.1 have written, by name. */
export function kafkaFixtures(): Map<string, Buffer> {
  return fixturesOf('kafka-4.3.1.json')
}

/** One batch a codec as kcat on librdkafka has sent it, by name of the codec. */
export function librdkafkaFixtures(): Map<string, Buffer> {
  return fixturesOf('librdkafka-2.0.2.json')
}

/** The four records that most fixtures hold. */
export const fixtureRecords: RecordInput[] = [
  {
    timestamp: 1700000000000,
    key: 'k0',
    value: 'v0',
    headers: [
      { key: 'a', value: '1' },
      { key: 'a', value: '' },
      { key: 'ключ', value: null },
    ],
  },
  { timestamp: 1700000000500, key: null, value: null },
  { timestamp: 1699999999000, key: '', value: '' },
  {
    timestamp: 1700000360000,
    key: 'k3',
    value: 'x'.repeat(300),
    headers: [{ key: '', value: 'empty key' }],
  },
]

export const fixturePlain: PlainRecord[] = [
  {
    offset: 0,
    timestamp: 1700000000000,
    key: 'k0',
    value: 'v0',
    headers: [
      ['a', '1'],
      ['a', ''],
      ['ключ', null],
    ],
  },
  { offset: 1, timestamp: 1700000000500, key: null, value: null, headers: [] },
  { offset: 2, timestamp: 1699999999000, key: '', value: '', headers: [] },
  {
    offset: 3,
    timestamp: 1700000360000,
    key: 'k3',
    value: 'x'.repeat(300),
    headers: [['', 'empty key']],
  },
]
