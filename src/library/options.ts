/**
 * The options of `openLog`: their defaults, and their checks, which come before anything is
 * touched.
 */
import { badArgument, checkBoolean, checkOptions, checkWhole, given } from '../arguments.js'
import type { Env } from '../env.js'
import { OUTPUT_BYTES_MAX_DEFAULT } from '../records/compression.js'
import { defaultLogOptions, type LogTuning } from '../storage/log-options.js'

export interface FlushOptions {
  /** Sync by itself after so many records; 0, the default, is never. */
  messages?: number | undefined
  /** Sync by itself so many ms after the first append that is not on disk; 0, the default: not. */
  ms?: number | undefined
}

export interface RetentionOptions {
  /** Segments whose newest record is older than so many ms go; unless given, none for its age. */
  ms?: number | undefined
  /** The oldest segments go while so many bytes are left; unless given, none for the size. */
  bytes?: number | undefined
}

export interface OpenLogOptions {
  /** Size of a segment, bytes; 1 GiB unless given. */
  segmentBytes?: number | undefined
  /** Age at which a segment is closed and a new one begun, ms; unless given, none for its age. */
  segmentMs?: number | undefined
  /** Bytes of log between two entries of the sparse index; 4096 unless given. */
  indexIntervalBytes?: number | undefined
  /** When to sync without being asked. */
  flush?: FlushOptions | undefined
  /**
   * A compressed batch holds at most so many bytes before compression: above, an append and a read
   * are refused with TOO_LARGE. 32 MiB unless given.
   */
  decompressedBytesMax?: number | undefined
  /** The largest batch that an append may store, bytes: above it is TOO_LARGE. Default: none. */
  maxBatchBytes?: number | undefined
  /**
   * `CreateTime`, the default: a record has the time that was given with it. `LogAppendTime`: all
   * have the wall clock of their append.
   */
  timestampType?: 'CreateTime' | 'LogAppendTime' | undefined
  /** What goes by itself, looked after once a minute and by `deleteOldSegments`. */
  retention?: RetentionOptions | undefined
  /** How long files of a deleted segment stay for those who read them, ms; 60,000 unless given. */
  fileDeleteDelayMs?: number | undefined
  /**
   * Opens what is there without a lock and without writing, beside the one who writes it; see
   * `refresh`. Options of writing are of no use then.
   */
  readOnly?: boolean | undefined
  /** Clock and timers; those of the system unless given. */
  env?: Env | undefined
}

const INT32_MAX = 2 ** 31 - 1
const INT53_MAX = Number.MAX_SAFE_INTEGER
const FIELDS = [
  'segmentBytes',
  'segmentMs',
  'indexIntervalBytes',
  'flush',
  'maxBatchBytes',
  'timestampType',
  'retention',
  'fileDeleteDelayMs',
  'decompressedBytesMax',
  'readOnly',
  'env',
] as const
const TIMESTAMP_TYPES: readonly unknown[] = ['CreateTime', 'LogAppendTime']

/** Errors: BAD_ARGUMENT with the name of the option. */
export function checkedOptions(options: OpenLogOptions) {
  checkOptions('openLog', options, FIELDS)
  const { readOnly = false, env } = options
  checkBoolean('readOnly', readOnly)
  if (env !== undefined && (typeof env !== 'object' || typeof env.now !== 'function')) {
    badArgument(`env is an Env, not ${given(env)}`)
  }
  const { flush, decompressedBytesMax = OUTPUT_BYTES_MAX_DEFAULT } = options
  checkOptions('flush', flush, ['messages', 'ms'])
  const own = {
    readOnly,
    flushMs: checkWhole('flush.ms', flush?.ms ?? 0, 0, INT32_MAX),
    maxOutputBytes: checkWhole('decompressedBytesMax', decompressedBytesMax, 1, INT32_MAX),
  }
  return { ...own, tuning: checkedTuning(options) }
}

function checkedTuning(options: OpenLogOptions): Partial<LogTuning> {
  const { segmentBytes, indexIntervalBytes, segmentMs, maxMessageBytes, timestampType } =
    defaultLogOptions
  const { flush, retention, fileDeleteDelayMs } = options
  checkOptions('retention', retention, ['ms', 'bytes'])
  const time = options.timestampType ?? timestampType
  if (!TIMESTAMP_TYPES.includes(time)) {
    badArgument(`timestampType is CreateTime or LogAppendTime, not ${given(time)}`)
  }
  const inRange = (name: string, value: number, min: number, max = INT32_MAX) =>
    checkWhole(name, value, min, max)
  const bound = (name: string, value: number | undefined, min: number, none: number) =>
    value === undefined ? none : checkWhole(name, value, min, INT53_MAX)
  const interval = options.indexIntervalBytes ?? indexIntervalBytes
  const delay = fileDeleteDelayMs ?? defaultLogOptions.fileDeleteDelayMs
  return {
    segmentBytes: inRange('segmentBytes', options.segmentBytes ?? segmentBytes, 1),
    indexIntervalBytes: inRange('indexIntervalBytes', interval, 1),
    flushMessages: inRange('flush.messages', flush?.messages ?? 0, 0),
    segmentMs: bound('segmentMs', options.segmentMs, 1, segmentMs),
    maxMessageBytes: bound('maxBatchBytes', options.maxBatchBytes, 1, maxMessageBytes),
    timestampType: time,
    retentionMs: bound('retention.ms', retention?.ms, 0, -1),
    retentionBytes: bound('retention.bytes', retention?.bytes, 0, -1),
    fileDeleteDelayMs: inRange('fileDeleteDelayMs', delay, 0),
  }
}

export type CheckedOptions = ReturnType<typeof checkedOptions>

/** An empty path would be the present folder, which nobody means. */
export function checkedDirectory(directory: unknown): string {
  if (typeof directory === 'string' && directory !== '' && !directory.includes('\0')) {
    return directory
  }
  return badArgument(`directory is the path of a folder, not ${given(directory)}`)
}
