/** What one log directory means for the others, and what each remembers between two starts. */
import assert from 'node:assert/strict'
import { cpSync, existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { SeglogError } from '../../src/errors.js'
import { LogManager } from '../../src/storage/log-manager.js'
import { copyLive } from '../support/copy.js'
import { SimEnv } from '../support/sim-env.js'
import { temporaryDirectory } from '../support/tmp.js'
import { append, filesOf, NOW, values } from './log-fixture.js'

const ID = 'bwAAAAAAAAAAAAAAAAAAAA'
const MARKER = '.kafka_cleanshutdown'
const POINT = 'recovery-point-offset-checkpoint'
const partition = (index: number) => ({ topic: 't', partition: index })

async function open(t: TestContext, directories: string[], env = new SimEnv({ now: NOW })) {
  const warnings: string[] = []
  const log = { segmentBytes: 300, indexIntervalBytes: 128, flushMessages: 0, mapped: true }
  const warn = (line: string) => void warnings.push(line)
  const manager = await LogManager.open({ directories, brokerId: 0, log, warn }, env)
  t.after(() => manager.abandon())
  return { manager, warnings, env }
}

test('a directory whose disk fails goes offline, and the others go on', async (t) => {
  const [a, b] = [temporaryDirectory(t), temporaryDirectory(t)]
  const { manager, warnings } = await open(t, [a, b])
  const logs = []
  for (let i = 0; i < 4; i++) logs.push(await manager.openOrCreate(partition(i), ID))
  const onA = logs.filter(({ directory }) => directory.startsWith(a))
  const onB = logs.filter(({ directory }) => directory.startsWith(b))
  assert.deepEqual([onA.length, onB.length], [2, 2])
  onA[0]!.fence(new SeglogError('IO', 'the disk failed', { errno: 5 }))
  assert.deepEqual(
    manager.directories().map(({ offline }) => offline?.code),
    ['IO', undefined],
  )
  assert.match(warnings.join(), /goes offline: the disk failed/)
  for (const log of onA) assert.throws(() => log.roll(), { code: 'IO' })
  for (const log of onB) append(log, 'goes on')
  const fresh = await manager.openOrCreate(partition(9), ID)
  assert.ok(fresh.directory.startsWith(b))
  await assert.rejects(manager.close(), { code: 'IO' })
  assert.deepEqual([existsSync(join(a, MARKER)), existsSync(join(b, MARKER))], [false, true])
})

test('a start goes on without a directory that cannot be used', async (t) => {
  const [a, parent] = [temporaryDirectory(t), temporaryDirectory(t)]
  writeFileSync(join(parent, 'file'), '')
  const { manager, warnings } = await open(t, [join(parent, 'file', 'sub'), a])
  assert.match(warnings.join(), /stays offline/)
  assert.ok(manager.incomplete)
  append(await manager.openOrCreate(partition(0), ID), 'a')
  await manager.close()
  await assert.rejects(open(t, [join(parent, 'file', 'sub')]), { code: 'IO' })
})

test('a log of a topic of the same name with another id is not taken for it', async (t) => {
  const directory = temporaryDirectory(t)
  const { manager } = await open(t, [directory])
  await manager.openOrCreate(partition(0), ID)
  const other = 'bgAAAAAAAAAAAAAAAAAAAA'
  await assert.rejects(manager.openOrCreate(partition(0), other), { code: 'INVALID_CONFIG' })
  await manager.close()
})

test('logs beside a meta.properties that is gone are told of', async (t) => {
  const directory = temporaryDirectory(t)
  const { manager } = await open(t, [directory])
  await manager.openOrCreate(partition(0), ID)
  await manager.close()
  cpSync(join(directory, 't-0'), join(temporaryDirectory(t), 't-0'), { recursive: true })
  const bare = temporaryDirectory(t)
  cpSync(join(directory, 't-0'), join(bare, 't-0'), { recursive: true })
  const { manager: again, warnings } = await open(t, [bare])
  assert.match(warnings.join(), /holds logs and no meta\.properties/)
  await again.close()
})

test('what is old goes when the time for the check comes, and the end stays', async (t) => {
  const directory = temporaryDirectory(t)
  const { manager, env } = await open(t, [directory])
  const log = await manager.openOrCreate(partition(0), ID)
  log.configure({ retentionMs: 3_600_000, fileDeleteDelayMs: 1 })
  for (let i = 0; i < 6; i++) append(log, `record ${i} ${'.'.repeat(100)}`)
  assert.ok(log.segmentCount > 2)
  await env.advance(1_800_000)
  assert.equal(log.startOffset, 0)
  await env.advance(3_600_000)
  await manager.deleteOld()
  assert.deepEqual([log.startOffset, log.endOffset, log.segmentCount], [6, 6, 1])
  await manager.close()
  assert.deepEqual(filesOf(join(directory, 't-0'), '.log'), ['00000000000000000006.log'])
})

test('after a kill a checkpoint says from where on a log is read', async (t) => {
  const directory = temporaryDirectory(t)
  const { manager } = await open(t, [directory])
  const log = await manager.openOrCreate(partition(0), ID)
  assert.equal(readFileSync(join(directory, POINT), 'utf8'), '0\n0\n')
  append(log, 'a')
  await log.flush()
  await manager.checkpoint()
  append(log, 'b')
  assert.equal(readFileSync(join(directory, POINT), 'utf8'), '0\n1\nt 0 1\n')
  const killed = join(temporaryDirectory(t), 'data')
  copyLive(directory, killed)
  const again = await open(t, [killed])
  const opened = await again.manager.openOrCreate(partition(0), ID)
  assert.deepEqual(values(opened), ['a', 'b'])
  assert.equal(opened.recoveryPoint, 1)
  await again.manager.close()
  await manager.close()
})
