/** The headers of all batches of a log. */
import { type BatchHeader, iterateBatches } from '../../../src/records/batch.js'
import type { Log } from '../../../src/storage/log.js'

export function batchesIn(log: Log): BatchHeader[] {
  const headers: BatchHeader[] = []
  let next = log.startOffset
  for (let slice = log.slice(next, 1 << 20); slice; slice = log.slice(next, 1 << 20)) {
    for (const { header } of iterateBatches(slice.bytes())) {
      headers.push(header)
      next = header.lastOffset + 1
    }
  }
  return headers
}
