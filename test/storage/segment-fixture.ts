/**
 * A segment file of valid batches whose bytes a test knows, opened read-only. The records in the
 * batches are noise that claims to be gzip: nobody looks into them, and no two places of the file
 * look alike.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { native } from '../../src/native.js'
import { Slice } from '../../src/storage/slice.js'

const BATCH_BYTES = 64 * 1024
const GZIP = 1

/** Numbers in [0, 2^32) that follow from the seed. */
export function numbersFrom(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x9e3779b9) >>> 0
    let mixed = Math.imul(state ^ (state >>> 16), 0x85ebca6b)
    mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35)
    return (mixed ^ (mixed >>> 16)) >>> 0
  }
}

/** One batch of magic 2 with one record of noise. */
function batch(offset: number, next: () => number): Buffer {
  const bytes = Buffer.alloc(BATCH_BYTES)
  for (let at = 64; at < BATCH_BYTES; at += 4) bytes.writeUInt32LE(next(), at)
  bytes.writeBigInt64BE(BigInt(offset), 0)
  bytes.writeInt32BE(BATCH_BYTES - 12, 8)
  bytes.writeInt8(2, 16)
  bytes.writeInt16BE(GZIP, 21)
  bytes.writeBigInt64BE(-1n, 43) // no producer
  bytes.writeInt16BE(-1, 51)
  bytes.writeInt32BE(-1, 53)
  bytes.writeInt32BE(1, 57)
  bytes.writeUInt32BE(native.crc32c(bytes, 21, BATCH_BYTES - 21, 0), 17)
  return bytes
}

export class SegmentFixture {
  readonly directory = mkdtempSync(join(tmpdir(), 'seglog-slice-'))
  readonly path = join(this.directory, '00000000000000000000.log')
  readonly bytes: Buffer
  handle = 0

  private constructor(sizeBytes: number) {
    const next = numbersFrom(sizeBytes)
    const count = sizeBytes / BATCH_BYTES
    this.bytes = Buffer.concat(Array.from({ length: count }, (_, i) => batch(i, next)))
    writeFileSync(this.path, this.bytes)
  }

  /** `sizeBytes` is a multiple of 64 KiB. The file goes with the test. */
  static async open(t: TestContext, sizeBytes: number): Promise<SegmentFixture> {
    const fixture = new SegmentFixture(sizeBytes)
    t.after(() => rmSync(fixture.directory, { recursive: true, force: true }))
    await fixture.reopen()
    t.after(() => fixture.close())
    return fixture
  }

  async reopen(): Promise<void> {
    const report = await native.segmentOpen(this.path.replace(/\.log$/, ''), 0, {
      readOnly: true,
      recover: false,
      segmentBytes: 1 << 30,
      indexIntervalBytes: 4096,
      mapped: false,
    })
    this.handle = report.handle
  }

  async close(): Promise<void> {
    if (this.handle > 0) await native.segmentClose(this.handle, false)
    this.handle = 0
  }

  slice(position: number, sizeBytes: number): Slice {
    return new Slice(this.handle, position, sizeBytes)
  }
}
