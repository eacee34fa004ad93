import assert from 'node:assert/strict'
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { connect, createServer } from 'node:net'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import type { OpenLogOptions } from '../src/library/options.js'
import { openLog } from '../src/open-log.js'
import type { CompressionName } from '../src/records/compression.js'
import { buildBatch } from '../src/records/encoder.js'
import type { RecordInput } from '../src/records/record.js'
import { seeded } from './protocol/random.js'
import { SimEnv } from './support/sim-env.js'
import { temporaryDirectory } from './support/tmp.js'
import { until } from './support/until.js'

const code = (expected: string) => (error: unknown) =>
  error instanceof Error && 'code' in error && error.code === expected

async function open(t: TestContext, directory: string, options: OpenLogOptions = {}) {
  const log = await openLog(directory, { segmentBytes: 2000, indexIntervalBytes: 200, ...options })
  t.after(() => log.close().catch(() => {}))
  return log
}

type Log = Awaited<ReturnType<typeof open>>

async function texts(log: Log, options: Parameters<Log['read']>[0] = {}): Promise<string[]> {
  const found: string[] = []
  for await (const { value } of log.read(options)) found.push(Buffer.from(value ?? []).toString())
  return found
}

const codecs: CompressionName[] = ['none', 'gzip', 'snappy', 'lz4', 'zstd']

test('a log holds what an array holds, in every codec, through reopening', async (t) => {
  const directory = temporaryDirectory(t)
  const random = seeded(11)
  const model: { offset: bigint; value: string; timestamp: number }[] = []
  for (let round = 0; round < 3; round++) {
    const log = await open(t, directory)
    for (let step = 0; step < 15; step++) {
      const records: RecordInput[] = Array.from({ length: 1 + random.below(6) }, () => ({
        value: 'v'.repeat(random.below(200)) + random.below(1e6),
        timestamp: random.below(1e9),
      }))
      const { baseOffset, lastOffset } = log.append(records, { compression: random.pick(codecs) })
      assert.equal(baseOffset, BigInt(model.length))
      assert.equal(lastOffset, baseOffset + BigInt(records.length - 1))
      for (const { value, timestamp = -1 } of records) {
        model.push({ offset: BigInt(model.length), value: String(value), timestamp })
      }
    }
    await log.close()
  }
  const log = await open(t, directory)
  assert.deepEqual([log.startOffset, log.endOffset], [0n, BigInt(model.length)])
  for (let from = 0; from < model.length; from += 7) {
    const found: typeof model = []
    for await (const { offset, timestamp, value } of log.read({ from })) {
      found.push({ offset, value: Buffer.from(value ?? []).toString(), timestamp })
    }
    assert.deepEqual(found, model.slice(from))
  }
})

test('key, value and headers come back bit for bit, null and empty apart', async (t) => {
  const log = await open(t, temporaryDirectory(t))
  const some = [null, Buffer.alloc(0), Buffer.from('x')]
  const records = some.flatMap((key) =>
    some.map((value) => ({
      key,
      value,
      headers: [
        { key: 'h', value },
        { key: '', value: key },
      ],
    })),
  )
  log.append(records)
  let at = 0
  for await (const { key, value, headers } of log.read()) {
    const wanted = records[at]!
    const same = (a: Uint8Array | null, b: Uint8Array | null) =>
      assert.deepEqual(a && [...a], b && [...b])
    same(key, wanted.key)
    same(value, wanted.value)
    assert.deepEqual(
      headers.map((header) => header.key),
      ['h', ''],
    )
    for (const i of [0, 1]) same(headers[i]!.value, wanted.headers[i]!.value)
    at++
  }
  assert.equal(at, records.length)
})

test('records without a timestamp get that of the append', async (t) => {
  const env = new SimEnv()
  const log = await open(t, temporaryDirectory(t), { env })
  const { appendTime } = log.append([{ value: 'a' }, { value: 'b', timestamp: 5 }])
  assert.equal(appendTime, env.now())
  const slice = log.slice(0n)
  assert.ok(slice)
  assert.equal(log.offsetForTimestamp(6), 0n)
})

test('a read ends where it was told to, by offset or by bytes', async (t) => {
  const log = await open(t, temporaryDirectory(t), { segmentBytes: 1 << 20 })
  for (let i = 0; i < 10; i += 2) log.append([{ value: `${i}` }, { value: `${i + 1}` }])
  assert.deepEqual(await texts(log, { from: 3, to: 6n }), ['3', '4', '5'])
  assert.deepEqual(await texts(log, { from: '7' }), ['7', '8', '9'])
  assert.deepEqual(await texts(log, { from: 10 }), [])
  assert.deepEqual(await texts(log, { from: 5, to: 5 }), [])
  assert.deepEqual(await texts(log, { from: 5, to: 2 }), [])
  assert.deepEqual(await texts(log, { to: 1000 }), [
    '0',
    '1',
    '2',
    '3',
    '4',
    '5',
    '6',
    '7',
    '8',
    '9',
  ])
  assert.deepEqual(await texts(log, { maxBytes: 1 }), ['0', '1'])
  assert.deepEqual(await texts(log, { maxBytes: 0 }), [])
})

test('what is appended while reading is not waited for', async (t) => {
  const log = await open(t, temporaryDirectory(t))
  log.append([{ value: 'a' }])
  const found: string[] = []
  for await (const { value } of log.read()) {
    found.push(Buffer.from(value ?? []).toString())
    log.append([{ value: 'later' }])
  }
  assert.deepEqual(found, ['a'])
})

test('an offset that is none, or beyond 2^53 - 1, is refused', async (t) => {
  const log = await open(t, temporaryDirectory(t))
  for (const from of [1.5, -7, Number.NaN, 'x', -1n, '']) {
    assert.throws(() => log.slice(from), code('BAD_ARGUMENT'), String(from))
  }
  for (const from of [2n ** 53n, '9007199254740993']) {
    assert.throws(() => log.slice(from), code('OFFSET_TOO_LARGE'))
  }
  await assert.rejects(texts(log, { from: 1 }), code('OFFSET_OUT_OF_RANGE'))
})

test('a record with a large offset goes into JSON with every digit', async (t) => {
  const directory = temporaryDirectory(t)
  const base = 2 ** 53 - 10
  const path = join(directory, `${String(base).padStart(20, '0')}`)
  writeFileSync(`${path}.log`, buildBatch([{ key: 'k', value: 'v' }], { baseOffset: base }))
  const log = await open(t, directory)
  assert.equal(log.endOffset, BigInt(base) + 1n)
  for await (const record of log.read()) {
    assert.equal(JSON.parse(JSON.stringify(record)).offset, '9007199254740982')
  }
})

test('sizes and intervals out of range are refused before anything is touched', async (t) => {
  const directory = join(temporaryDirectory(t), 'log-0')
  const wrong: OpenLogOptions[] = [
    { segmentBytes: 0 },
    { segmentBytes: 2 ** 31 },
    { segmentBytes: 1.5 },
    { indexIntervalBytes: -1 },
    { flush: { messages: -1 } },
    { flush: { messages: 0.5 } },
    { flush: { ms: -1 } },
    { flush: { ms: Number.NaN } },
  ]
  for (const options of wrong) {
    await assert.rejects(openLog(directory, options), code('BAD_ARGUMENT'), JSON.stringify(options))
  }
  const log = await openLog(directory)
  await log.close()
})

test('records that make no batch are refused, and the log is as before', async (t) => {
  const log = await open(t, temporaryDirectory(t))
  assert.throws(() => log.append([]), code('BAD_ARGUMENT'))
  assert.throws(() => log.append([{ value: 7 as never }]), code('BAD_ARGUMENT'))
  assert.throws(() => log.append([{ timestamp: Number.NaN }]), code('BAD_ARGUMENT'))
  assert.throws(
    () => log.append([{}], { compression: 'rar' as never }),
    code('UNSUPPORTED_COMPRESSION'),
  )
  assert.equal(log.endOffset, 0n)
})

test('appendDurable resolves with the recovery point behind its records', async (t) => {
  const log = await open(t, temporaryDirectory(t))
  const appends = Array.from({ length: 40 }, async (_, i) => {
    const { lastOffset } = await log.appendDurable([{ value: `${i}` }])
    assert.ok(log.recoveryPoint > lastOffset)
  })
  await Promise.all(appends)
  assert.equal(log.recoveryPoint, 40n)
})

test('a log is synced by itself when its time has passed', async (t) => {
  const env = new SimEnv()
  const log = await open(t, temporaryDirectory(t), { env, flush: { ms: 500 } })
  log.append([{ value: 'a' }])
  log.append([{ value: 'b' }])
  assert.equal(env.timers, 1)
  await env.advance(499)
  assert.equal(log.recoveryPoint, 0n)
  await env.advance(1)
  await until(() => log.recoveryPoint === 2n, 'the sync')
  // What is left writes the checkpoint of it.
  await until(() => env.timers === 1, 'the timer of the checkpoint')
  await env.advance(1000)
  assert.equal(env.timers, 0)
})

test('close cancels the timer and settles every append under way', async (t) => {
  const env = new SimEnv()
  const log = await open(t, temporaryDirectory(t), { env, flush: { ms: 500 } })
  const appends = Array.from({ length: 100 }, () => log.appendDurable([{ value: 'a' }]))
  const closing = log.close()
  assert.equal(log.close(), closing)
  await Promise.all([...appends, closing])
  assert.equal(env.timers, 0)
})

test('every use of a closed log is refused', async (t) => {
  const log = await open(t, temporaryDirectory(t))
  log.append([{ value: 'a' }])
  const reading = log.read()
  await log.close()
  await assert.rejects(reading.next(), code('CLOSED'))
  assert.throws(() => log.append([{ value: 'b' }]), code('CLOSED'))
  await assert.rejects(log.appendDurable([{ value: 'b' }]), code('CLOSED'))
  assert.throws(() => log.slice(0), code('CLOSED'))
  assert.throws(() => log.offsetForTimestamp(0), code('CLOSED'))
  assert.throws(() => log.roll(), code('CLOSED'))
  await assert.rejects(log.flush(), code('CLOSED'))
})

test('bytes and records that were given out outlive the log', async (t) => {
  const log = await open(t, temporaryDirectory(t))
  log.append([{ key: 'k', value: 'v'.repeat(500) }])
  const bytes = log.slice(0)!.bytes()
  const before = Buffer.from(bytes)
  const record = (await log.read().next()).value
  await log.close()
  assert.deepEqual(Buffer.from(bytes), before)
  assert.equal(Buffer.from(record?.value ?? []).toString(), 'v'.repeat(500))
})

test('a slice reaches its socket also when the log is closed meanwhile', async (t) => {
  const directory = temporaryDirectory(t)
  const log = await open(t, directory, { segmentBytes: 1 << 26 })
  for (let i = 0; i < 20; i++) log.append([{ value: Buffer.alloc(1 << 20, i) }])
  const received: Buffer[] = []
  const server = createServer((socket) => socket.on('data', (chunk) => received.push(chunk)))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => server.close())
  const address = server.address()
  assert.ok(address && typeof address === 'object')
  const socket = connect(address.port, '127.0.0.1')
  t.after(() => socket.destroy())
  const sent = log.slice(0, 1 << 30)!.sendTo(socket)
  await log.close()
  await sent
  const file = readFileSync(join(directory, '00000000000000000000.log'))
  await until(
    () => received.reduce((sum, { length }) => sum + length, 0) >= file.length,
    'all bytes',
  )
  assert.ok(Buffer.concat(received).equals(file))
})

test('a time is found exact to the record, in every codec', async (t) => {
  for (const compression of codecs) {
    const log = await open(t, temporaryDirectory(t))
    log.append([{ timestamp: 10 }, { timestamp: 30 }], { compression })
    log.append([{ timestamp: 20 }, { timestamp: 40 }], { compression })
    const found = [0, 10, 11, 20, 30, 31, 35, 40, 41].map((ms) => log.offsetForTimestamp(ms))
    assert.deepEqual(found, [0n, 0n, 1n, 1n, 1n, 3n, 3n, 3n, undefined])
    await log.close()
  }
})

test('a damaged batch is an error where it is read, and nowhere else', async (t) => {
  const directory = temporaryDirectory(t)
  const log = await open(t, directory, { segmentBytes: 1 << 20 })
  for (let i = 0; i < 3; i++) log.append([{ value: `${i}` }])
  log.roll()
  log.append([{ value: '3' }])
  await log.close()
  const file = join(directory, '00000000000000000000.log')
  const bytes = readFileSync(file)
  const middle = Math.floor(bytes.length / 2)
  bytes[middle] = bytes[middle]! ^ 16
  writeFileSync(file, bytes)
  const again = await open(t, directory)
  await assert.rejects(texts(again), code('CORRUPT'))
  assert.deepEqual(await texts(again, { from: 2 }), ['2', '3'])
  assert.deepEqual(await texts(again, { to: 1 }), ['0'])
  assert.equal(statSync(file).size, bytes.length)
})

test('a second user in this process is refused, and the first goes on', async (t) => {
  const directory = temporaryDirectory(t)
  const log = await open(t, directory)
  await assert.rejects(openLog(directory), code('LOCKED'))
  log.append([{ value: 'a' }])
  await log.close()
  await (await openLog(directory)).close()
})

test('logs in the folder of a broker share the lock that keeps the broker out', async (t) => {
  const data = temporaryDirectory(t)
  writeFileSync(join(data, 'meta.properties'), 'version=0\n')
  const first = await open(t, join(data, 'a-0'))
  const second = await open(t, join(data, 'b-0'))
  await first.close()
  const { lockExclusively } = await import('../src/storage/directory-lock.js')
  assert.throws(() => lockExclusively(join(data, '.lock')), code('LOCKED'))
  await second.close()
  lockExclusively(join(data, '.lock')).release()
})

test('a failed open lets go of its locks', async (t) => {
  const directory = temporaryDirectory(t)
  mkdirSync(join(directory, '00000000000000000000.log'))
  await assert.rejects(openLog(directory))
  const descriptors = readdirSync('/proc/self/fd').length
  await assert.rejects(openLog(directory), (error) => !code('LOCKED')(error))
  assert.equal(readdirSync('/proc/self/fd').length, descriptors)
})
