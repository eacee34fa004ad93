/** Logs made by openLog, damage done to their files, and tools run on them with --json. */
import assert from 'node:assert/strict'
import { closeSync, openSync, readFileSync, readSync, writeSync } from 'node:fs'
import { Writable } from 'node:stream'
import { openLog } from '../../src/index.js'
import { type Batch, iterateBatches } from '../../src/records/index.js'

export type { Batch }

/** The name of a .log file. */
export const segment = (baseOffset: number) => `${String(baseOffset).padStart(20, '0')}.log`

/** Appends batches of two records of some hundred bytes, each later than the one before. */
export async function fill(
  folder: string,
  batches: number,
  { roll = false, indexIntervalBytes = 1000 } = {},
): Promise<void> {
  const log = await openLog(folder, { indexIntervalBytes })
  for (let index = 0; index < batches; index++) {
    const offset = Number(log.endOffset)
    const timestamp = 1_700_000_000_000 + offset * 1000
    const value = `value ${offset} `.repeat(20)
    log.append([
      { key: `k${offset}`, value, timestamp },
      { value, timestamp },
    ])
  }
  if (roll) log.roll()
  await log.close()
}

/** The batches of a sound log. */
export function batchesOf(path: string): Batch[] {
  return [...iterateBatches(readFileSync(path))]
}

/** Overwrites bytes of a file, and returns what takes that back. */
export function change(
  path: string,
  position: number,
  to: (byte: number) => number | Buffer,
): () => void {
  const fd = openSync(path, 'r+')
  const byte = Buffer.alloc(1)
  readSync(fd, byte, 0, 1, position)
  const changed = to(byte[0] ?? 0)
  const bytes = typeof changed === 'number' ? Buffer.from([changed]) : changed
  const before = Buffer.alloc(bytes.length)
  readSync(fd, before, 0, before.length, position)
  assert.notDeepEqual(bytes, before)
  const write = (content: Buffer) => {
    assert.equal(writeSync(fd, content, 0, content.length, position), content.length)
  }
  write(bytes)
  closeSync(fd)
  return () => {
    const again = openSync(path, 'r+')
    writeSync(again, before, 0, before.length, position)
    closeSync(again)
  }
}

export type Found = Record<string, unknown>

/** Runs a subcommand in this process, and gives the lines of its output. */
export function textTool(name: 'verify' | 'repair' | 'dump') {
  return async (...args: string[]): Promise<{ code: number; lines: string[] }> => {
    const chunks: string[] = []
    const stream = () =>
      new Writable({
        write(chunk, _encoding, done) {
          chunks.push(String(chunk))
          done()
        },
      })
    const { run } = await import(`../../src/cli/${name}.js`)
    const code: number = await run(args, { stdout: stream(), stderr: stream() })
    return { code, lines: chunks.join('').trimEnd().split('\n') }
  }
}

/** The same with --json. */
export function tool(name: 'verify' | 'repair' | 'dump') {
  const runText = textTool(name)
  return async (...args: string[]) => {
    const { code, lines } = await runText('--json', ...args)
    const objects: Found[] = lines.filter(Boolean).map((line) => JSON.parse(line))
    const ofType = (type: string) => objects.filter((object) => object.type === type)
    const [summary = {}] = ofType('summary')
    return { code, objects, faults: ofType('fault'), notes: ofType('note'), summary, ofType }
  }
}
