/**
 * Walks a .log file batch by batch and reports what is there up to the first damage, behind which
 * nothing can be told. Memory is one window, and with records one batch of at most 256 MiB.
 *
 * What may end a log: its last batch (whole); zeros to the end, which is space reserved for appends
 * and no damage; a batch that the file ends in (torn tail); anything else (corrupt).
 */
import { SeglogError } from '../errors.js'
import {
  type Batch,
  type BatchHeader,
  HEADER_BYTES,
  iterateRecords,
  parseBatchHeader,
} from '../records/index.js'
import type { Report } from './dump-report.js'
import { reportZeros } from './dump-zeros.js'
import type { FileWindow } from './file-window.js'
import { counted, type Output } from './output.js'
import { checksumMatches } from './verify-batch.js'

/** A larger batch is checked, and its records are not printed. */
const RECORDS_BYTES_MAX = 256 * 1024 * 1024

/** The header at `position`, or undefined when damage was reported. */
function readHeader(file: FileWindow, position: number, report: Report): BatchHeader | undefined {
  const left = file.sizeBytes - position
  const head = file.view(position, HEADER_BYTES)
  try {
    const header = parseBatchHeader(head, 0, position)
    if (header.sizeBytes <= left) return header
    const { baseOffset, sizeBytes } = header
    const needs = `the batch of offset ${baseOffset} takes ${sizeBytes} bytes`
    report.damage('torn-tail', position, `${needs}, and the file ends after ${left}`)
  } catch (error) {
    if (!(error instanceof SeglogError)) throw error
    if (error.code === 'SHORT') {
      report.damage(
        'torn-tail',
        position,
        `the file ends after ${counted(left, 'byte')} of a header`,
      )
    } else {
      report.damage('corrupt', position, error.message)
    }
  }
  return undefined
}

async function reportRecords(
  file: FileWindow,
  batch: Omit<Batch, 'bytes'>,
  report: Report,
  output: Output,
): Promise<boolean> {
  const { header, position } = batch
  if (header.sizeBytes > RECORDS_BYTES_MAX) {
    report.note(position, `records not printed: a batch above ${RECORDS_BYTES_MAX} bytes`)
    return false
  }
  const bytes = Buffer.allocUnsafe(header.sizeBytes)
  if (file.read(position, bytes) < bytes.length) {
    throw new SeglogError('SHORT', 'the file has shrunk')
  }
  try {
    for (const record of iterateRecords({ ...batch, bytes }, { checkCrc: false })) {
      report.record(record, header)
      if (output.full) await output.flush()
      if (output.closed) return false
    }
  } catch (error) {
    if (!(error instanceof SeglogError)) throw error
    if (error.code === 'UNSUPPORTED_COMPRESSION' || error.code === 'TOO_LARGE') {
      report.note(position, `records not printed: ${error.message}`)
      return false
    }
    report.damage('corrupt', position, error.message)
    return true
  }
  return false
}

/** Returns whether damage was found. `baseOffset` is that of the file's name, where it has one. */
export async function dumpLog(
  file: FileWindow,
  baseOffset: number | undefined,
  options: { records: boolean },
  report: Report,
  output: Output,
): Promise<boolean> {
  let position = 0
  let expected = baseOffset ?? 0
  while (position < file.sizeBytes && !output.closed) {
    if (file.view(position, HEADER_BYTES).every((byte) => byte === 0)) {
      return reportZeros(file, position, 'appends', report)
    }
    const header = readHeader(file, position, report)
    if (header === undefined) return true
    const isValid = checksumMatches(file, position, header)
    report.batch(header, position, isValid)
    if (!isValid) {
      report.damage('corrupt', position, 'the CRC of this batch does not match its bytes')
      return true
    }
    if (header.baseOffset < expected) {
      const text = `offset ${header.baseOffset} where ${expected} or more is due`
      report.damage('corrupt', position, text)
      return true
    }
    if (options.records) {
      if (await reportRecords(file, { header, position }, report, output)) return true
    }
    expected = header.lastOffset + 1
    position += header.sizeBytes
    if (output.full) await output.flush()
  }
  return false
}
