import assert from 'node:assert/strict'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import {
  OffsetCheckpoint,
  readEpochs,
  readOffsets,
  writeEpochs,
  writeOffsets,
} from '../../src/storage/checkpoints.js'
import { temporaryDirectory } from '../support/tmp.js'

const offsets = [
  { topic: 'orders', partition: 0, offset: 42 },
  { topic: 'a-b.c_d', partition: 12, offset: Number.MAX_SAFE_INTEGER },
]
const offsetsText = `0\n2\norders 0 42\na-b.c_d 12 ${Number.MAX_SAFE_INTEGER}\n`
const epochs = [
  { epoch: 0, startOffset: 0 },
  { epoch: 5, startOffset: 100 },
]
const epochsText = '0\n2\n0 0\n5 100\n'

function setUp(t: TestContext) {
  const path = join(temporaryDirectory(t), OffsetCheckpoint.RECOVERY_POINT)
  const warnings: string[] = []
  return { path, warnings, warn: (line: string) => void warnings.push(line) }
}

test("offsets are written in Kafka's format", async (t) => {
  const { path } = setUp(t)
  await writeOffsets(path, offsets)
  assert.equal(readFileSync(path, 'utf8'), offsetsText)
})

test('offsets are read back', async (t) => {
  const { path, warn, warnings } = setUp(t)
  writeFileSync(path, offsetsText)
  assert.deepEqual(await readOffsets(path, warn), offsets)
  assert.deepEqual(warnings, [])
})

test('a checkpoint without entries is not a missing one', async (t) => {
  const { path, warn } = setUp(t)
  await writeOffsets(path, [])
  assert.deepEqual(await readOffsets(path, warn), [])
})

test('a missing checkpoint is undefined without a warning', async (t) => {
  const { path, warn, warnings } = setUp(t)
  assert.equal(await readOffsets(path, warn), undefined)
  assert.deepEqual(warnings, [])
})

test('a write replaces the file and leaves nothing beside it', async (t) => {
  const { path, warn } = setUp(t)
  writeFileSync(`${path}.tmp`, 'left over from a crash')
  await writeOffsets(path, offsets)
  await writeOffsets(path, offsets.slice(0, 1))
  assert.deepEqual(await readOffsets(path, warn), offsets.slice(0, 1))
  assert.deepEqual(readdirSync(join(path, '..')), [OffsetCheckpoint.RECOVERY_POINT])
})

test('a write into a missing directory is an IO error that names the file', async (t) => {
  const path = join(temporaryDirectory(t), 'gone', 'x')
  await assert.rejects(writeOffsets(path, []), { code: 'IO', message: /gone/, errno: 2 })
})

const damage: Record<string, string | Buffer> = {
  'an empty file': '',
  'random bytes': Buffer.from('f91c0a44030afe0a0092', 'hex'),
  'another version': offsetsText.replace('0', '1'),
  'an extra blank line': `${offsetsText}\n`,
  'a blank line inside': offsetsText.replace('\na-b', '\n\na-b'),
  'a count too small': offsetsText.replace('2', '1'),
  'a count that is no number': offsetsText.replace('2', '-2'),
  'a negative offset': offsetsText.replace('42', '-42'),
  'an offset above 2^53-1': offsetsText.replace('42', '9007199254740992'),
  'a partition above 2^31-1': offsetsText.replace('12', '2147483648'),
  'a field too few': offsetsText.replace(' 12', ''),
  'a field too many': offsetsText.replace(' 12', ' 12 13'),
}

for (const [what, bytes] of Object.entries(damage)) {
  test(`${what} makes a checkpoint undefined with one warning`, async (t) => {
    const { path, warn, warnings } = setUp(t)
    writeFileSync(path, bytes)
    assert.equal(await readOffsets(path, warn), undefined)
    assert.equal(warnings.length, 1)
    assert.ok(warnings[0]?.startsWith(`${path} is damaged`))
  })
}

test('a checkpoint cut at any byte is undefined', async (t) => {
  const { path, warn, warnings } = setUp(t)
  for (let length = 0; length < offsetsText.length; length++) {
    writeFileSync(path, offsetsText.slice(0, length))
    assert.equal(await readOffsets(path, warn), undefined, `cut at ${length}`)
  }
  assert.equal(warnings.length, offsetsText.length)
})

test("leader epochs are written in Kafka's format and read back", async (t) => {
  const { path, warn } = setUp(t)
  await writeEpochs(path, epochs)
  assert.equal(readFileSync(path, 'utf8'), epochsText)
  assert.deepEqual(await readEpochs(path, warn), epochs)
})

for (const [what, text] of Object.entries({
  'an epoch that does not rise': '0\n2\n5 0\n5 100\n',
  'a start offset that does not rise': '0\n2\n0 100\n5 100\n',
  'a negative epoch': '0\n1\n-1 0\n',
})) {
  test(`${what} makes a leader epoch checkpoint undefined`, async (t) => {
    const { path, warn, warnings } = setUp(t)
    writeFileSync(path, text)
    assert.equal(await readEpochs(path, warn), undefined)
    assert.equal(warnings.length, 1)
  })
}

test('epochs that do not rise are not written', async (t) => {
  const { path } = setUp(t)
  assert.throws(() => writeEpochs(path, [...epochs, { epoch: 5, startOffset: 200 }]))
})
