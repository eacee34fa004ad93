/**
 * Finds the addon and types its exports. The one place that turns a native status into an error.
 *
 * The boundary passes numbers, strings and bytes only. A function that can fail synchronously
 * returns a number: at or above 0 it is the result, below 0 a `Status`. Further numbers come in
 * `native.results`, which the next call overwrites: read it before anything else runs. Functions
 * that may touch a cold disk return a promise and reject with a `SeglogError`.
 */
import { createRequire } from 'node:module'
import { getSystemErrorMap } from 'node:util'
import { addonUnavailable, SeglogError, statusWords } from './errors.js'

/** Results of a native call that did not fail. Values mirror `Code` in native/status.h. */
export const Status = {
  OK: 0,
  BAD_ARGUMENT: -1,
  CLOSED: -2,
  IO: -3,
  NO_SPACE: -4,
  TOO_MANY_FILES: -5,
  LOCKED: -6,
  EXISTS: -7,
  NOT_FOUND: -8,
  FENCED: -9,
  READ_ONLY: -10,
  SEGMENT_FULL: -11,
  OFFSET_OUT_OF_RANGE: -12,
  CORRUPT: -13,
  BAD_MAGIC: -14,
  INVALID_RECORD: -15,
  TOO_LARGE: -16,
  OFFSET_TOO_LARGE: -17,
  BROKEN_PIPE: -18,
  UNSUPPORTED: -19,
  SHORT: -20,
} as const satisfies Record<string, number>

/** Slots of `native.results`. A call fills those that its comment names. */
export const Result = {
  BASE_OFFSET: 0,
  LAST_OFFSET: 1,
  MAX_TIMESTAMP: 2,
  POSITION: 3,
  LENGTH: 4,
  BATCHES: 5,
  NEXT_OFFSET: 6,
  OFFSET_OF_MAX_TIMESTAMP: 7,
  FILE_BYTES: 8,
  DETAIL: 9,
  LEADER_EPOCH: 10,
  ERRNO: 15,
} as const

/** Flags of `segmentAppend`. */
export const AppendFlag = {
  /**
   * From a client: exactly one batch, baseOffset 0, no control bit, deltas dense; offset and leader
   * epoch are stamped.
   */
  FROM_CLIENT: 1,
  /**
   * From a leader: batches keep their offsets and epochs, which must not go back; gaps are allowed.
   */
  FROM_LEADER: 2,
  /**
   * As FROM_CLIENT, from the encoder of this process: the CRC, which it left out, is computed and
   * written, and the records are not walked.
   */
  FROM_ENCODER: 3,
} as const

/** What `pooledBuffer` gives at most. Mirrors BufferPool::kLargeBytes of native/. */
export const POOLED_BYTES_MAX = 2 * 1024 * 1024

export interface SegmentOptions {
  /** A sealed or foreign segment: never written, never trimmed. */
  readOnly: boolean
  /** Check every batch from the start, and rebuild the indexes from what was found. */
  recover: boolean
  /** At most this many bytes of log; also the bound of what is reserved ahead. */
  segmentBytes: number
  /** Bytes of log between two entries of the sparse indexes. */
  indexIntervalBytes: number
  /** Copy small batches into a mapping of the reserved file. False: every append is a pwrite. */
  mapped: boolean
  /**
   * Absent or -1: not given. Else the segment is sealed, this is its next offset, and both are
   * believed: opening asks for the size of the .log and reads nothing. Indexes are loaded by the
   * first lookup that needs them, checked, and made anew from the .log where they do not fit.
   */
  trustedNextOffset?: number
  /**
   * With `recover`: batches below this offset were on disk before. The scan begins at the indexed
   * batch at or below it, or at the start where the index does not fit. Damage below it is
   * reported and kept, and what follows it stays readable; only damage at or above ends the log
   * and is cut. Absent: the base offset.
   */
  recoverFrom?: number
  /** What the names of the three files end in behind `.log` and so on. Absent: nothing. */
  suffix?: string
}

/** What opening a segment found. */
export interface SegmentReport {
  handle: number
  /** Bytes up to the end of the last valid batch. The tail behind it was cut unless readOnly. */
  validBytes: number
  /** Size of the file as it was found. */
  fileBytes: number
  /** One above the last offset; the base offset for an empty segment. */
  nextOffset: number
  /**
   * Largest timestamp in ms, -1 for an empty segment, or -2 where it is not known yet (see
   * `trustedNextOffset`): `segmentInfo` finds it out.
   */
  maxTimestamp: number
  /**
   * The first damage that was found: `Status`, or OK. Zeros of a reserved tail are OK. Without
   * `recoverFrom` the scan ended there.
   */
  damage: number
  /** Where the damage begins in the .log, and the offset that was expected there; -1 without. */
  damagePosition: number
  damageOffset: number
  /** True where an index was missing or did not fit the log and was made anew. */
  indexRebuilt: boolean
}

/** Bytes, or three numbers: handle of a segment, position and length in its .log file. */
export type TransferPart = Uint8Array | number

export interface NativeAddon {
  readonly results: Float64Array

  /**
   * A Buffer of `length` bytes of any content, from 1 to `POOLED_BYTES_MAX`, in memory that is used
   * again once it is collected. A status below 0 where there is none to be had: TOO_LARGE, or
   * UNSUPPORTED by an engine that takes no foreign memory.
   */
  pooledBuffer(length: number): Buffer | number

  /** The path chosen at load: 'vpclmulqdq', 'pclmulqdq', 'armv8' or 'portable'. */
  readonly crcPath: string
  /**
   * CRC-32C (Castagnoli; RFC 3720) of `length` bytes from `offset`, unsigned. `seed` continues an
   * earlier sum.
   */
  crc32c(bytes: Uint8Array, offset: number, length: number, seed: number): number
  /** CRC-32 (IEEE 802.3, as zlib's). */
  crc32(bytes: Uint8Array, offset: number, length: number, seed: number): number

  /**
   * Makes `<path>.log` and empty indexes, `path` being directory and %020d of the base offset; a
   * spare of the folder (`segmentPrepare`) is taken where there is one, the indexes then follow
   * later. Returns a handle. Errors: EXISTS, NO_SPACE, TOO_MANY_FILES, IO.
   */
  segmentCreate(path: string, baseOffset: number, options: SegmentOptions): number
  /**
   * Opens what is there; see `SegmentReport`. Runs in the pool. Rejects: NOT_FOUND, TOO_MANY_FILES,
   * IO.
   */
  segmentOpen(path: string, baseOffset: number, options: SegmentOptions): Promise<SegmentReport>
  /**
   * Opens the sealed segments of a folder that begin at `baseOffsets` (rising), in one job of the
   * pool. Each is trusted up to the base of the one behind it, the last one up to
   * `options.trustedNextOffset`, which must be given. All or none. Rejects: as `segmentOpen`.
   */
  segmentsOpen(
    directory: string,
    baseOffsets: readonly number[],
    options: SegmentOptions,
  ): Promise<SegmentReport[]>
  /** Bytes that recoveries of this process have read so far; costs nothing to ask. */
  recoveredBytes(): number
  /**
   * Checks and appends whole batches of magic 2 from `length` bytes at `offset`, stamping them in
   * place first (FROM_CLIENT). All or nothing: on an error the segment is as before. Fills
   * BASE_OFFSET, LAST_OFFSET, MAX_TIMESTAMP, POSITION, LENGTH, BATCHES; on INVALID_RECORD, DETAIL
   * is the index of the record, or -1. Errors: CORRUPT, BAD_MAGIC, INVALID_RECORD,
   * OFFSET_OUT_OF_RANGE (FROM_LEADER going back), SEGMENT_FULL, NO_SPACE, FENCED, READ_ONLY,
   * CLOSED, IO.
   */
  segmentAppend(
    handle: number,
    bytes: Uint8Array,
    offset: number,
    length: number,
    leaderEpoch: number,
    flags: number,
  ): number
  /**
   * Finds the batch that holds `offset`, or the first one above it in this segment, and how many
   * bytes from there may be read: up to `maxBytes`, to the end of this segment and to the batch of
   * `limitOffset` (exclusive). At least the first batch, whole, even above maxBytes; otherwise the
   * end may fall inside a batch. Fills BASE_OFFSET (of that first batch), POSITION, LENGTH (0 where
   * offset >= limitOffset or the segment ends). That first batch is right: one whose header or,
   * up to 16 KiB, whose sum is wrong is CORRUPT, and so is an offset that is lost in damage; what
   * lies behind the damage is found. Errors: OFFSET_OUT_OF_RANGE, CORRUPT, CLOSED, NOT_FOUND (the
   * file is gone), TOO_MANY_FILES (may work later), IO.
   */
  segmentLocate(handle: number, offset: number, maxBytes: number, limitOffset: number): number
  /**
   * The first batch whose largest timestamp is at or above `timestamp`. Fills BASE_OFFSET,
   * LAST_OFFSET, MAX_TIMESTAMP, POSITION, LENGTH, LEADER_EPOCH. Errors: NOT_FOUND, CORRUPT, CLOSED,
   * IO.
   */
  segmentLocateTimestamp(handle: number, timestamp: number): number
  /**
   * Copies up to `length` bytes of the .log at `position` into `target`, never past the published
   * end. Returns the count. Errors: CLOSED, IO, BAD_ARGUMENT.
   */
  segmentRead(
    handle: number,
    position: number,
    length: number,
    target: Uint8Array,
    targetOffset: number,
  ): number
  /**
   * Fills LENGTH (valid bytes), NEXT_OFFSET, MAX_TIMESTAMP, OFFSET_OF_MAX_TIMESTAMP, FILE_BYTES,
   * BASE_OFFSET.
   */
  segmentInfo(handle: number): number
  /** The log to disk, in the pool; a failure fences the segment. Indexes: see `segmentSeal`. */
  segmentFlush(handle: number): Promise<void>
  /** The same before it returns. Errors: CLOSED, FENCED, TOO_MANY_FILES, IO. */
  segmentFlushNow(handle: number): number
  /**
   * Cuts everything at and above `offset`, indexes too, in the pool. A sealed segment takes appends
   * again afterwards, also where there was nothing to cut.
   */
  segmentTruncate(handle: number, offset: number): Promise<void>
  /**
   * Ends appends at once (later ones get READ_ONLY), then in the pool writes the indexes, trims the
   * reserved tail, unmaps, and syncs. The segment stays readable.
   */
  segmentSeal(handle: number): Promise<void>
  /** The same before it returns, for when descriptors run out. Errors: CLOSED, FENCED, IO. */
  segmentSealNow(handle: number): number
  /**
   * Seals without a sync unless `sync`, then lets go. The handle is CLOSED at once; transfers under
   * way end well.
   */
  segmentClose(handle: number, sync: boolean): Promise<void>
  /**
   * Has the helper thread make the file of the folder's next segment (`spare.log.deleted`: Kafka
   * removes such files at its start), so that `segmentCreate` costs one rename. Done by itself when
   * three quarters of `segmentBytes` are full; needed only before a roll for another reason. A
   * spare that is not used goes with the segment's close. Errors: CLOSED, BAD_ARGUMENT.
   */
  segmentPrepare(handle: number): number
  /**
   * Renames the three files to end in `suffix` in the place of the one before ('' for none), in
   * the pool. The segment stays open and readable. Rejects: CLOSED, NOT_FOUND, IO.
   */
  segmentRename(handle: number, suffix: string): Promise<void>
  /**
   * Tells where the files lie after their folder was renamed, as files of sealed segments are
   * opened by name. `path` as in `segmentOpen`. Errors: CLOSED, BAD_ARGUMENT.
   */
  segmentMoved(handle: number, path: string): number
  /**
   * Removes the files and lets go, in the pool. The handle is CLOSED at once; transfers and jobs
   * under way end well. Files that are gone already are no error. Rejects: CLOSED, IO.
   */
  segmentDelete(handle: number): Promise<void>
  /** Loads the indexes of a sealed segment in the pool, so that the next lookup need not. */
  segmentLoad(handle: number): Promise<void>
  /**
   * Bounds the descriptors of sealed segments that the process keeps open while nobody sends from
   * them (default: a quarter of RLIMIT_NOFILE, at most 1,000). At least 1.
   */
  setOpenFilesMax(count: number): number
  /** Descriptors of sealed segments that are open now, for tests and metrics. */
  openFiles(): number

  /**
   * Hands `parts` to the socket `fd` in order: bytes by send, slices by sendfile; whatever does not
   * fit now follows when the socket is writable. Returns 0 when all was handed over (the callback
   * is not called), or an id above 0 when some is pending: then `done` is called once, with a
   * status and errno. At most one transfer may be under way per socket, and JavaScript must write
   * nothing to it meanwhile. Errors: BROKEN_PIPE, SHORT, IO, BAD_ARGUMENT, CLOSED.
   */
  transferSend(
    fd: number,
    parts: TransferPart[],
    done: (status: number, errno: number) => void,
  ): number
  /**
   * Keeps `parts`, and with them the files of their slices, for `transferStart`; nothing is
   * sent. Returns an id above 0. Errors: BAD_ARGUMENT, CLOSED.
   */
  transferHold(parts: TransferPart[]): number
  /** As `transferSend` with the parts of a held transfer, over when the result is at most 0. */
  transferStart(id: number, fd: number, done: (status: number, errno: number) => void): number
  /** Gives up a pending or held transfer; its callback is not called. Unknown ids are ignored. */
  transferCancel(id: number): void
  /** Pending and held transfers of this environment, for tests. */
  transferPending(): number

  /** Takes the lock of a file, making it where missing. Returns a handle. Errors: LOCKED, IO. */
  lockAcquire(path: string): number
  lockRelease(handle: number): number
}

/** What a job of the pool rejects with: numbers, as everything at this boundary. */
interface JobError extends Error {
  status: number
  errno: number
}

function isJobError(error: unknown): error is JobError {
  return error instanceof Error && 'status' in error && 'errno' in error
}

/** Makes a `SeglogError` of what a job rejected with; it names the path where one was given. */
function translated<Args extends unknown[], T>(
  name: string,
  call: (...args: Args) => Promise<T>,
): (...args: Args) => Promise<T> {
  return (...args) =>
    call(...args).catch((error: unknown) => {
      if (!isJobError(error)) throw error
      const [subject] = args
      const what = typeof subject === 'string' ? `${subject}.log` : name
      throw statusError(error.status, what, error.errno)
    })
}

function load(): NativeAddon {
  const require = createRequire(import.meta.url)
  try {
    const addon = require('../../build/Release/seglog.node') as NativeAddon
    return {
      ...addon,
      segmentOpen: translated('segmentOpen', addon.segmentOpen),
      segmentFlush: translated('sync of a segment', addon.segmentFlush),
      segmentTruncate: translated('truncation of a segment', addon.segmentTruncate),
      segmentSeal: translated('sealing of a segment', addon.segmentSeal),
      segmentClose: translated('closing of a segment', addon.segmentClose),
      segmentsOpen: translated('opening of segments', addon.segmentsOpen),
      segmentRename: translated('renaming of a segment', addon.segmentRename),
      segmentDelete: translated('removal of a segment', addon.segmentDelete),
      segmentLoad: translated('loading of indexes', addon.segmentLoad),
    }
  } catch (cause) {
    throw addonUnavailable(cause)
  }
}

export const native: NativeAddon = load()

type StatusName = keyof typeof Status

const names = new Map<number, StatusName>(
  Object.entries(Status).map(([name, value]) => [value, name as StatusName]),
)

/** A failed system call stands behind these; with the others, errno is of an earlier failure. */
const withErrno = new Set<StatusName>([
  'IO',
  'NO_SPACE',
  'TOO_MANY_FILES',
  'EXISTS',
  'BROKEN_PIPE',
  'UNSUPPORTED',
])

/** What the system calls it, such as `EACCES: permission denied`. */
function errnoText(errno: number): string {
  const [name, words] = getSystemErrorMap().get(-errno) ?? [`errno ${errno}`, 'unknown']
  return `${name}: ${words}`
}

/** The error for a native status. `what` names the file or the act. */
export function statusError(
  status: number,
  what: string,
  errno = native.results[Result.ERRNO],
): SeglogError {
  const name = names.get(status) ?? 'IO'
  // Whom a lock shuts out knows the directory, not the file that stands for it.
  const subject = name === 'LOCKED' ? what.replace(/\/\.lock$/, '') : what
  if (!errno || !withErrno.has(name)) {
    return new SeglogError(name, `${subject}: ${statusWords[name]}`)
  }
  const text = name === 'IO' ? errnoText(errno) : `${statusWords[name]} (${errnoText(errno)})`
  return new SeglogError(name, `${subject}: ${text}`, { errno })
}

/** Passes a result at or above 0 on, and throws what a status below 0 stands for. */
export function checked(result: number, what: string): number {
  if (result < 0) throw statusError(result, what)
  return result
}
