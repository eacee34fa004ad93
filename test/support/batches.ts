/** Batches with faults: a field is changed and the CRC made right again. */
import { native } from '../../src/native.js'
import { BatchField } from '../../src/records/format.js'

/** A copy of `batch` that `change` was let loose on, with a CRC that fits. */
export function changed(batch: Uint8Array, change: (view: DataView) => void): Uint8Array {
  const copy = Uint8Array.from(batch)
  const view = new DataView(copy.buffer)
  change(view)
  const from = BatchField.ATTRIBUTES
  view.setUint32(BatchField.CRC, native.crc32c(copy, from, copy.length - from, 0))
  return copy
}

/** A copy of `batch` with one bit of its last byte turned, and the CRC as it was. */
export function damaged(batch: Uint8Array): Uint8Array {
  const copy = Uint8Array.from(batch)
  const last = copy.length - 1
  copy[last] = copy[last]! ^ 1
  return copy
}
