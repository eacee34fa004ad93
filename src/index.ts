/** The public API: the storage engine to link, and the broker to embed. */
export { Broker, type BrokerOptions } from './broker.js'
export { type Env, type ServerOptions, systemEnv, type Timer } from './env.js'
export {
  type ErrorCode,
  KafkaError,
  type KafkaErrorCode,
  kafkaErrorName,
  SeglogError,
} from './errors.js'
export type { Appended, AppendOptions } from './library/appending.js'
export type { FlushOptions, OpenLogOptions, RetentionOptions } from './library/options.js'
export { type StoredHeader, StoredRecord } from './library/stored-record.js'
export { type Logger, silentLogger, stderrLogger } from './logger.js'
export type { Offset } from './offsets.js'
export { type OpenLog, openLog, type ReadOptions } from './open-log.js'
export type { CompressionName } from './records/compression.js'
export type { RecordHeaderInput, RecordInput } from './records/record.js'
export type { Damage, LogReport } from './storage/log-options.js'
export type { Slice } from './storage/slice.js'
