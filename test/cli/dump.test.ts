import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import {
  closeSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Writable } from 'node:stream'
import { after, test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { run } from '../../src/cli/dump.js'
import { BatchField, buildBatch } from '../../src/records/index.js'
import { codecNames, kafkaFixtures } from '../records/helpers.js'
import { message, messageSet } from '../records/old-messages.js'
import { main } from './program.js'

const directory = mkdtempSync(join(tmpdir(), 'seglog-dump-'))
after(() => rmSync(directory, { recursive: true }))

let files = 0

/** A file of this content in a folder of its own, so that no other lies beside it. */
function file(content: Uint8Array, name = `${'0'.repeat(20)}.log`): string {
  const folder = join(directory, `t-${files++}`)
  mkdirSync(folder)
  writeFileSync(join(folder, name), content)
  return join(folder, name)
}

function sink() {
  const chunks: string[] = []
  const stream = new Writable({
    write(chunk, _encoding, done) {
      chunks.push(String(chunk))
      setImmediate(done)
    },
  })
  return { stream, text: () => chunks.join('') }
}

async function dump(...args: string[]) {
  const stdout = sink()
  const stderr = sink()
  const code = await run(args, { stdout: stdout.stream, stderr: stderr.stream })
  const out = stdout.text()
  return { code, out, lines: out.trimEnd().split('\n'), err: stderr.text() }
}

async function dumpJson(...args: string[]) {
  const { code, lines } = await dump('--json', ...args)
  const objects: Record<string, unknown>[] = lines.map((line) => JSON.parse(line))
  return { code, objects, ofType: (type: string) => objects.filter((o) => o.type === type) }
}

const one = Buffer.from(
  buildBatch([{ key: 'k', value: 'v', timestamp: 7 }], { leaderEpoch: 3, timestamp: 7 }),
)
const two = Buffer.from(
  buildBatch(
    [
      { value: 'a\tb', headers: { h: 'x' } },
      { key: '', value: Buffer.from([0xff, 0xfe]) },
    ],
    { baseOffset: 1, timestamp: 8, producer: { id: 5, epoch: 1, baseSequence: 9 } },
  ),
)
const log = Buffer.concat([one, two])

test('a whole log is one line a batch in the words of Kafka, and exits 0', async () => {
  const path = file(log)
  const { code, lines } = await dump(path)
  assert.equal(code, 0)
  assert.deepEqual(lines.slice(0, 3), [
    `Dumping ${path}`,
    'Log starting offset: 0',
    'baseOffset: 0 lastOffset: 0 count: 1 baseSequence: -1 lastSequence: -1 producerId: -1 ' +
      'producerEpoch: -1 partitionLeaderEpoch: 3 isTransactional: false isControl: false ' +
      'deleteHorizonMs: none position: 0 CreateTime: 7 size: 70 magic: 2 compresscodec: none ' +
      `crc: ${one.readUInt32BE(BatchField.CRC)} isvalid: true`,
  ])
  assert.match(
    lines[3] ?? '',
    /^baseOffset: 1 lastOffset: 2 count: 2 baseSequence: 9 lastSeq.* 10 /,
  )
  assert.equal(lines.length, 4)
})

test('records are printed on demand, with what is no plain text in base64', async () => {
  const { lines } = await dump('--print-data', file(log))
  assert.deepEqual(
    lines.filter((line) => line.startsWith('|')),
    [
      '| offset: 0 CreateTime: 7 keySize: 1 valueSize: 1 sequence: -1 headerKeys: [] ' +
        'key: k payload: v',
      '| offset: 1 CreateTime: 8 keySize: -1 valueSize: 3 sequence: 9 headerKeys: [h] ' +
        'payload: base64:YQli',
      '| offset: 2 CreateTime: 8 keySize: 0 valueSize: 2 sequence: 10 headerKeys: [] ' +
        'key:  payload: base64://4=',
    ],
  )
})

test('--records prints keys and sizes, and no payload', async () => {
  const { out } = await dump('--records', file(log))
  assert.match(out, /key: k$/m)
  assert.doesNotMatch(out, /payload/)
})

test('--json gives one object a line', async () => {
  const { code, objects } = await dumpJson('--print-data', file(log))
  assert.equal(code, 0)
  assert.deepEqual(
    objects.map(({ type }) => type),
    ['file', 'batch', 'record', 'batch', 'record', 'record'],
  )
  assert.equal(objects[1]?.isvalid, true)
  assert.deepEqual(objects[4], {
    type: 'record',
    offset: 1,
    CreateTime: 8,
    keySize: -1,
    valueSize: 3,
    sequence: 9,
    key: null,
    value: 'YQli',
    valueEncoding: 'base64',
    headers: [{ key: 'h', value: 'x' }],
  })
})

test('batches that Kafka wrote with every codec are dumped with their records', async () => {
  const fixtures = kafkaFixtures()
  for (const name of codecNames) {
    const path = file(fixtures.get(name) ?? Buffer.alloc(0))
    const { code, ofType } = await dumpJson('--records', path)
    assert.equal(code, 0, name)
    assert.equal(ofType('batch')[0]?.compresscodec, name)
    assert.equal(ofType('record').length, 4, name)
  }
})

test('a marker of a transaction is told as such', async () => {
  const { out } = await dump('--records', file(kafkaFixtures().get('commit-marker') ?? log))
  assert.match(out, /isControl: true/)
  assert.match(out, /controlType: COMMIT/)
})

test('a log cut in its last batch is a torn tail at its position', async () => {
  // Up to its eighth byte the batch is zeros, which are no damage.
  for (let end = one.length + 8; end < log.length; end++) {
    const { code, ofType } = await dumpJson(file(log.subarray(0, end)))
    assert.equal(code, 1)
    assert.equal(ofType('batch').length, 1)
    const [damage] = ofType('damage')
    assert.deepEqual([damage?.kind, damage?.position], ['torn-tail', one.length], `cut at ${end}`)
  }
})

test('a tail of zeros is reserved space and no damage', async () => {
  for (const zeros of [1, 61, 3 * 1024 * 1024]) {
    const { code, ofType } = await dumpJson(file(Buffer.concat([log, Buffer.alloc(zeros)])))
    assert.equal(code, 0)
    assert.equal(ofType('batch').length, 2)
    const [note] = ofType('note')
    assert.equal(note?.position, log.length)
    assert.match(String(note?.text), new RegExp(`zero tail of ${zeros} bytes?: `))
  }
})

test('zeros with bytes behind them are damage, which names the first of those', async () => {
  const bytes = Buffer.concat([log, Buffer.alloc(2 * 1024 * 1024), Buffer.from('x')])
  const { code, ofType } = await dumpJson(file(bytes))
  assert.equal(code, 1)
  const [damage] = ofType('damage')
  assert.deepEqual([damage?.kind, damage?.position], ['corrupt', log.length])
  assert.match(String(damage?.text), new RegExp(` from ${bytes.length - 1}$`))
})

test('a sparse file of a terabyte is told from reserved space, in bounded time', async () => {
  for (const [path, position] of [
    [file(log), log.length],
    [file(Buffer.from([0, 0, 0, 2, 0, 0, 0, 70]), `${'0'.repeat(20)}.index`), 8],
  ] as const) {
    truncateSync(path, 2 ** 40)
    const { code, ofType } = await dumpJson(path)
    assert.equal(code, 1)
    assert.equal(ofType('damage')[0]?.position, position)
    assert.match(String(ofType('damage')[0]?.text), new RegExp(`${2 ** 40 - position} bytes from`))
  }
})

test('a FIFO is refused instead of waited for', () => {
  const path = join(directory, 'fifo.log')
  assert.equal(spawnSync('mkfifo', [path]).status, 0)
  const { status, stderr } = spawnSync(process.execPath, [main, 'dump', path], {
    encoding: 'utf8',
    timeout: 20_000,
  })
  assert.equal(status, 1)
  assert.match(stderr, /fifo\.log is not a regular file/)
})

test('an output that cannot be written is an error with exit code 1', () => {
  const full = openSync('/dev/full', 'w')
  const { status, stderr } = spawnSync(process.execPath, [main, 'dump', file(log)], {
    encoding: 'utf8',
    timeout: 20_000,
    stdio: ['ignore', full, 'pipe'],
  })
  closeSync(full)
  assert.equal(status, 1)
  assert.match(stderr, /^seglog: stdout cannot be written: ENOSPC[^\n]*\n$/)
})

test('a flipped bit ends the dump at its batch', async () => {
  const bytes = Buffer.concat([log, buildBatch([{}], { baseOffset: 3 })])
  const flipped = one.length + BatchField.RECORDS + 3
  bytes[flipped] = (bytes[flipped] ?? 0) ^ 4
  const { code, ofType } = await dumpJson('--records', file(bytes))
  assert.equal(code, 1)
  assert.deepEqual(
    ofType('batch').map(({ isvalid }) => isvalid),
    [true, false],
  )
  assert.equal(ofType('record').length, 1)
  assert.equal(ofType('damage')[0]?.position, one.length)
})

test('a batch of several windows is checked without being held', async () => {
  const big = buildBatch([{ value: Buffer.alloc(5 * 1024 * 1024, 'x') }], { baseOffset: 3 })
  const bytes = Buffer.concat([log, big])
  assert.equal((await dump(file(bytes))).code, 0)
  bytes[bytes.length - 2] = 0
  const { code, ofType } = await dumpJson(file(bytes))
  assert.equal(code, 1)
  assert.equal(ofType('damage')[0]?.position, log.length)
})

test('an offset that goes back is damage', async () => {
  const { code, ofType } = await dumpJson(file(Buffer.concat([one, one])))
  assert.equal(code, 1)
  assert.match(String(ofType('damage')[0]?.text), /offset 0 where 1 or more is due/)
})

test('an offset below that of the name is damage', async () => {
  const { ofType } = await dumpJson(file(one, `${'0'.repeat(18)}10.log`))
  assert.match(String(ofType('damage')[0]?.text), /offset 0 where 10 or more is due/)
})

test('records that lie below a right CRC are damage with --records', async () => {
  const bytes = Buffer.from(kafkaFixtures().get('gzip') ?? one)
  bytes[BatchField.RECORDS] = 0
  const { native } = await import('../../src/native.js')
  const length = bytes.length - BatchField.ATTRIBUTES
  bytes.writeUInt32BE(native.crc32c(bytes, BatchField.ATTRIBUTES, length, 0), BatchField.CRC)
  const path = file(bytes)
  assert.equal((await dump(path)).code, 0)
  const { code, ofType } = await dumpJson('--records', path)
  assert.equal(code, 1)
  assert.match(String(ofType('damage')[0]?.text), /gzip/)
})

test('an empty log is whole', async () => {
  assert.equal((await dump(file(Buffer.alloc(0)))).code, 0)
})

test('messages of magic 0 and 1 are dumped, those inside a compressed one too', async () => {
  const inner = messageSet(1, { offset: 0, timestamp: 7, value: 'a' }, { offset: 1, value: 'b' })
  const wrapper = { offset: 2, timestamp: 7, attributes: 1, value: gzipSync(inner) }
  const old = [message(0, { key: 'k', value: 'v' }), message(1, wrapper)]
  const path = file(Buffer.concat([...old, buildBatch([{}], { baseOffset: 3 })]))
  const { code, ofType } = await dumpJson('--print-data', path)
  assert.equal(code, 0)
  assert.deepEqual(
    ofType('batch').map(({ magic, lastOffset, isvalid }) => [magic, lastOffset, isvalid]),
    [
      [0, 0, true],
      [1, 2, true],
      [2, 3, true],
    ],
  )
  assert.deepEqual(
    ofType('record').map(({ offset, CreateTime, value }) => [offset, CreateTime, value]),
    [
      [0, -1, 'v'],
      [1, 7, 'a'],
      [2, -1, 'b'],
      [3, -1, null],
    ],
  )
})

test('a directory is dumped log by log in the order of offsets', async () => {
  const folder = join(directory, 'orders-0')
  mkdirSync(folder)
  const later = buildBatch([{}], { baseOffset: 10 })
  writeFileSync(join(folder, '00000000000000000010.log'), later)
  writeFileSync(join(folder, '00000000000000000000.log'), log)
  writeFileSync(join(folder, 'partition.metadata'), 'version: 0')
  const { code, ofType } = await dumpJson(folder)
  assert.equal(code, 0)
  assert.deepEqual(
    ofType('batch').map(({ baseOffset }) => baseOffset),
    [0, 1, 10],
  )
})

test('a missing file is named and exits 1, and the next one is dumped', async () => {
  const { code, err, out } = await dump(join(directory, 'none.log'), file(log))
  assert.equal(code, 1)
  assert.match(err, /none\.log/)
  assert.match(out, /baseOffset: 1 /)
})

test('no path, an unknown option and a file of another kind exit 2', async () => {
  for (const args of [[], ['--nothing', 'x.log'], [file(log, 'notes.txt')]]) {
    const { code, err } = await dump(...args)
    assert.equal(code, 2)
    assert.notEqual(err, '')
  }
})

test('--help exits 0', async () => {
  const { code, out } = await dump('--help')
  assert.equal(code, 0)
  assert.match(out, /usage: seglog dump/)
})

test('a reader that goes away ends the dump and not the process', async () => {
  const batches = Array.from({ length: 3000 }, (_, offset) =>
    buildBatch([{}], { baseOffset: offset }),
  )
  let writes = 0
  const stdout = new Writable({
    write(_chunk, _encoding, done) {
      writes++
      done(Object.assign(new Error('write EPIPE'), { code: 'EPIPE' }))
    },
  })
  const code = await run([file(Buffer.concat(batches))], { stdout, stderr: sink().stream })
  assert.equal(code, 0)
  assert.equal(writes, 1)
})
