import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import {
  appendFileSync,
  copyFileSync,
  cpSync,
  mkdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { BatchField } from '../../src/records/index.js'
import { changed } from '../support/batches.js'
import { temporaryDirectory } from '../support/tmp.js'
import { type Batch, batchesOf, change, fill, segment, tool } from './damage.js'
import { main } from './program.js'

const verify = tool('verify')

/** The one fault of a run, as kind, file, byte and offset. */
async function onlyFault(path: string): Promise<[unknown, string, unknown, unknown]> {
  const { code, faults } = await verify(path)
  assert.equal(code, 1)
  assert.equal(faults.length, 1, JSON.stringify(faults))
  const { kind, path: file, position, offset } = faults[0] ?? {}
  return [kind, String(file).slice(-5), position, offset]
}

function at(batches: Batch[], index: number): Batch {
  const batch = batches[index]
  assert.ok(batch)
  return batch
}

/** A log of 40 batches of two records, and where they lie. */
async function scene(t: TestContext): Promise<{ log: string; batches: Batch[]; folder: string }> {
  const folder = join(temporaryDirectory(t), 'orders-0')
  await fill(folder, 40)
  const log = join(folder, segment(0))
  return { log, folder, batches: batchesOf(log) }
}

test('what openLog wrote is sound, without a note', async (t) => {
  const { folder } = await scene(t)
  const { code, objects } = await verify(folder)
  assert.equal(code, 0)
  const summary = { type: 'summary', files: 6, batches: 40, records: 80, faults: 0, notes: 0 }
  assert.deepEqual(objects, [summary])
})

test('the words for people say the same', async (t) => {
  const { folder, log, batches } = await scene(t)
  const { position } = at(batches, 7)
  change(log, position + BatchField.CRC, (byte) => byte ^ 1)
  const { stdout, status } = spawnSync(process.execPath, [main, 'verify', folder], {
    encoding: 'utf8',
  })
  assert.equal(status, 1)
  const lines = stdout.split('\n')
  assert.equal(
    lines[0],
    `${log}: FAULT crc at byte ${position} (offset 14): ` +
      'the checksum does not match the bytes of the batch',
  )
  assert.equal(lines[1], 'FAULTS: 6 files, 39 batches, 78 records; 1 fault, 0 notes')
})

test('a flipped bit is a fault of its batch alone, wherever in the batch it is', async (t) => {
  const { log, batches } = await scene(t)
  const { position, header } = at(batches, 5)
  const kinds = new Map<string, string>()
  for (let byte = 0; byte < header.sizeBytes; byte += byte < BatchField.RECORDS ? 1 : 41) {
    // The leader epoch is outside the checksum, and any is as good.
    if (byte >= BatchField.LEADER_EPOCH && byte < BatchField.MAGIC) continue
    const undo = change(log, position + byte, (value) => value ^ 0x10)
    const [kind, file, where, offset] = await onlyFault(log)
    undo()
    kinds.set(String(kind), `${byte}`)
    assert.deepEqual([file, where], ['0.log', position], `byte ${byte}: ${kind}`)
    if (byte >= BatchField.LENGTH) assert.equal(offset, 10)
  }
  assert.deepEqual([...kinds.keys()].sort(), ['crc', 'header', 'length', 'magic', 'offset'])
})

test('a length that leads astray hides no batch behind it', async (t) => {
  const { log, batches } = await scene(t)
  const { position, header } = at(batches, 5)
  for (const length of [header.sizeBytes - 12 + 1, 3 * header.sizeBytes, 49, 0x7fffffff, -1]) {
    const bytes = Buffer.alloc(4)
    bytes.writeInt32BE(length)
    const undo = change(log, position + 8, () => bytes)
    const { faults, summary } = await verify(log)
    undo()
    assert.deepEqual([faults[0]?.position, faults.length], [position, 1], String(length))
    assert.equal(summary.batches, 39)
  }
})

test('records that do not decode below a right checksum are a fault', async (t) => {
  const { log, batches } = await scene(t)
  const { position, header } = at(batches, 3)
  const bytes = readFileSync(log).subarray(position, position + header.sizeBytes)
  const undoes = [
    changed(bytes, (view) => view.setUint8(BatchField.RECORDS, 7)),
    changed(bytes, (view) => view.setInt32(BatchField.COUNT, 1)),
    changed(bytes, (view) => view.setInt16(BatchField.ATTRIBUTES, 1)),
    changed(bytes, (view) => view.setInt16(BatchField.ATTRIBUTES, 7)),
  ].map((damaged) => () => change(log, position, () => Buffer.from(damaged)))
  for (const apply of undoes) {
    const undo = apply()
    assert.deepEqual(await onlyFault(log), ['records', '0.log', position, 6])
    undo()
  }
})

test('a batch that stands there twice is an offset that goes back', async (t) => {
  const { log, batches } = await scene(t)
  const { position, header } = at(batches, 39)
  appendFileSync(log, readFileSync(log).subarray(position, position + header.sizeBytes))
  const expected = ['offset', '0.log', position + header.sizeBytes, header.baseOffset]
  assert.deepEqual(await onlyFault(log), expected)
})

test('a leader epoch that goes back is a note, which its checksum cannot tell', async (t) => {
  const { log, batches } = await scene(t)
  const [leaping, behind] = [at(batches, 5), at(batches, 6)]
  change(log, leaping.position + BatchField.LEADER_EPOCH + 3, () => 9)
  const { code, notes } = await verify(log)
  assert.equal(code, 0)
  assert.deepEqual([notes[0]?.kind, notes[0]?.position], ['leader-epoch', behind.position])
})

test('a log cut in its last batch is a torn tail', async (t) => {
  const { log, batches } = await scene(t)
  const { position, header } = at(batches, 39)
  for (const bytes of [header.sizeBytes - 1, 62, 61, 60, 20, 10]) {
    truncateSync(log, position + bytes)
    rmSync(log.replace('.log', '.timeindex'), { force: true })
    assert.deepEqual(await onlyFault(log), ['torn-tail', '0.log', position, 78], String(bytes))
  }
})

test('reserved zeros are a note, and zeros with bytes behind them a fault', async (t) => {
  const { log } = await scene(t)
  const { size } = statSync(log)
  truncateSync(log, size + 3_000_000)
  const { code, notes } = await verify(log)
  assert.equal(code, 0)
  assert.deepEqual([notes[0]?.kind, notes[0]?.position], ['zero-tail', size])
  appendFileSync(log, 'x')
  assert.deepEqual(await onlyFault(log), ['zeros', '0.log', size, 80])
})

test('a hole of zeros in the middle hides no batch behind it', async (t) => {
  const { log, batches } = await scene(t)
  const from = at(batches, 3).position
  const to = at(batches, 6).position
  change(log, from, () => Buffer.alloc(to - from))
  const { faults, summary } = await verify(log)
  assert.equal(summary.batches, 37)
  const { kind, position, endPosition, offset } = faults[0] ?? {}
  assert.deepEqual([kind, position, endPosition, offset], ['zeros', from, to, 6])
})

test('a sparse file of a terabyte is told in bounded time', async (t) => {
  const { log } = await scene(t)
  truncateSync(log, 2 ** 40)
  const { faults } = await verify(log)
  assert.deepEqual([faults[0]?.kind, faults[0]?.position], ['size', 2 ** 31 - 1])
})

function offsetEntry(offset: number, position: number): Buffer {
  const bytes = Buffer.alloc(8)
  bytes.writeInt32BE(offset, 0)
  bytes.writeInt32BE(position, 4)
  return bytes
}

test('a wrong entry of an index is named, and those around it are not', async (t) => {
  const { log, folder, batches } = await scene(t)
  const index = log.replace('.log', '.index')
  const original = readFileSync(index)
  assert.ok(original.length >= 5 * 8)
  const third = { offset: original.readInt32BE(16), position: original.readInt32BE(20) }
  const { size } = statSync(log)
  const cases: [string, Buffer][] = [
    ['index-past-end', offsetEntry(third.offset, size)],
    ['index-past-end', offsetEntry(third.offset, -5)],
    ['index-past-end', offsetEntry(80, third.position)],
    ['index-no-batch', offsetEntry(third.offset, third.position + 1)],
    ['index-wrong-batch', offsetEntry(third.offset - 2, third.position)],
    ['index-wrong-batch', offsetEntry(70, third.position)],
    ['index-order', original.subarray(0, 8)],
  ]
  for (const [kind, entry] of cases) {
    const undo = change(index, 16, () => entry)
    const offset = entry.readInt32BE(0)
    assert.deepEqual(await onlyFault(folder), [kind, 'index', 16, offset])
    undo()
  }
  assert.equal(batches.length, 40)
})

test('two entries that changed places, and an entry that is cut, are faults', async (t) => {
  const { log, folder } = await scene(t)
  const index = log.replace('.log', '.index')
  const bytes = readFileSync(index)
  change(index, 8, () => Buffer.concat([bytes.subarray(16, 24), bytes.subarray(8, 16)]))
  const { faults } = await verify(folder)
  assert.deepEqual(
    faults.map(({ kind, position }) => [kind, position]),
    [['index-order', 16]],
  )
  writeFileSync(index, bytes.subarray(0, bytes.length - 3))
  const [kind, , position] = await onlyFault(folder)
  assert.deepEqual([kind, position], ['index-torn', bytes.length - 8])
})

test('zeros in an index are faults only where entries follow', async (t) => {
  const { log, folder } = await scene(t)
  const index = log.replace('.log', '.index')
  const undo = change(index, 8, () => Buffer.alloc(16))
  assert.deepEqual((await onlyFault(folder)).slice(0, 3), ['index-zeros', 'index', 8])
  undo()
  truncateSync(index, 10 * 1024 * 1024)
  assert.equal((await verify(folder)).code, 0)
})

test('a wrong entry of a time index is named, and those around it are not', async (t) => {
  const { log, folder } = await scene(t)
  const index = log.replace('.log', '.timeindex')
  const original = readFileSync(index)
  assert.ok(original.length >= 5 * 12)
  const [time, offset] = [original.readBigInt64BE(24), original.readInt32BE(32)]
  const entry = (timestamp: bigint, relative: number) => {
    const bytes = Buffer.alloc(12)
    bytes.writeBigInt64BE(timestamp, 0)
    bytes.writeInt32BE(relative, 8)
    return bytes
  }
  const cases: [string, Buffer][] = [
    ['index-wrong-time', entry(time - 1n, offset)],
    ['index-wrong-time', entry(time + 1n, offset)],
    ['index-wrong-time', entry(time, offset + 2)],
    ['index-order', entry(time + 2n ** 40n, offset)],
    ['index-order', entry(time, 1_000_000)],
    ['index-order', entry(1n, offset)],
    ['index-past-end', entry(time, -5)],
  ]
  for (const [kind, bytes] of cases) {
    const undo = change(index, 24, () => bytes)
    assert.deepEqual((await onlyFault(folder)).slice(0, 3), [kind, 'index', 24], String(kind))
    undo()
  }
  appendFileSync(index, entry(2n ** 41n, 5000))
  assert.deepEqual((await onlyFault(folder)).slice(0, 3), [
    'index-past-end',
    'index',
    original.length,
  ])
})

test('missing indexes are notes', async (t) => {
  const { log, folder } = await scene(t)
  rmSync(log.replace('.log', '.index'))
  rmSync(log.replace('.log', '.timeindex'))
  const { code, notes } = await verify(folder)
  assert.equal(code, 0)
  assert.deepEqual(
    notes.map(({ kind }) => kind),
    ['missing', 'missing'],
  )
})

test('a missing segment is a gap, and one that reaches into the next a fault', async (t) => {
  const folder = join(temporaryDirectory(t), 'orders-0')
  await fill(folder, 10, { roll: true })
  await fill(folder, 10, { roll: true })
  await fill(folder, 10)
  const middle = join(folder, segment(20))
  const kept = readFileSync(middle)
  rmSync(middle)
  const { code, notes } = await verify(folder)
  assert.equal(code, 0)
  const gap = notes.find(({ kind }) => kind === 'gap')
  assert.deepEqual([gap?.offset, String(gap?.path).slice(-5)], [20, '0.log'])
  assert.match(String(gap?.text), /offsets 20 to 39 lack/)
  assert.ok(notes.some(({ kind }) => kind === 'orphan'))
  writeFileSync(middle, kept)
  const last = join(folder, segment(40))
  copyFileSync(last, join(folder, segment(38)))
  const { faults } = await verify(folder)
  const [fault] = faults
  assert.deepEqual([fault?.kind, fault?.path, fault?.offset], ['offset', middle, 38])
})

test('a log directory is verified with every partition, checkpoint and meta file', async (t) => {
  const directory = temporaryDirectory(t)
  await fill(join(directory, 'orders-0'), 3)
  await fill(join(directory, 'orders-1'), 3)
  const write = (name: string, content: string | Buffer) =>
    writeFileSync(join(directory, name), content)
  write('meta.properties', 'version=0\nbroker.id=0\ncluster.id=abc\n')
  write('recovery-point-offset-checkpoint', '0\n1\norders 0 6\n')
  write('orders-0/leader-epoch-checkpoint', '0\n2\n0 0\n1 4\n')
  write('orders-0/partition.metadata', 'version: 0\ntopic_id: AAAAAAAAAAAAAAAAAAAAAQ')
  const { code, summary, notes } = await verify(directory)
  assert.deepEqual([code, summary.files, summary.batches, notes], [0, 15, 6, []])
  const cases: [string, string][] = [
    ['meta.properties', 'version=0\nbroker.id=x\ncluster.id=abc\n'],
    ['recovery-point-offset-checkpoint', '0\n2\norders 0 6\n'],
    ['orders-0/leader-epoch-checkpoint', '0\n2\n1 0\n0 4\n'],
    ['orders-0/partition.metadata', ''],
    ['orders-0/00000000000000000006.snapshot', 'x'],
  ]
  for (const [name, text] of cases) {
    const sound = readFileSync(join(directory, name))
    write(name, text)
    const { faults } = await verify(directory)
    assert.deepEqual(
      faults.map(({ kind, path }) => [kind, path]),
      [['content', join(directory, name)]],
    )
    assert.equal((await verify(join(directory, name))).code, 1)
    write(name, sound)
  }
  // Kafka makes them empty.
  write('log-start-offset-checkpoint', '')
  write('recovery-point-offset-checkpoint', '0\n1\norders 0 7\n')
  mkdirSync(join(directory, 'strange'))
  const odd = await verify(directory)
  assert.equal(odd.code, 0)
  assert.deepEqual(
    odd.notes.map(({ kind }) => kind),
    ['foreign', 'beyond-end'],
  )
})

test('nothing of a directory is changed, not even by its lock', async (t) => {
  const { folder, log } = await scene(t)
  appendFileSync(log, 'torn')
  const before = join(temporaryDirectory(t), 'before')
  cpSync(folder, before, { recursive: true })
  await verify(folder)
  const { status, stdout } = spawnSync('diff', ['-r', before, folder], { encoding: 'utf8' })
  assert.deepEqual([status, stdout], [0, ''])
})

test('random bytes, empty files, FIFOs and folders named as logs crash nothing', async (t) => {
  const folder = temporaryDirectory(t)
  const path = join(folder, segment(0))
  let seed = 7
  const noise = Buffer.alloc(300_000)
  for (let i = 0; i < noise.length; i++) {
    seed = (seed * 1103515245 + 12345) & 0x7fffffff
    noise[i] = seed >> 16
  }
  for (const name of ['0.log', '0.index', '0.timeindex']) {
    writeFileSync(path.replace('0.log', name), noise)
  }
  const random = await verify(folder)
  assert.equal(random.code, 1)
  assert.equal(random.faults.filter(({ path }) => String(path).endsWith('.log')).length, 1)
  for (const suffix of ['.log', '.index', '.timeindex']) {
    writeFileSync(path.replace('.log', suffix), '')
  }
  assert.equal((await verify(folder)).code, 0)
  for (const make of [() => spawnSync('mkfifo', [path]), () => mkdirSync(path)]) {
    rmSync(path, { recursive: true })
    make()
    assert.deepEqual((await verify(folder)).faults[0]?.kind, 'unreadable')
  }
  spawnSync('mkfifo', [join(folder, 'leader-epoch-checkpoint')])
  assert.equal((await verify(folder)).code, 1)
})

test('what holds no log is a wrong call, and what is not there a fault', async (t) => {
  const folder = temporaryDirectory(t)
  writeFileSync(join(folder, 'notes.txt'), 'x')
  for (const args of [[], ['--nothing'], [folder], [join(folder, 'notes.txt')]]) {
    const { status, stderr } = spawnSync(process.execPath, [main, 'verify', ...args], {
      encoding: 'utf8',
    })
    assert.equal(status, 2)
    assert.match(stderr, /usage: seglog verify/)
  }
  assert.equal((await verify(join(folder, 'none'))).code, 1)
})
