import assert from 'node:assert/strict'
import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { batchOf, createTopic, fetchFrom, produceTo } from '../support/broker.js'
import { temporaryDirectory } from '../support/tmp.js'
import { Wire } from '../support/wire.js'
import { ready, seglog } from './program.js'

const listeners = ['--override', 'listeners=PLAINTEXT://127.0.0.1:0']

for (const signal of ['SIGTERM', 'SIGINT'] as const) {
  test(`one line says that the broker serves, and ${signal} stops it in order`, async (t) => {
    const data = temporaryDirectory(t)
    const args = ['broker', ...listeners, '--override', `log.dirs=${data}`]
    const program = seglog(t, args)
    const port = await ready(program)
    const where = `(data: ${data}, coordination: embedded)`
    const line = `seglog broker 0 ready on 127.0.0.1:${port} ${where}\n`
    assert.equal(program.stdout(), line)
    const wire = await Wire.connect(t, port)
    await createTopic(wire, 't')
    await produceTo(wire, 't', batchOf('a'))
    program.child.kill(signal)
    assert.equal(await program.exited, 0)
    assert.equal(program.stdout(), line)
    assert.ok(existsSync(join(data, '.kafka_cleanshutdown')))
  })
}

test('a broker that was killed comes back with what it acknowledged', async (t) => {
  const data = temporaryDirectory(t)
  const args = ['broker', ...listeners, '--override', `log.dirs=${data}`]
  const first = seglog(t, args)
  const wire = await Wire.connect(t, await ready(first))
  await createTopic(wire, 't')
  for (let i = 0; i < 20; i++) assert.equal((await produceTo(wire, 't', batchOf('a'))).errorCode, 0)
  first.child.kill('SIGKILL')
  assert.equal(await first.exited, 'SIGKILL')
  const again = seglog(t, args)
  const other = await Wire.connect(t, await ready(again))
  assert.equal((await fetchFrom(other, 't', 0)).highWatermark, 20)
  again.child.kill('SIGTERM')
  assert.equal(await again.exited, 0)
})

test('a file of properties is read, and overrides win over it', async (t) => {
  const directory = temporaryDirectory(t)
  const file = join(directory, 'server.properties')
  writeFileSync(file, 'broker.id=7\nlog.dirs=ignored\nlisteners=PLAINTEXT://127.0.0.1:0\n')
  const program = seglog(t, ['broker', file, '--override', 'log.dirs=mine'], directory)
  await ready(program)
  assert.match(program.stdout(), /^seglog broker 7 ready .*mine/)
  program.child.kill('SIGTERM')
  assert.equal(await program.exited, 0)
  assert.ok(existsSync(join(directory, 'mine')))
  assert.equal(existsSync(join(directory, 'ignored')), false)
})

test('without a directory the data goes to ./data', async (t) => {
  const directory = temporaryDirectory(t)
  const program = seglog(t, ['broker', ...listeners], directory)
  await ready(program)
  program.child.kill('SIGTERM')
  assert.equal(await program.exited, 0)
  assert.ok(existsSync(join(directory, 'data', 'meta.properties')))
})

for (const [what, args, code, text] of [
  ['an unknown flag', ['--port', '1'], 2, /port/],
  ['an override without a value', ['--override', 'x'], 2, /KEY=VALUE/],
  ['two files', ['a', 'b'], 2, /only one/],
  ['a file that is missing', ['missing.properties'], 1, /missing.properties cannot be read/],
  [
    'a value out of range',
    ['--override', 'num.partitions=0'],
    1,
    /num.partitions=0 is not allowed/,
  ],
] as const) {
  test(`${what} is told in one line and by exit code ${code}, with the usage of 2`, async (t) => {
    const program = seglog(t, ['broker', ...args], temporaryDirectory(t))
    assert.equal(await program.exited, code)
    const lines = program.stderr().trim().split('\n')
    assert.match(lines.pop() ?? '', text)
    assert.equal(lines[0]?.startsWith('usage: seglog broker'), code === 2 ? true : undefined)
    assert.equal(program.stdout(), '')
  })
}

test('a port that is taken, and a directory in use, are failures that say so', async (t) => {
  const data = temporaryDirectory(t)
  const first = seglog(t, ['broker', ...listeners, '--override', `log.dirs=${data}`])
  const port = await ready(first)
  const locked = seglog(t, ['broker', ...listeners, '--override', `log.dirs=${data}`])
  const taken = seglog(
    t,
    ['broker', '--override', `listeners=PLAINTEXT://127.0.0.1:${port}`],
    temporaryDirectory(t),
  )
  assert.deepEqual(await Promise.all([locked.exited, taken.exited]), [1, 1])
  assert.match(locked.stderr(), new RegExp(data))
  assert.match(taken.stderr(), /is taken/)
  first.child.kill('SIGTERM')
  assert.equal(await first.exited, 0)
  assert.match(first.stderr(), /SIGTERM received/)
})

/** What a start is refused for, as the whole of stderr. */
async function refusal(t: TestContext, ...overrides: string[]): Promise<string> {
  const args = overrides.flatMap((each) => ['--override', each])
  const program = seglog(t, ['broker', ...listeners, ...args], temporaryDirectory(t))
  assert.equal(await program.exited, 1)
  assert.equal(program.stdout(), '')
  return program.stderr()
}

test('a directory of another broker refuses the start in one line', async (t) => {
  const data = temporaryDirectory(t)
  writeFileSync(join(data, 'meta.properties'), 'version=0\nbroker.id=7\ncluster.id=abc\n')
  const text = await refusal(t, `log.dirs=${data}`)
  assert.match(text, /^seglog: .* belongs to broker 7 of cluster abc, not to broker 0 .*\n$/)
})

test('directories of two clusters refuse the start in one line', async (t) => {
  const dirs = [temporaryDirectory(t), temporaryDirectory(t)]
  for (const [i, data] of dirs.entries()) {
    const text = `version=0\nbroker.id=0\ncluster.id=cluster-${i}\n`
    writeFileSync(join(data, 'meta.properties'), text)
  }
  const text = await refusal(t, `log.dirs=${dirs.join(',')}`)
  assert.match(text, /^seglog: .*cluster.*\n$/)
  for (const word of [dirs[1] ?? '', 'cluster-0', 'cluster-1']) assert.ok(text.includes(word), text)
})

test('a damaged meta.properties refuses the start in one line', async (t) => {
  const data = temporaryDirectory(t)
  const file = join(data, 'meta.properties')
  writeFileSync(file, 'version=0\nbroker.id=zero\n')
  const text = await refusal(t, `log.dirs=${data}`)
  assert.ok(text.startsWith('seglog: ') && text.includes(file), text)
  assert.equal(text.indexOf('\n'), text.length - 1)
})

test('a directory that cannot be made refuses the start in one line', async (t) => {
  const file = join(temporaryDirectory(t), 'file')
  writeFileSync(file, '')
  const text = await refusal(t, `log.dirs=${join(file, 'data')}`, 'log.level=off')
  assert.match(text, /^seglog: .*ENOTDIR.*\n$/)
})

test('an address that is not of this machine refuses the start in one line', async (t) => {
  const text = await refusal(t, 'listeners=PLAINTEXT://192.0.2.1:9092')
  assert.equal(text, 'seglog: cannot listen on 192.0.2.1:9092: EADDRNOTAVAIL\n')
})

test('a port of metrics that is taken refuses the start in one line', async (t) => {
  const first = seglog(t, ['broker', ...listeners], temporaryDirectory(t))
  const port = await ready(first)
  const text = await refusal(t, `metrics.port=${port}`)
  assert.equal(text, `seglog: 127.0.0.1:${port} is taken by another process\n`)
})

test('lines are structured, and no more of them than the level lets through', async (t) => {
  for (const [level, count] of [
    ['info', 2],
    ['warn', 1],
  ] as const) {
    const log = ['--override', `log.level=${level}`, '--override', 'log.format=json']
    const args = ['broker', ...listeners, ...log, '--override', 'no.such.key=1']
    const program = seglog(t, args, temporaryDirectory(t))
    await ready(program)
    program.child.kill('SIGTERM')
    assert.equal(await program.exited, 0)
    const lines = program.stderr().trim().split('\n')
    const levels = lines.map((line) => (JSON.parse(line) as { level: string }).level)
    assert.deepEqual(levels, ['warn', 'info'].slice(0, count))
  }
})

test('--help tells what the broker takes', async (t) => {
  const program = seglog(t, ['broker', '--help'], temporaryDirectory(t))
  assert.equal(await program.exited, 0)
  assert.match(program.stdout(), /^usage: seglog broker .*--override/)
  assert.equal(program.stderr(), '')
})
