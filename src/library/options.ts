/**
 * The options of `openLog`: their defaults, and their checks, which come before anything is touched.
 */
import { badArgument, checkOptions, checkWhole, given } from '../arguments.js'
import type { Env } from '../env.js'
import { OUTPUT_BYTES_MAX_DEFAULT } from '../records/compression.js'
import { defaultLogOptions } from '../storage/log-options.js'

export interface FlushOptions {
  /** Sync by itself after so many records; 0, the default, is never. */
  messages?: number | undefined
  /** Sync by itself so many ms after the first append that is not on disk; 0, the default: never. */
  ms?: number | undefined
}

export interface OpenLogOptions {
  /** Size of a segment, bytes; 1 GiB unless given. */
  segmentBytes?: number | undefined
  /** Bytes of log between two entries of the sparse index; 4096 unless given. */
  indexIntervalBytes?: number | undefined
  /** When to sync without being asked. */
  flush?: FlushOptions | undefined
  /**
   * A compressed batch holds at most so many bytes before compression: above, an append and a read
   * are refused with TOO_LARGE. 32 MiB unless given.
   */
  decompressedBytesMax?: number | undefined
  /** Clock and timers; those of the system unless given. */
  env?: Env | undefined
}

const INT32_MAX = 2 ** 31 - 1
const FIELDS = [
  'segmentBytes',
  'indexIntervalBytes',
  'flush',
  'decompressedBytesMax',
  'env',
] as const

/** Errors: BAD_ARGUMENT with the name of the option. */
export function checkedOptions(options: OpenLogOptions) {
  checkOptions('the options of openLog', options, FIELDS)
  const { segmentBytes, indexIntervalBytes, flush, decompressedBytesMax, env } = options
  checkOptions('flush', flush, ['messages', 'ms'])
  const { segmentBytes: segment, indexIntervalBytes: interval } = defaultLogOptions
  if (env !== undefined && (typeof env !== 'object' || typeof env.now !== 'function')) {
    badArgument(`env is an Env, not ${given(env)}`)
  }
  const inRange = (name: string, value: number, min: number) =>
    checkWhole(name, value, min, INT32_MAX)
  return {
    segmentBytes: inRange('segmentBytes', segmentBytes ?? segment, 1),
    indexIntervalBytes: inRange('indexIntervalBytes', indexIntervalBytes ?? interval, 1),
    flushMessages: inRange('flush.messages', flush?.messages ?? 0, 0),
    flushMs: inRange('flush.ms', flush?.ms ?? 0, 0),
    maxOutputBytes: inRange(
      'decompressedBytesMax',
      decompressedBytesMax ?? OUTPUT_BYTES_MAX_DEFAULT,
      1,
    ),
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
