/**
 * What a response is made of on its way out: bytes, and slices of segment files that never enter
 * JavaScript. The protocol knows of a slice only how long it is; storage makes them and the
 * connection sends them.
 */

/** A run of bytes in a segment file. `storage/slice.ts` has the one real implementation. */
export interface RecordSlice {
  readonly sizeBytes: number
}

/** A piece of a response in the order in which it goes out. */
export type Part = Uint8Array | RecordSlice

/**
 * Record batches as a message carries them: bytes when they came from the wire, a slice when they
 * go out from disk.
 */
export type Records = Uint8Array | RecordSlice
