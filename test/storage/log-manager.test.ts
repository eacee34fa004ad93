import assert from 'node:assert/strict'
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { systemEnv } from '../../src/env.js'
import { LogManager } from '../../src/storage/log-manager.js'
import { defaultLogOptions } from '../../src/storage/log-options.js'
import { temporaryDirectory } from '../support/tmp.js'
import { append, values } from './log-fixture.js'

const ID = 'bwAAAAAAAAAAAAAAAAAAAA'
const MARKER = '.kafka_cleanshutdown'
const code = (expected: string) => (error: unknown) =>
  error instanceof Error && 'code' in error && error.code === expected

async function open(t: TestContext, directories: string[], brokerId = 0) {
  const warnings: string[] = []
  const { clean: _, ...log } = { ...defaultLogOptions, segmentBytes: 2000 }
  const warn = (line: string) => void warnings.push(line)
  const manager = await LogManager.open({ directories, brokerId, log, warn }, systemEnv)
  t.after(() => manager.abandon())
  return { manager, warnings }
}

const t0 = { topic: 't', partition: 0 }

test('new directories are made and marked as those of this broker', async (t) => {
  const parent = temporaryDirectory(t)
  const directories = [join(parent, 'a'), join(parent, 'b')]
  const { manager } = await open(t, directories, 7)
  for (const directory of directories) {
    const text = readFileSync(join(directory, 'meta.properties'), 'utf8')
    assert.match(text, /broker\.id=7/)
    assert.ok(text.includes(manager.clusterId))
  }
  await manager.close()
  assert.equal((await open(t, directories, 7)).manager.clusterId, manager.clusterId)
})

test('a directory of another broker or cluster is refused, and stays as it is', async (t) => {
  const [a, b] = [temporaryDirectory(t), temporaryDirectory(t)]
  await (await open(t, [a])).manager.close()
  await (await open(t, [b])).manager.close()
  await assert.rejects(open(t, [a], 1), code('INVALID_CONFIG'))
  await assert.rejects(open(t, [a, b]), code('INVALID_CONFIG'))
  await (await open(t, [a])).manager.close()
})

test('a damaged meta.properties is an error, and no new id takes its place', async (t) => {
  const directory = temporaryDirectory(t)
  await (await open(t, [directory])).manager.close()
  for (const text of ['', 'version=0\nbroker.id=x\n', '\0\0\0']) {
    writeFileSync(join(directory, 'meta.properties'), text)
    await assert.rejects(open(t, [directory]), code('CORRUPT'))
    assert.equal(readFileSync(join(directory, 'meta.properties'), 'utf8'), text)
  }
})

test('a directory in use is locked, the same one given twice too', async (t) => {
  const directory = temporaryDirectory(t)
  const { manager } = await open(t, [directory])
  await assert.rejects(open(t, [directory]), code('LOCKED'))
  await manager.close()
  await assert.rejects(open(t, [directory, directory]), code('LOCKED'))
  await (await open(t, [directory])).manager.close()
})

test('a start that fails at its second directory lets go of the first', async (t) => {
  const [a, b] = [temporaryDirectory(t), temporaryDirectory(t)]
  const { manager } = await open(t, [b])
  await assert.rejects(open(t, [a, b]), code('LOCKED'))
  await (await open(t, [a])).manager.close()
  await manager.close()
})

test('logs come back with their records, topic ids and number of partitions', async (t) => {
  const directory = temporaryDirectory(t)
  const { manager } = await open(t, [directory])
  append(await manager.openOrCreate(t0, ID), 'a', 'b')
  await manager.openOrCreate({ topic: 't', partition: 2 }, ID)
  await manager.close()
  const again = (await open(t, [directory])).manager
  assert.deepEqual([...again.topics()], [['t', { topicId: ID, partitions: 3, logs: 2 }]])
  assert.deepEqual(values(await again.openOrCreate(t0, ID)), ['a', 'b'])
  await again.close()
})

test('new logs go where the fewest are', async (t) => {
  const directories = [temporaryDirectory(t), temporaryDirectory(t)]
  const { manager } = await open(t, directories)
  for (let partition = 0; partition < 5; partition++) {
    await manager.openOrCreate({ topic: 't', partition }, ID)
  }
  const counts = directories.map(
    (path) => readdirSync(path).filter((name) => /^t-/.test(name)).length,
  )
  assert.deepEqual(counts, [3, 2])
  await manager.close()
  const again = (await open(t, directories)).manager
  assert.deepEqual([...again.topics()], [['t', { topicId: ID, partitions: 5, logs: 5 }]])
  await again.close()
})

test('a partition in two directories is refused', async (t) => {
  const [a, b] = [temporaryDirectory(t), temporaryDirectory(t)]
  const { manager } = await open(t, [a, b])
  await manager.openOrCreate(t0, ID)
  await manager.close()
  cpSync(join(a, 't-0'), join(b, 't-0'), { recursive: true })
  await assert.rejects(open(t, [a, b]), code('INVALID_CONFIG'))
})

test('the marker of a clean stop is there after a close only', async (t) => {
  const directory = temporaryDirectory(t)
  const marker = join(directory, MARKER)
  for (let round = 0; round < 3; round++) {
    const { manager } = await open(t, [directory])
    assert.equal(existsSync(marker), false)
    append(await manager.openOrCreate(t0, ID), `${round}`)
    await manager.close()
    assert.equal(existsSync(marker), true)
  }
})

test('a start that fails writes no marker', async (t) => {
  const directory = temporaryDirectory(t)
  const { manager } = await open(t, [directory])
  await manager.openOrCreate(t0, ID)
  await manager.close()
  writeFileSync(join(directory, 't-0', 'partition.metadata'), 'spoilt')
  await assert.rejects(open(t, [directory]), code('CORRUPT'))
  assert.equal(existsSync(join(directory, MARKER)), false)
})

test('a log that cannot be closed costs its own directory the marker', async (t) => {
  const directories = [temporaryDirectory(t), temporaryDirectory(t)]
  const { manager } = await open(t, directories)
  for (const partition of [0, 1]) await manager.openOrCreate({ topic: 't', partition }, ID)
  rmSync(join(directories[0]!, 't-0'), { recursive: true })
  await assert.rejects(manager.close())
  assert.deepEqual(
    directories.map((path) => existsSync(join(path, MARKER))),
    [false, true],
  )
})

test('checkpoints after a clean stop name the end of each log', async (t) => {
  const directory = temporaryDirectory(t)
  const { manager } = await open(t, [directory])
  append(await manager.openOrCreate(t0, ID), 'a', 'b', 'c')
  await manager.close()
  for (const name of ['recovery-point-offset-checkpoint', 'replication-offset-checkpoint']) {
    assert.equal(readFileSync(join(directory, name), 'utf8'), '0\n1\nt 0 3\n')
    writeFileSync(join(directory, name), 'spoilt')
  }
  const again = (await open(t, [directory])).manager
  assert.equal((await again.openOrCreate(t0, ID)).endOffset, 3)
  await again.close()
})

test('a log without a topic id gets one that is written down', async (t) => {
  const directory = temporaryDirectory(t)
  mkdirSync(join(directory, 'old-0'))
  const { manager } = await open(t, [directory])
  assert.deepEqual([...manager.topics()], [['old', { topicId: undefined, partitions: 1, logs: 1 }]])
  await manager.openOrCreate({ topic: 'old', partition: 0 }, ID)
  await manager.close()
  assert.match(readFileSync(join(directory, 'old-0', 'partition.metadata'), 'utf8'), new RegExp(ID))
})

test('what a deletion left is removed at the start, and what Kafka set aside is not', async (t) => {
  const directory = temporaryDirectory(t)
  const left = `t-0.${'0'.repeat(32)}-delete`
  const kept = [`t-1.${'0'.repeat(32)}-stray`, `t-2.${'0'.repeat(32)}-future`, 'notes']
  for (const name of [left, ...kept]) mkdirSync(join(directory, name))
  const { manager } = await open(t, [directory])
  assert.equal(existsSync(join(directory, left)), false)
  for (const name of kept) assert.ok(existsSync(join(directory, name)))
  assert.equal(manager.topics().size, 0)
  await manager.close()
})

test('a removed log is gone from the disk and can be made anew, empty', async (t) => {
  const directory = temporaryDirectory(t)
  const { manager } = await open(t, [directory])
  const log = await manager.openOrCreate(t0, ID)
  append(log, 'a')
  await log.close()
  await manager.remove(t0)
  assert.deepEqual(
    readdirSync(directory).filter((name) => name.startsWith('t-')),
    [],
  )
  assert.equal((await manager.openOrCreate(t0, ID)).endOffset, 0)
  await manager.remove({ topic: 'nix', partition: 0 })
  await manager.close()
})

test('a folder that a removal left is no log of the topic that follows', async (t) => {
  const directory = temporaryDirectory(t)
  const { manager } = await open(t, [directory])
  const log = await manager.openOrCreate(t0, ID)
  append(log, 'old')
  await log.close()
  cpSync(join(directory, 't-0'), join(directory, 'saved'), { recursive: true })
  await manager.remove(t0)
  cpSync(join(directory, 'saved'), join(directory, 't-0'), { recursive: true })
  assert.equal((await manager.openOrCreate(t0, ID)).endOffset, 0)
  await manager.close()
})

test('damage that recovery found is told to the operator', async (t) => {
  const directory = temporaryDirectory(t)
  const { manager } = await open(t, [directory])
  append(await manager.openOrCreate(t0, ID), 'a')
  await manager.close()
  rmSync(join(directory, MARKER))
  writeFileSync(
    join(directory, 't-0', '00000000000000000000.log'),
    'no batch, but more than a header of one would take: '.repeat(3),
  )
  const { manager: again, warnings } = await open(t, [directory])
  assert.match(warnings.join(), /t-0: .*at byte 0.*left as it is/)
  await again.close()
})

test('two hundred logs are opened and closed and leave no descriptor', async (t) => {
  const directory = temporaryDirectory(t)
  const { manager } = await open(t, [directory])
  for (let partition = 0; partition < 200; partition++) {
    await manager.openOrCreate({ topic: 't', partition }, ID)
  }
  await manager.close()
  const before = readdirSync('/proc/self/fd').length
  const again = (await open(t, [directory])).manager
  assert.deepEqual([...again.topics()], [['t', { topicId: ID, partitions: 200, logs: 200 }]])
  await again.close()
  assert.ok(readdirSync('/proc/self/fd').length <= before + 2)
})
