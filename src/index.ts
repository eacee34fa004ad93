/** The public API: the storage engine to link, and the broker to embed. */
export { Broker, type BrokerOptions } from './broker.js'
export { type ErrorCode, KafkaError, SeglogError } from './errors.js'
export { type Logger, silentLogger, stderrLogger } from './logger.js'
export type { Offset } from './offsets.js'
export {
  type Appended,
  type AppendOptions,
  type OpenLog,
  type OpenLogOptions,
  openLog,
  type ReadOptions,
  StoredRecord,
} from './open-log.js'
export type { CompressionName } from './records/compression.js'
export type { RecordHeaderInput, RecordInput } from './records/record.js'
export type { LogReport } from './storage/log-options.js'
export type { Slice } from './storage/slice.js'
