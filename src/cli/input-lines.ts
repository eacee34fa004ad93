/**
 * Lines of a stream of bytes, as bytes, without their ends (LF, or CR LF). A last line without an
 * end counts. Memory is one piece of the stream and one line, which is bounded.
 */
import { SeglogError } from '../errors.js'

const LF = 10
const CR = 13

/** The largest line: a record of that size fits no broker's default by far. */
export const LINE_BYTES_MAX = 128 * 1024 * 1024

/** Lines in groups, a group for each piece of the stream: waiting for each line would cost. */
export async function* linesOf(
  stream: AsyncIterable<Buffer | string>,
  maxBytes = LINE_BYTES_MAX,
): AsyncGenerator<Buffer[], void, undefined> {
  let rest: Buffer[] = []
  let restBytes = 0
  for await (const piece of stream) {
    const bytes = typeof piece === 'string' ? Buffer.from(piece) : piece
    const lines: Buffer[] = []
    let start = 0
    for (let end = bytes.indexOf(LF); end >= 0; end = bytes.indexOf(LF, start)) {
      const part = bytes.subarray(start, end)
      lines.push(withoutCr(restBytes > 0 ? Buffer.concat([...rest, part]) : part))
      rest = []
      restBytes = 0
      start = end + 1
    }
    if (start < bytes.length) {
      rest.push(bytes.subarray(start))
      restBytes += bytes.length - start
    }
    if (restBytes > maxBytes) {
      throw new SeglogError('TOO_LARGE', `the input has a line of more than ${maxBytes} bytes`)
    }
    if (lines.length > 0) yield lines
  }
  if (restBytes > 0) yield [withoutCr(Buffer.concat(rest))]
}

function withoutCr(line: Buffer): Buffer {
  return line.length > 0 && line[line.length - 1] === CR ? line.subarray(0, -1) : line
}
