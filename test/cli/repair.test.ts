import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { openLog } from '../../src/index.js'
import { native } from '../../src/native.js'
import { BatchField } from '../../src/records/index.js'
import { changed } from '../support/batches.js'
import { temporaryDirectory } from '../support/tmp.js'
import { batchesOf, change, type Found, fill, segment, textTool, tool } from './damage.js'
import { main, seglog } from './program.js'

const meta = 'version=0\nbroker.id=0\ncluster.id=abc\n'

const verify = tool('verify')
const repair = tool('repair')

function at<T>(list: readonly T[], index: number): T {
  const item = list[index]
  assert.ok(item !== undefined)
  return item
}

/** Offsets and values of all records. */
async function recordsOf(folder: string): Promise<[number, string][]> {
  const log = await openLog(folder)
  const records: [number, string][] = []
  for await (const { offset, value } of log.read()) records.push([Number(offset), String(value)])
  await log.close()
  return records
}

function actionsOf({ ofType }: { ofType(type: string): Found[] }): [unknown, string][] {
  return ofType('action').map(({ action, path }) => [action, basename(String(path))])
}

const files = (baseOffset: number) =>
  ['.index', '.log', '.timeindex'].map((suffix) => segment(baseOffset).replace('.log', suffix))

const snapshot = (offset: number) => segment(offset).replace('.log', '.snapshot')

function backupOf({ ofType }: { ofType(type: string): Found[] }): string {
  return String(at(ofType('backup'), 0).path)
}

/** A log of two segments, 20 batches of two records in each. */
async function scene(t: TestContext) {
  const folder = join(temporaryDirectory(t), 'orders-0')
  await fill(folder, 20, { roll: true })
  await fill(folder, 20)
  const records = await recordsOf(folder)
  assert.equal(records.length, 80)
  return { folder, records, first: join(folder, segment(0)), last: join(folder, segment(40)) }
}

function damageBatch(log: string, index: number): { from: number; to: number; offset: number } {
  const { position, header } = at(batchesOf(log), index)
  change(log, position + BatchField.RECORDS + 9, (byte) => byte ^ 4)
  return { from: position, to: position + header.sizeBytes, offset: header.baseOffset }
}

test('a sound log is left as it is, and no copy is made', async (t) => {
  const { folder } = await scene(t)
  const before = readdirSync(folder)
  const repaired = await repair(folder)
  assert.equal(repaired.code, 0)
  assert.deepEqual(actionsOf(repaired), [])
  assert.deepEqual(readdirSync(folder), before)
  assert.deepEqual(readdirSync(dirname(folder)), ['orders-0'])
})

test('a torn tail is cut and copied, and the records before are as they were', async (t) => {
  const { folder, last, records } = await scene(t)
  const { position } = at(batchesOf(last), 19)
  truncateSync(last, position + 100)
  const torn = readFileSync(last)
  const repaired = await repair(folder)
  assert.equal(repaired.code, 0)
  const [cut] = repaired.ofType('action')
  const { action, path, endPosition, offsetFrom } = cut ?? {}
  assert.deepEqual([action, path, cut?.position], ['cut', last, position])
  assert.deepEqual([endPosition, offsetFrom], [position + 100, 78])
  assert.match(String(cut?.text), /lost: offsets from 78 on$/)
  assert.equal(statSync(last).size, position)
  const backup = backupOf(repaired)
  assert.match(backup, new RegExp(`^${folder}\\.backup-\\d{8}T\\d{6}Z$`))
  assert.deepEqual(readFileSync(join(backup, 'orders-0', segment(40))), torn)
  assert.deepEqual(readdirSync(join(backup, 'orders-0')), [...files(40), snapshot(80)])
  const again = await verify(folder)
  assert.deepEqual([again.code, again.faults, again.notes], [0, [], []])
  assert.deepEqual(await recordsOf(folder), records.slice(0, 78))
})

test('damage in the middle is kept and told, and the log is as it was', async (t) => {
  const { folder, first } = await scene(t)
  const { from, to } = damageBatch(first, 5)
  const before = readFileSync(first)
  const repaired = await repair(folder)
  assert.equal(repaired.code, 1)
  assert.deepEqual(actionsOf(repaired), [])
  const kept = at(repaired.ofType('kept'), 0)
  assert.deepEqual([kept.path, kept.position, kept.endPosition], [first, from, to])
  assert.match(String(kept.text), /in place of offsets 10 to 11; --drop-damaged/)
  assert.deepEqual(readFileSync(first), before)
})

test('--drop-damaged leaves out what is damaged, and no more', async (t) => {
  const { folder, first, records } = await scene(t)
  const bytes = readFileSync(first)
  const { from, to } = damageBatch(first, 5)
  change(first, at(batchesOf(first), 9).position, () => Buffer.alloc(300, 'x'))
  const damaged = readFileSync(first)
  const repaired = await repair('--drop-damaged', folder)
  assert.equal(repaired.code, 0)
  const drops = repaired.ofType('action').filter(({ action }) => action === 'drop')
  assert.deepEqual(
    drops.map(({ position, offsetFrom, offsetTo }) => [position, offsetFrom, offsetTo]),
    [
      [from, 10, 11],
      [drops[1]?.position, 18, 19],
    ],
  )
  assert.deepEqual(readFileSync(join(backupOf(repaired), 'orders-0', segment(0))), damaged)
  const now = readFileSync(first)
  assert.deepEqual(now.subarray(0, from), bytes.subarray(0, from))
  assert.deepEqual(now.subarray(from, from + 500), bytes.subarray(to, to + 500))
  const again = await verify(folder)
  assert.deepEqual([again.code, again.faults, again.notes], [0, [], []])
  const lost = new Set([10, 11, 18, 19])
  assert.deepEqual(
    await recordsOf(folder),
    records.filter(([offset]) => !lost.has(offset)),
  )
})

test('a last batch with a right checksum is no torn tail, though it does not decode', async (t) => {
  const { folder, last } = await scene(t)
  const { position, bytes } = at(batchesOf(last), 19)
  const broken = changed(bytes, (view) => view.setInt32(BatchField.COUNT, 1))
  change(last, position, () => Buffer.from(broken))
  const kept = await repair(folder)
  assert.deepEqual([kept.code, actionsOf(kept)], [1, []])
  assert.equal(kept.ofType('kept')[0]?.position, position)
  assert.equal((await repair('--drop-damaged', folder)).code, 0)
  assert.equal(statSync(last).size, position)
  assert.equal((await verify(folder)).code, 0)
})

test('a dry run says the same and changes nothing', async (t) => {
  const { folder, first, last } = await scene(t)
  damageBatch(first, 5)
  appendFileSync(last, 'torn')
  rmSync(join(folder, '.lock'), { force: true })
  const names = readdirSync(folder)
  const before = names.map((name) => readFileSync(join(folder, name)))
  const dry = await repair('--dry-run', '--drop-damaged', folder)
  assert.equal(dry.code, 1)
  assert.deepEqual(readdirSync(folder), names)
  assert.deepEqual(readdirSync(dirname(folder)), ['orders-0'])
  for (const [i, name] of names.entries()) {
    assert.deepEqual(readFileSync(join(folder, name)), before[i], name)
  }
  const wet = await repair('--drop-damaged', folder)
  assert.equal(wet.code, 0)
  assert.deepEqual(actionsOf(dry), actionsOf(wet))
  assert.deepEqual(
    actionsOf(dry)
      .map(([action]) => action)
      .sort(),
    ['cut', ...['drop', 'index', 'index', 'index', 'index']],
  )
})

test('wrong and missing indexes are made anew, beside damage that is kept too', async (t) => {
  const { folder, first, last } = await scene(t)
  const index = first.replace('.log', '.index')
  change(first, at(batchesOf(first), 15).position + 8, () => Buffer.from('zzzz'))
  change(index, 3, (byte) => byte - 2)
  rmSync(last.replace('.log', '.timeindex'))
  rmSync(last.replace('.log', '.index'))
  const repaired = await repair(folder)
  assert.equal(repaired.code, 1)
  assert.equal(actionsOf(repaired).length, 4)
  const { faults, notes } = await verify(folder)
  assert.deepEqual([faults.length, at(faults, 0).path, notes], [1, first, []])
  assert.ok(statSync(index).size > 0)
})

test('the indexes that are made are those that an append makes', async (t) => {
  const folder = join(temporaryDirectory(t), 'orders-0')
  await fill(folder, 60, { indexIntervalBytes: 4096 })
  const paths = files(0)
    .filter((name) => !name.endsWith('.log'))
    .map((name) => join(folder, name))
  const before = paths.map((path) => readFileSync(path))
  for (const path of paths) {
    assert.ok(statSync(path).size > 24)
    rmSync(path)
  }
  assert.equal((await repair(folder)).code, 0)
  for (const [i, path] of paths.entries()) assert.deepEqual(readFileSync(path), before[i], path)
})

test('in a log directory the copies lie beside it, and a damaged checkpoint goes', async (t) => {
  const home = temporaryDirectory(t)
  const directory = join(home, 'data')
  mkdirSync(directory)
  const write = (name: string, text: string) => writeFileSync(join(directory, name), text)
  write('meta.properties', meta)
  write('recovery-point-offset-checkpoint', '0\n7\n')
  const folder = join(directory, 'orders-0')
  await fill(folder, 5)
  write('orders-0/leader-epoch-checkpoint', 'x')
  write(`orders-0/${snapshot(99)}`, 'x')
  appendFileSync(join(folder, segment(0)), 'torn')
  const one = await repair(folder)
  assert.equal(dirname(backupOf(one)), home)
  assert.deepEqual(actionsOf(one), [
    ['cut', segment(0)],
    ['index', files(0)[0]],
    ['index', files(0)[2]],
    ['remove', snapshot(99)],
    ['remove', 'leader-epoch-checkpoint'],
  ])
  appendFileSync(join(folder, segment(0)), 'torn')
  const all = await repair('--backup', join(home, 'copies'), directory)
  assert.equal(all.code, 0)
  const copies = join(home, 'copies', 'data')
  assert.deepEqual(readdirSync(copies), ['orders-0', 'recovery-point-offset-checkpoint'])
  assert.ok(!existsSync(join(directory, 'recovery-point-offset-checkpoint')))
  assert.deepEqual(readdirSync(directory).sort(), ['.lock', 'meta.properties', 'orders-0'])
  assert.equal((await verify(directory)).code, 0)
})

test('what cannot be derived is kept', async (t) => {
  const directory = temporaryDirectory(t)
  writeFileSync(join(directory, 'meta.properties'), 'version=0')
  const { code, ofType } = await repair(directory)
  assert.equal(code, 1)
  assert.equal(basename(String(at(ofType('kept'), 0).path)), 'meta.properties')
  assert.equal(readFileSync(join(directory, 'meta.properties'), 'utf8'), 'version=0')
})

test('a log that is open is refused with LOCKED, and so is that of a broker', async (t) => {
  const { folder } = await scene(t)
  const log = await openLog(folder)
  await assert.rejects(repair(folder), { code: 'LOCKED' })
  assert.equal((await repair('--dry-run', folder)).code, 0)
  await log.close()
  writeFileSync(join(dirname(folder), 'meta.properties'), meta)
  const lock = native.lockAcquire(join(dirname(folder), '.lock'))
  assert.ok(lock > 0)
  await assert.rejects(repair(folder), { code: 'LOCKED' })
  await assert.rejects(repair(dirname(folder)), { code: 'LOCKED' })
  assert.equal(native.lockRelease(lock), 0)
  assert.equal((await repair(folder)).code, 0)
})

test('copies are not put into a log directory, nor over what is there', async (t) => {
  const { folder } = await scene(t)
  const parent = dirname(folder)
  writeFileSync(join(parent, 'meta.properties'), meta)
  const taken = temporaryDirectory(t)
  writeFileSync(join(taken, 'x'), '')
  for (const backup of [join(parent, 'copies'), join(folder, 'copies'), taken]) {
    await assert.rejects(repair('--backup', backup, folder), { code: 'BAD_ARGUMENT' })
    assert.ok(backup === taken || !existsSync(backup))
  }
})

test('a wrong call exits 2', async (t) => {
  const folder = temporaryDirectory(t)
  for (const args of [[], ['--nothing'], [folder], ['a', 'b']]) {
    const { status, stderr } = spawnSync(process.execPath, [main, 'repair', ...args], {
      encoding: 'utf8',
    })
    assert.equal(status, 2)
    assert.match(stderr, /usage: seglog repair/)
  }
})

test('each line of text is a sentence, and begins with the path as given', async (t) => {
  const { folder, last } = await scene(t)
  rmSync(join(folder, files(0)[0] ?? ''))
  truncateSync(last, at(batchesOf(last), 19).position + 20)
  const home = dirname(folder)
  const dry = seglog(t, ['repair', '--dry-run', 'orders-0'], home)
  assert.equal(await dry.exited, 1)
  assert.match(dry.stdout(), /^orders-0\/0{20}\.index: would be made anew from the log$/m)
  const program = seglog(t, ['repair', 'orders-0'], home)
  assert.equal(await program.exited, 0)
  const text = program.stdout()
  assert.match(text, /^orders-0\/0{20}\.index: made anew from the log$/m)
  assert.match(text, /^orders-0\/0+40\.log: cut 20 bytes at byte \d+; lost: offsets from 78 on$/m)
  assert.match(text, /^copies of what was changed, as it was: orders-0\.backup-\w+$/m)
  assert.ok(existsSync(join(home, /orders-0\.backup-\w+/.exec(text)?.[0] ?? 'none')))
})

test('what is kept and what is removed is told in a sentence', async (t) => {
  const { folder } = await scene(t)
  const directory = dirname(folder)
  writeFileSync(join(directory, 'meta.properties'), 'nonsense')
  writeFileSync(join(directory, 'recovery-point-offset-checkpoint'), 'nonsense')
  const { code, lines } = await textTool('repair')(directory)
  assert.equal(code, 1)
  const ends = (text: string) => lines.some((line) => line.endsWith(text))
  assert.ok(ends('.properties: kept: it cannot be derived from anything; restore it by hand'))
  assert.ok(ends(': removed: what it held is derived from the logs when they are opened'))
})
