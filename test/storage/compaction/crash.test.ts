/**
 * A process that dies at any rename or unlink of a compaction: after the start the last value of
 * each key is there, no two segments overlap, and no file is left over.
 */
import assert from 'node:assert/strict'
import { cpSync, readdirSync, unlinkSync as unlink } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { native } from '../../../src/native.js'
import { Interrupted } from '../../../src/storage/compaction/compaction-state.js'
import { copyLive } from '../../support/copy.js'
import { temporaryDirectory } from '../../support/tmp.js'
import { filesOf, open } from '../log-fixture.js'
import { compactAll, lastValues, put, sorted } from './compaction-fixture.js'

const segmentBytes = 1 << 16

/** Three segments whose records supersede one another, and an active one. */
async function made(directory: string, t: Parameters<typeof open>[0]) {
  const log = await open(t, directory, { fileDeleteDelayMs: 0, segmentBytes })
  for (let round = 0; round < 3; round++) {
    for (let i = 0; i < 6; i++) put(log, [[`k${(round + i) % 8}`, `${round}.${i}`]])
    log.roll()
  }
  await log.flush()
  return log
}

/** Names of all files of segments with which a start may find the folder. */
function statesOf(directory: string): string {
  return readdirSync(directory).sort().join(' ')
}

test('a compaction that is cut short anywhere is taken up or dropped by the start', async (t) => {
  const base = temporaryDirectory(t)
  const directory = join(base, 'log')
  const log = await made(directory, t)
  const expected = lastValues(log)
  const copies: string[] = []
  let last = ''
  const copyIfChanged = () => {
    const state = statesOf(directory)
    if (state === last) return
    last = state
    const copy = join(base, `copy-${copies.length}`)
    copyLive(directory, copy)
    copies.push(copy)
  }
  let isOver = false
  const run = compactAll(log).finally(() => {
    isOver = true
  })
  while (!isOver) {
    copyIfChanged()
    await new Promise((resolve) => setImmediate(resolve))
  }
  await run
  await log.close()
  copyIfChanged()
  assert.ok(copies.length >= 4, `only ${copies.length} states were seen`)
  for (const copy of copies) await check(copy)

  async function check(copy: string) {
    const again = await open(t, copy, { recoveryPoint: 12 })
    assert.deepEqual(lastValues(again), expected, copy)
    assert.equal(again.endOffset, 18)
    assert.deepEqual(
      readdirSync(copy).filter((name) => /cleaned|swap|deleted/.test(name)),
      [],
    )
    await again.close()
  }
})

const ENDINGS = ['.log', '.index', '.timeindex']

/** Every order of names that a kill between two renames can leave, made by hand. */
async function statesByHand(t: Parameters<typeof open>[0], base: string) {
  const before = join(base, 'before')
  const log = await made(before, t)
  const expected = lastValues(log)
  await log.close()
  const after = join(base, 'after')
  cpSync(before, after, { recursive: true })
  const compacted = await open(t, after, { clean: true, fileDeleteDelayMs: 0, segmentBytes })
  await compacted.compact({ limitOffset: 18, bufferBytes: 1 << 20 })
  await compacted.close()
  const olds = filesOf(before, '.log').slice(0, -1)
  const [name] = filesOf(after, '.log')
  assert.ok(name)
  return { before, after, olds, stem: name.slice(0, -4), expected }
}

test('a start settles every state between two renames', async (t) => {
  const base = temporaryDirectory(t)
  const { before, after, olds, stem, expected } = await statesByHand(t, base)
  const oldFiles = olds.flatMap((name) => ENDINGS.map((ending) => name.slice(0, -4) + ending))
  // cleaned -> swap (3), old -> deleted (3 each), swap -> '' (3).
  const steps = 3 + oldFiles.length + 3
  for (let step = 0; step <= steps; step++) {
    const copy = join(base, `step-${step}`)
    cpSync(before, copy, { recursive: true })
    const swapped = Math.min(3, step)
    const removed = Math.max(0, Math.min(oldFiles.length, step - 3))
    const settled = Math.max(0, step - 3 - oldFiles.length)
    for (const file of oldFiles.slice(0, removed)) {
      cpSync(join(copy, file), join(copy, `${file}.deleted`))
      unlink(join(copy, file))
    }
    for (const [i, ending] of ENDINGS.entries()) {
      const suffix = i < settled ? '' : i < swapped ? '.swap' : '.cleaned'
      cpSync(join(after, stem + ending), join(copy, `${stem}${ending}${suffix}`))
    }
    for (const recoveryPoint of [undefined, 0, 7, 18]) {
      const log = await openCopy(t, copy, { recoveryPoint })
      assert.deepEqual(lastValues(log), expected, `step ${step}, recovery point ${recoveryPoint}`)
      const isWhole = log.segmentCount === 2 || log.segmentCount === olds.length + 1
      assert.ok(isWhole, `step ${step}: ${log.segmentCount} segments`)
      await log.close()
    }
    for (const logStartOffset of [5, 7, 13, 18]) {
      const of = await openCopy(t, copy, { recoveryPoint: 18, logStartOffset })
      const what = `step ${step}, deleted below ${logStartOffset}`
      assert.equal(of.startOffset, logStartOffset, what)
      assert.deepEqual(lastValues(of), valuesFrom(logStartOffset), what)
      await of.close()
    }
  }
})

/** A start on a copy of the folder leaves nothing of a compaction behind, whatever it finds. */
async function openCopy(
  t: Parameters<typeof open>[0],
  directory: string,
  options: Parameters<typeof open>[2],
) {
  const work = join(temporaryDirectory(t), 'log')
  cpSync(directory, work, { recursive: true })
  const log = await open(t, work, options)
  assert.equal(log.endOffset, 18)
  assert.equal(log.report.damage, undefined)
  const left = readdirSync(work).filter((name) => /cleaned|swap|deleted/.test(name))
  assert.deepEqual(left, [])
  return log
}

/** What `made` puts at and above an offset. */
function valuesFrom(offset: number): Record<string, string> {
  const values = new Map<string, string>()
  for (let at = offset; at < 18; at++) {
    const [round, i] = [Math.floor(at / 6), at % 6]
    values.set(`k${(round + i) % 8}`, `${round}.${i}`)
  }
  return sorted(values)
}

test('records that are deleted at the start meanwhile stay so after a kill', async (t) => {
  for (const at of [1, 2, 3, 4, 5, 6]) {
    const directory = join(temporaryDirectory(t), 'log')
    const log = await made(directory, t)
    const rename = native.segmentRename
    let calls = 0
    const copies: { copy: string; start: number }[] = []
    const kill = () => {
      const copy = join(temporaryDirectory(t), 'log')
      copyLive(directory, copy)
      copies.push({ copy, start: log.startOffset })
    }
    native.segmentRename = async (handle, suffix) => {
      if (++calls === at) log.deleteBefore(13)
      kill()
      const renamed = await rename(handle, suffix)
      kill()
      return renamed
    }
    try {
      const run = log.compact({ limitOffset: 18, bufferBytes: 1 << 20 })
      await run.catch((error) => assert.ok(error instanceof Interrupted, String(error)))
    } finally {
      native.segmentRename = rename
    }
    await log.close()
    kill()
    assert.ok(copies.length >= 3)
    for (const { copy, start } of copies) {
      const again = await openCopy(t, copy, { recoveryPoint: 18, logStartOffset: start })
      assert.deepEqual(lastValues(again), valuesFrom(start), `renamed ${at}, from ${start}`)
      await again.close()
    }
  }
})

test('a rename that fails leaves the old segments, or fences the log', async (t) => {
  const rename = native.segmentRename
  t.after(() => {
    native.segmentRename = rename
  })
  for (let failing = 1; failing <= 5; failing++) {
    const directory = temporaryDirectory(t)
    const log = await made(directory, t)
    const expected = lastValues(log)
    let calls = 0
    native.segmentRename = (handle, suffix) => {
      calls++
      if (calls === failing) return Promise.reject(Object.assign(new Error('EIO'), { errno: 5 }))
      return rename(handle, suffix)
    }
    await assert.rejects(log.compact({ limitOffset: 18, bufferBytes: 1 << 20 }), /EIO/)
    native.segmentRename = rename
    assert.deepEqual(lastValues(log), expected)
    const cleaned = filesOf(directory, '.cleaned')
    assert.deepEqual(cleaned, [])
    await log.close().catch(() => {})
    const again = await open(t, directory, { recoveryPoint: 18 })
    assert.deepEqual(lastValues(again), expected)
    await again.close()
  }
})
