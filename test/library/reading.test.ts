import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { inspect } from 'node:util'
import {
  type CompressionName,
  type OpenLogOptions,
  openLog,
  SeglogError,
  type StoredRecord,
} from '../../src/index.js'
import { temporaryDirectory } from '../support/tmp.js'

async function open(t: TestContext, directory: string, options: OpenLogOptions = {}) {
  const log = await openLog(directory, options)
  t.after(() => log.close().catch(() => {}))
  return log
}

const code = (expected: string) => (error: unknown) =>
  error instanceof SeglogError && error.code === expected

const compressing: CompressionName[] = ['gzip', 'snappy', 'lz4', 'zstd']

test('no codec takes more at an append than a read gives back', async (t) => {
  for (const compression of compressing) {
    const log = await open(t, temporaryDirectory(t), { decompressedBytesMax: 1 << 20 })
    // Besides the value a record has 9 bytes: attributes, deltas, two lengths and its own.
    const overhead = 11
    log.append([{ value: Buffer.alloc((1 << 20) - overhead) }], { compression })
    assert.throws(
      () => log.append([{ value: Buffer.alloc((1 << 20) - overhead + 1) }], { compression }),
      code('TOO_LARGE'),
      compression,
    )
    const sizes: (number | undefined)[] = []
    for await (const { value } of log.read()) sizes.push(value?.length)
    assert.deepEqual(sizes, [(1 << 20) - overhead])
    await log.close()
  }
})

test('a batch above the bound of a reader is an error, and can be passed over', async (t) => {
  const directory = temporaryDirectory(t)
  const writer = await openLog(directory)
  writer.append([{ value: 'before' }])
  writer.append([{ value: Buffer.alloc(5000) }], { compression: 'gzip' })
  writer.append([{ value: 'behind' }])
  await writer.close()
  const log = await open(t, directory, { decompressedBytesMax: 4096 })
  const reading = log.read()
  assert.equal(String((await reading.next()).value?.value), 'before')
  await assert.rejects(reading.next(), code('TOO_LARGE'))
  assert.equal(String((await log.read({ from: 2 }).next()).value?.value), 'behind')
})

test('batches hold the same records as a read, and none is empty', async (t) => {
  const log = await open(t, temporaryDirectory(t), { segmentBytes: 100_000 })
  const value = (i: number) => `${i} ${'x'.repeat(i % 700)}`
  for (let i = 0; i < 3000; i += 3) {
    log.append([{ value: value(i) }, { value: value(i + 1) }, { value: value(i + 2) }])
  }
  const offsets: bigint[] = []
  for await (const records of log.readBatches({ from: 10, to: 2990 })) {
    assert.ok(records.length > 0)
    for (const record of records) {
      assert.equal(String(record.value), value(Number(record.offset)))
      offsets.push(record.offset)
    }
  }
  assert.deepEqual(
    offsets,
    Array.from({ length: 2980 }, (_, i) => BigInt(i + 10)),
  )
})

test('records of a read stay as they are while others are read', async (t) => {
  const log = await open(t, temporaryDirectory(t))
  for (let i = 0; i < 200; i++) log.append([{ key: `${i}`, value: Buffer.alloc(5000, i) }])
  const kept: StoredRecord[] = []
  for await (const record of log.read()) kept.push(record)
  for (const [i, { key, value }] of kept.entries()) {
    assert.equal(String(key), `${i}`)
    assert.ok(value?.equals(Buffer.alloc(5000, i)))
  }
})

test('steps that are asked for at once come in order, also across turns of the loop', async (t) => {
  const log = await open(t, temporaryDirectory(t))
  for (let i = 0; i < 30; i++) log.append([{ value: Buffer.alloc(100_000, i) }])
  const reading = log.read()
  const steps = await Promise.all(Array.from({ length: 31 }, () => reading.next()))
  assert.deepEqual(
    steps.map(({ value }) => value?.offset),
    [...Array.from({ length: 30 }, (_, i) => BigInt(i)), undefined],
  )
})

test('a loop that is left early is over', async (t) => {
  const log = await open(t, temporaryDirectory(t))
  log.append([{ value: 'a' }, { value: 'b' }])
  const reading = log.read()
  for await (const { value } of reading) {
    assert.equal(String(value), 'a')
    break
  }
  assert.deepEqual(await reading.next(), { done: true, value: undefined })
})

test('close in the middle of a read is CLOSED for what was not read yet', async (t) => {
  const log = await open(t, temporaryDirectory(t))
  for (let i = 0; i < 10; i++) log.append([{ value: Buffer.alloc(100_000, i) }])
  const reading = log.read()
  let at = 0
  const failure = (async () => {
    for await (const { value } of reading) {
      assert.ok(value?.equals(Buffer.alloc(100_000, at)))
      if (++at === 3) await log.close()
    }
  })()
  await assert.rejects(failure, code('CLOSED'))
  assert.ok(at < 10)
})

test('rolls in the middle of a read leave no gap', async (t) => {
  const log = await open(t, temporaryDirectory(t))
  for (let i = 0; i < 10; i++) log.append([{ value: Buffer.alloc(50_000, i) }])
  const offsets: bigint[] = []
  for await (const { offset } of log.read({ to: 10 })) {
    offsets.push(offset)
    log.append([{ value: 'later' }])
    log.roll()
  }
  assert.deepEqual(offsets, [0n, 1n, 2n, 3n, 4n, 5n, 6n, 7n, 8n, 9n])
})

test('damage is CORRUPT with its offset, after the records before it', async (t) => {
  const directory = temporaryDirectory(t)
  const log = await open(t, directory)
  for (let i = 0; i < 9; i += 3) {
    log.append([{ value: `${i}` }, { value: `${i + 1}` }, { value: `${i + 2}` }])
  }
  log.roll()
  log.append([{ value: '9' }])
  await log.close()
  const file = join(directory, '00000000000000000000.log')
  const bytes = readFileSync(file)
  bytes[Math.floor(bytes.length / 2)]! ^= 1
  writeFileSync(file, bytes)
  const again = await open(t, directory)
  const found: string[] = []
  const read = async (from: bigint) => {
    for await (const { value } of again.read({ from })) found.push(String(value))
  }
  const failed = await read(0n).catch((error: unknown) => error)
  assert.ok(failed instanceof SeglogError && failed.code === 'CORRUPT')
  assert.deepEqual([failed.offset, failed.nextOffset], [3n, 6n])
  assert.match(failed.message, /offset 3 .* from 6 on$/)
  await read(failed.nextOffset!)
  assert.deepEqual(found, ['0', '1', '2', '6', '7', '8', '9'])
})

test('a record shows its parts to console.log and to JSON', async (t) => {
  const log = await open(t, temporaryDirectory(t))
  log.append([{ key: 'k', value: null, headers: { h: 'x' }, timestamp: 5 }])
  const record = (await log.read().next()).value
  assert.match(inspect(record), /offset: 0n,\s+timestamp: 5,\s+key: <Buffer 6b>,\s+value: null/)
  assert.equal(
    JSON.stringify(record),
    '{"offset":"0","timestamp":5,"key":{"type":"Buffer","data":[107]},"value":null,' +
      '"headers":[{"key":"h","value":{"type":"Buffer","data":[120]}}]}',
  )
})
