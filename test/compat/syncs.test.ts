/** In which order a log brings its files and their names to the disk, as strace sees it. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { before, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { openLog } from '../../src/open-log.js'
import { temporaryFolder } from './harness.js'
import { prepare } from './prepare.js'

before(prepare)

const script = fileURLToPath(new URL('./syncs-child.js', import.meta.url))

interface Call {
  name: string
  /** As strace has them, with the path of each descriptor. */
  text: string
}

/** The calls of a child, each at the place where it ended; one that failed is left out. */
function traced(what: string, directory: string): Call[] {
  const trace = join(temporaryFolder(), 'trace')
  const calls = 'openat,open,fsync,fdatasync,rename,renameat,renameat2,write'
  const options = ['-f', '-y', '-q', '-s', '40', '-e', `trace=${calls}`, '-o', trace]
  const args = [...options, process.execPath, script, what, directory]
  const run = spawnSync('strace', args, { encoding: 'utf8', timeout: 60_000 })
  assert.equal(run.status, 0, run.stderr)
  const begun = new Map<string, string>()
  const found: Call[] = []
  for (const line of readFileSync(trace, 'utf8').split('\n')) {
    const [, thread = '', text = ''] = /^(\d+) +(.*)$/.exec(line) ?? []
    if (text.includes('<unfinished ...>')) {
      begun.set(thread, text.replace(' <unfinished ...>', ''))
      continue
    }
    const resumed = /^<\.\.\. \w+ resumed>(.*)$/.exec(text)
    const whole = resumed ? `${begun.get(thread) ?? ''}${resumed[1]}` : text
    if (/ = -1 /.test(whole)) continue
    found.push({ name: whole.slice(0, whole.indexOf('(')), text: whole })
  }
  return found
}

/** Index of the first call from `from` on that is one of `names` and has `part` in its text. */
function indexOf(calls: Call[], names: string, part: string, from = 0): number {
  return calls.findIndex(({ name, text }, i) => {
    return i >= from && names.split(' ').includes(name) && text.includes(part)
  })
}

test('the name and the bytes of a new segment are on disk before its first record is told', () => {
  const directory = join(temporaryFolder(), 'log-0')
  const calls = traced('roll', directory)
  const made = calls.flatMap(({ name, text }, at) => {
    const [, base] = /\/(\d{20})\.log".*O_CREAT/.exec(text) ?? []
    return name.startsWith('open') && base !== undefined ? [{ base: Number(base), at }] : []
  })
  assert.ok(made.length >= 3, 'segments were rolled')
  for (const { base, at } of made) {
    const ack = indexOf(calls, 'write', `"ack ${base}\\n"`, at)
    assert.ok(ack > at)
    const synced = calls.slice(at, ack)
    const file = `${base}`.padStart(20, '0')
    assert.ok(indexOf(synced, 'fdatasync fsync', `${file}.log>`) >= 0, `bytes of ${file}`)
    assert.ok(indexOf(synced, 'fsync fdatasync', `${directory}>)`) >= 0, `name of ${file}`)
  }
})

test('a small file is written beside, synced, renamed, and its name synced', () => {
  const directory = join(temporaryFolder(), 'log-0')
  const calls = traced('roll', directory)
  for (const name of [
    'recovery-point-offset-checkpoint',
    'leader-epoch-checkpoint',
    '00000000000000000012.snapshot',
    '.kafka_cleanshutdown',
  ]) {
    const path = join(directory, name)
    const steps = [
      ['openat open', `"${path}.tmp"`],
      ['write', `${path}.tmp>`],
      ['fsync fdatasync', `${path}.tmp>`],
      ['rename renameat renameat2', `"${path}.tmp", `],
      ['fsync fdatasync', `${directory}>)`],
    ] as const
    let at = 0
    for (const [names, part] of steps) {
      const found = indexOf(calls, names, part, at)
      assert.ok(found >= 0, `${names} of ${part}`)
      at = found + 1
    }
    const inPlace = calls.filter(
      ({ text }) => text.includes(`"${path}"`) && /O_WRONLY|O_RDWR/.test(text),
    )
    assert.deepEqual(inPlace, [])
  }
})

test('after a clean stop no file of a sealed segment is opened', async () => {
  const directory = join(temporaryFolder(), 'log-0')
  const log = await openLog(directory, { segmentBytes: 1000 })
  for (let i = 0; i < 60; i++) log.append([{ value: 'x'.repeat(200) }])
  await log.close()
  const calls = traced('look', directory)
  const ready = indexOf(calls, 'write', 'ack 60')
  assert.ok(ready > 0)
  const opened = calls.slice(0, ready).flatMap(({ name, text }) => {
    const [, file = ''] = /"[^"]*\/(\d{20}\.(?:log|index|timeindex))"/.exec(text) ?? []
    return name.startsWith('open') && file ? [file.slice(0, 20)] : []
  })
  assert.equal(new Set(opened).size, 1, `files of ${opened}`)
  assert.ok(Number(opened[0]) > 50)
})
