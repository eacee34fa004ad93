/** Record batches of magic 2: what other folders use of this one. */
export {
  type Batch,
  type BatchHeader,
  batchAt,
  batchBytes,
  crcMatches,
  iterateBatches,
  parseBatchHeader,
} from './batch.js'
export {
  type Codec,
  type CompressionName,
  codecNamed,
  codecOf,
  codecs,
  decompress,
  OUTPUT_BYTES_MAX_DEFAULT,
} from './compression.js'
export { BatchEncoder, type BatchOptions, type BatchProducer, buildBatch } from './encoder.js'
export { Attribute, BatchField, HEADER_BYTES, MAGIC } from './format.js'
export { iterateRecords, type ReadOptions } from './reader.js'
export type { LogRecord, RecordHeader, RecordHeaderInput, RecordInput } from './record.js'
