/**
 * What can be told of one stored batch by its own bytes: its header, its checksum and its records.
 * Memory is one window, and for records the batch (at most `RECORDS_BYTES_MAX`) and what it
 * decompresses to (at most the same).
 */
import { SeglogError } from '../errors.js'
import { native } from '../native.js'
import {
  BatchField,
  type BatchHeader,
  codecOf,
  HEADER_BYTES,
  iterateRecords,
  MAGIC,
  parseBatchHeader,
} from '../records/index.js'
import { type FileWindow, WINDOW_BYTES } from './file-window.js'

/** The records of a larger batch are not looked at. */
export const RECORDS_BYTES_MAX = 128 * 1024 * 1024

/** The header at `position`, or the error that stands for what is wrong with it. */
export function headerAt(file: FileWindow, position: number): BatchHeader | SeglogError {
  try {
    return parseBatchHeader(file.view(position, HEADER_BYTES), 0, position)
  } catch (error) {
    if (error instanceof SeglogError) return error
    throw error
  }
}

/** Whether the checksum of a batch that lies whole in the file is that of its bytes. */
export function checksumMatches(file: FileWindow, position: number, header: BatchHeader): boolean {
  const isOld = header.magic < MAGIC
  const sumOf = isOld ? native.crc32 : native.crc32c
  const end = position + header.sizeBytes
  let sum = 0
  for (let at = position + (isOld ? BatchField.MAGIC : BatchField.ATTRIBUTES); at < end; ) {
    const bytes = file.view(at, Math.min(end - at, WINDOW_BYTES))
    sum = sumOf(bytes, 0, bytes.length, sum)
    at += bytes.length
  }
  return sum === header.crc
}

/** `fault` or `note` has the words where there is something to say. */
export interface RecordsCheck {
  records: number
  fault?: string
  note?: string
}

/** Reads all records of a batch whose checksum is right. */
export function checkRecords(
  file: FileWindow,
  position: number,
  header: BatchHeader,
): RecordsCheck {
  if (codecOf(header.compression) === undefined) {
    return { records: 0, fault: `there is no codec ${header.compression}` }
  }
  if (header.sizeBytes > RECORDS_BYTES_MAX) {
    return { records: header.count, note: `records not read: ${header.sizeBytes} bytes` }
  }
  const bytes = Buffer.allocUnsafe(header.sizeBytes)
  if (file.read(position, bytes) < bytes.length) {
    throw new SeglogError('SHORT', 'the file has shrunk')
  }
  const options = { checkCrc: false, maxOutputBytes: RECORDS_BYTES_MAX }
  let records = 0
  try {
    for (const _ of iterateRecords({ header, position, bytes }, options)) records++
    return { records }
  } catch (error) {
    if (!(error instanceof SeglogError)) throw error
    if (error.code === 'UNSUPPORTED_COMPRESSION' || error.code === 'TOO_LARGE') {
      return { records: header.count, note: `records not read: ${error.message}` }
    }
    return { records, fault: error.message }
  }
}
