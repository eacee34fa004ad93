/**
 * Indexes are a help and never the truth: whatever becomes of their files, a log opens, and each
 * offset and each time is found where a walk over the .log files finds it.
 */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { appendFileSync, cpSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { iterateBatches } from '../../src/records/batch.js'
import { buildBatch } from '../../src/records/encoder.js'
import type { Log } from '../../src/storage/log.js'
import { seeded } from '../protocol/random.js'
import { temporaryDirectory } from '../support/tmp.js'
import { append, filesOf, NOW, open } from './log-fixture.js'

const options = { segmentBytes: 2600, indexIntervalBytes: 100 }

interface Batch {
  base: number
  last: number
  maxTimestamp: number
}

/** A closed log of three segments, times going up and down, and every batch of it. */
async function sound(t: TestContext): Promise<{ directory: string; batches: Batch[] }> {
  const directory = join(temporaryDirectory(t), 't-0')
  const log = await open(t, directory, options)
  const random = seeded(4)
  for (let i = 0; i < 40; i++) {
    const records = Array.from({ length: 1 + random.below(3) }, () => ({
      value: 'v'.repeat(random.below(80)),
      timestamp: NOW + i * 10 + random.below(60),
    }))
    const batch = buildBatch(records)
    assert.ok(log.appendFromClient(batch, 0, batch.length, 0) >= 0)
  }
  await log.close()
  const batches = filesOf(directory, '.log').flatMap((name) =>
    [...iterateBatches(readFileSync(join(directory, name)))].map(({ header }) => ({
      base: header.baseOffset,
      last: header.lastOffset,
      maxTimestamp: header.maxTimestamp,
    })),
  )
  return { directory, batches }
}

const baseOf = (bytes: Uint8Array | undefined) =>
  bytes && Number(new DataView(bytes.buffer, bytes.byteOffset).getBigInt64(0))

/** Lookups by offset and by time, each against the list. */
function compare(log: Log, batches: readonly Batch[], where: string): void {
  const end = batches.at(-1)!.last + 1
  assert.equal(log.endOffset, end, where)
  for (let offset = 0; offset < end; offset++) {
    const expected = batches.find(({ last }) => last >= offset)?.base
    assert.equal(baseOf(log.slice(offset, 1)?.bytes()), expected, `${where}, offset ${offset}`)
  }
  for (let time = NOW - 1; time <= NOW + 480; time += 7) {
    const expected = batches.find(({ maxTimestamp }) => maxTimestamp >= time)?.base
    const found = baseOf(log.batchForTimestamp(time)?.bytes())
    assert.equal(found, expected, `${where}, time ${time - NOW}`)
  }
  assert.equal(log.maxTimestamp, Math.max(...batches.map(({ maxTimestamp }) => maxTimestamp)))
}

const entryBytes = (path: string) => (path.endsWith('.timeindex') ? 12 : 8)

function change(path: string, to: (bytes: Buffer, entry: number) => void): void {
  const bytes = readFileSync(path)
  assert.ok(bytes.length >= 3 * entryBytes(path), `${path} has entries`)
  to(bytes, entryBytes(path))
  writeFileSync(path, bytes)
}

function swap(bytes: Buffer, entry: number, from: number, to: number): void {
  const first = Buffer.from(bytes.subarray(from, from + entry))
  bytes.copyWithin(from, to, to + entry)
  first.copy(bytes, to)
}

/** Position of an offset entry, offset of a time entry: the last four bytes of either. */
const pointer = (entry: number, index: number) => (index + 1) * entry - 4

const spoilers: Record<string, (path: string) => void> = {
  missing: (path) => rmSync(path),
  empty: (path) => truncateSync(path),
  'three bytes short': (path) => truncateSync(path, readFileSync(path).length - 3),
  'an entry short': (path) => truncateSync(path, readFileSync(path).length - entryBytes(path)),
  'an entry too long': (path) => {
    const bytes = readFileSync(path)
    appendFileSync(path, bytes.subarray(bytes.length - entryBytes(path)))
  },
  'followed by garbage': (path) => appendFileSync(path, Buffer.alloc(24, 0x7f)),
  'filled at random': (path) => writeFileSync(path, seeded(9).bytes(readFileSync(path).length)),
  'filled with zeros': (path) => writeFileSync(path, Buffer.alloc(readFileSync(path).length)),
  'with two entries swapped': (path) => {
    change(path, (bytes, entry) => swap(bytes, entry, entry, bytes.length - entry))
  },
  'with neighbours swapped': (path) => change(path, (bytes, entry) => swap(bytes, entry, 0, entry)),
  'with a last entry behind the end': (path) => {
    change(path, (bytes) => bytes.writeUInt32BE(0x7fffffff, bytes.length - 4))
  },
  'with a middle entry behind the end': (path) => {
    change(path, (bytes, entry) => bytes.writeUInt32BE(0x7fffffff, pointer(entry, 1)))
  },
  'with a middle entry between two batches': (path) => {
    change(path, (bytes, entry) => {
      const at = pointer(entry, 1)
      bytes.writeUInt32BE(bytes.readUInt32BE(at) + 1, at)
    })
  },
}

for (const [how, spoil] of Object.entries(spoilers)) {
  for (const ending of ['.index', '.timeindex']) {
    test(`every offset and time is found where a file ${ending} is ${how}`, async (t) => {
      const { directory, batches } = await sound(t)
      const names = filesOf(directory, ending)
      assert.equal(names.length, 3)
      for (const [place, name] of [
        ['a sealed segment', names[1]!],
        ['the active segment', names[2]!],
      ] as const) {
        for (const clean of [true, false]) {
          const copy = join(temporaryDirectory(t), 't-0')
          cpSync(directory, copy, { recursive: true })
          spoil(join(copy, name))
          const log = await open(t, copy, { ...options, clean })
          const where = `${place}, ${clean ? 'clean' : 'killed'}`
          compare(log, batches, where)
          assert.equal(append(log, 'more'), batches.at(-1)!.last + 1)
          await log.close()
          const again = await open(t, copy, { ...options, clean: true })
          assert.equal(again.report.rebuiltIndexes, 0, `${where}: the files were mended`)
          await again.close()
        }
      }
    })
  }
}

const MIB = 1024 * 1024

test('indexes of 64 MiB of log are made anew with a few MiB of memory', async (t) => {
  const directory = join(temporaryDirectory(t), 't-0')
  const log = await open(t, directory, { segmentBytes: 256 * MIB, indexIntervalBytes: 4096 })
  const batch = buildBatch([{ value: Buffer.alloc(16_000, 7), timestamp: NOW }])
  while (log.sizeBytes < 64 * MIB) {
    assert.ok(log.appendFromClient(Uint8Array.from(batch), 0, batch.length, 0) >= 0)
  }
  await log.close()
  const { endOffset } = log
  for (const clean of [true, false]) {
    for (const ending of ['.index', '.timeindex']) {
      for (const name of filesOf(directory, ending)) rmSync(join(directory, name))
    }
    const script = fileURLToPath(new URL('./rebuild-child.js', import.meta.url))
    const options = { encoding: 'utf8', timeout: 60_000 } as const
    const { stdout, stderr } = spawnSync(process.execPath, [script, directory, `${clean}`], options)
    assert.equal(stderr, '')
    const { end, rebuilt, grownBytes } = JSON.parse(stdout)
    assert.deepEqual([end, rebuilt], [endOffset, 1])
    assert.ok(grownBytes < 24 * MIB, `${grownBytes} bytes`)
  }
})
