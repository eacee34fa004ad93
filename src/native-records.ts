/**
 * The places of records in a chunk of a log, found by the addon in one call for many batches: see
 * native/places.h, and the docs there for what it passes over.
 */
import { native, Result, statusError } from './native.js'

/** Doubles of a row of `times`: offset and timestamp. */
export const TIMES = 2
/** Numbers of a row of `places`, in this order; a length of -1 is null. */
export const PLACES = 6
export const Place = {
  KEY_START: 0,
  KEY_LENGTH: 1,
  VALUE_START: 2,
  VALUE_LENGTH: 3,
  HEADERS_START: 4,
  HEADER_COUNT: 5,
} as const

interface RecordAddon {
  /**
   * Rows for the records of [from, to) in the batches of `chunk` from byte `at` on, none of which
   * begins behind `bytesMax`; fills LENGTH (bytes of the batches that were walked) and NEXT_OFFSET.
   */
  recordPlaces(
    chunk: Uint8Array,
    at: number,
    from: number,
    to: number,
    bytesMax: number,
    times: Float64Array,
    places: Int32Array,
  ): number
  /** At most `POOLED_BYTES_MAX` bytes. */
  readAhead(
    handle: number,
    position: number,
    length: number,
    from: number,
    to: number,
    bytesMax: number,
  ): ReadingAhead | number
  /** Fills DETAIL (rows), LENGTH and NEXT_OFFSET. */
  readAheadTake(ahead: ReadingAhead, times: Float64Array, places: Int32Array): Buffer | number
}

const addon = native as unknown as RecordAddon

/** A batch that holds more is for the caller to read by itself. */
const ROWS_MAX = 8192
/** Written by the addon and copied from: memory that is warm costs nothing. */
let scratch: { times: Float64Array; places: Int32Array } | undefined

/** What was found; at most so many bytes and records as fit. */
export interface FoundPlaces {
  rows: number
  times: Float64Array
  places: Int32Array
  /** Of the batches that were walked; 0 where the first is for the caller. */
  sizeBytes: number
  nextOffset: number
}

function scratchArrays() {
  scratch ??= {
    times: new Float64Array(ROWS_MAX * TIMES),
    places: new Int32Array(ROWS_MAX * PLACES),
  }
  return scratch
}

/** Of the call that has just filled the scratch. */
function foundRows(rows: number): FoundPlaces {
  const { times, places } = scratchArrays()
  return {
    rows,
    times: times.slice(0, rows * TIMES),
    places: places.slice(0, rows * PLACES),
    sizeBytes: native.results[Result.LENGTH]!,
    nextOffset: native.results[Result.NEXT_OFFSET]!,
  }
}

export interface PlaceRange {
  from: number
  to: number
  bytesMax: number
}

export function findPlaces(chunk: Uint8Array, at: number, range: PlaceRange): FoundPlaces {
  const { times, places } = scratchArrays()
  const { from, to, bytesMax } = range
  const rows = addon.recordPlaces(chunk, at, from, to, bytesMax, times, places)
  if (rows < 0) throw statusError(rows, 'record places')
  return foundRows(rows)
}

/** A reading ahead that is under way; nothing needs to be done to let go of it. */
export type ReadingAhead = object

/**
 * Begins to read bytes of a segment, and their places, on the helper thread. Undefined where it
 * takes nothing more, or the handle is closed.
 */
export function readAhead(
  { handle, position, sizeBytes }: { handle: number; position: number; sizeBytes: number },
  { from, to, bytesMax }: PlaceRange,
): ReadingAhead | undefined {
  const ahead = addon.readAhead(handle, position, sizeBytes, from, to, bytesMax)
  return typeof ahead === 'number' ? undefined : ahead
}

/** What was read, once; undefined where it was not begun yet or failed: it is not waited for. */
export function takeAhead(ahead: ReadingAhead): { bytes: Buffer; found: FoundPlaces } | undefined {
  const { times, places } = scratchArrays()
  const bytes = addon.readAheadTake(ahead, times, places)
  if (typeof bytes === 'number') return undefined
  return { bytes, found: foundRows(native.results[Result.DETAIL]!) }
}
