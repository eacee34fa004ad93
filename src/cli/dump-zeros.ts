/**
 * Tells zeros at the end of a file, which are space reserved ahead, from zeros that stand where
 * something was written. A sparse file of any size is answered for in bounded time.
 */
import type { Report } from './dump-report.js'
import { FILE_BYTES_MAX, type FileWindow, SPARSE_BYTES } from './file-window.js'
import { counted } from './output.js'

/** Reports the zeros at `position`, reserved for `what` or damage. Returns true for damage. */
export function reportZeros(
  file: FileWindow,
  position: number,
  what: 'appends' | 'entries',
  report: Report,
): boolean {
  const left = file.sizeBytes - position
  const end = file.firstNonZero(position)
  if (end < 0 && left <= FILE_BYTES_MAX) {
    report.note(position, `a zero tail of ${counted(left, 'byte')}: space reserved for ${what}`)
    return false
  }
  const behind =
    end >= 0
      ? `${end - position} bytes of zeros, and other bytes from ${end}`
      : `${SPARSE_BYTES} bytes of zeros and more; the file has ${left} bytes from here, more ` +
        'than a segment can, and the rest was not read'
  report.damage('corrupt', position, behind)
  return true
}
