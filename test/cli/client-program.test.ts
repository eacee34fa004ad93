/** What only a process can show: stdin, pipes that close, signals and exit codes. */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { type TestContext, test } from 'node:test'
import { batchOf, createTopic, fetchFrom, produceTo, startBroker } from '../support/broker.js'
import { temporaryDirectory } from '../support/tmp.js'
import { until } from '../support/until.js'
import { Wire } from '../support/wire.js'
import { main, ready, seglog } from './program.js'

async function scene(t: TestContext) {
  const { broker, wire } = await startBroker(t)
  await createTopic(wire, 't')
  return { wire, server: ['--bootstrap-server', broker.bootstrap] }
}

/** As `seglog`, with a stdin. */
function fed(t: TestContext, args: string[]) {
  const child = spawn(process.execPath, [main, ...args], { stdio: 'pipe' })
  t.after(() => child.kill('SIGKILL'))
  const exited = new Promise<number | null>((resolve) => child.once('close', resolve))
  return { child, exited }
}

test('stdin is produced, and its end is the end', async (t) => {
  const { wire, server } = await scene(t)
  const { child, exited } = fed(t, ['produce', 't', ...server])
  child.stdin.end('a\nb')
  assert.equal(await exited, 0)
  assert.equal((await fetchFrom(wire, 't', 0)).highWatermark, 2)
})

test('consume ends in silence, and with 0, when nobody reads any more', async (t) => {
  const { wire, server } = await scene(t)
  const values = Array.from({ length: 5000 }, (_, i) => `line ${i} ${'x'.repeat(100)}`)
  await produceTo(wire, 't', batchOf(...values))
  const { child, exited } = fed(t, ['consume', 't', '--from-beginning', ...server])
  let stderr = ''
  child.stderr.on('data', (chunk) => {
    stderr += chunk
  })
  await new Promise<void>((resolve) => child.stdout.once('data', () => resolve()))
  child.stdout.destroy()
  // It notices with the next record.
  await produceTo(wire, 't', batchOf(...values))
  await produceTo(wire, 't', batchOf(...values))
  assert.equal(await exited, 0)
  assert.equal(stderr, '')
})

for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  test(`${signal} ends consume in order, its group committed`, async (t) => {
    const { wire, server } = await scene(t)
    await produceTo(wire, 't', batchOf('a', 'b'))
    const args = ['consume', 't', '--from-beginning', '--group', 'g', ...server]
    const program = seglog(t, args)
    await until(() => program.stdout() === 'a\nb\n', 'both records')
    program.child.kill(signal)
    assert.equal(await program.exited, 0)
    const again = seglog(t, [...args, '--to-end'])
    assert.equal(await again.exited, 0)
    assert.equal(again.stdout(), '')
  })
}

for (const args of [
  ['topics', 'list'],
  ['configs', 'describe', 'broker', '0'],
  ['groups', 'list'],
  ['consume', 't'],
] as const) {
  test(`${args[0]} says in one line where nothing listens, with exit code 1`, async (t) => {
    const program = seglog(t, [...args, '--bootstrap-server', '127.0.0.1:1'])
    assert.equal(await program.exited, 1)
    const text = 'seglog: 127.0.0.1:1: nothing listens there (ECONNREFUSED)\n'
    assert.equal(program.stderr(), text)
    assert.equal(program.stdout(), '')
  })
}

test('a broker that is killed and comes back stops nobody, and stores nothing twice', async (t) => {
  const data = temporaryDirectory(t)
  const start = (port: number) => {
    const config = [`listeners=PLAINTEXT://127.0.0.1:${port}`, `log.dirs=${data}`]
    return seglog(t, ['broker', ...config.flatMap((each) => ['--override', each])])
  }
  const first = start(0)
  const port = await ready(first)
  const server = ['--bootstrap-server', `127.0.0.1:${port}`]
  const { child, exited } = fed(t, ['produce', 't', ...server])
  const lines = Array.from({ length: 20_000 }, (_, i) => `${i}\n`)
  child.stdin.write(lines.slice(0, 15_000).join(''))
  const wire = await Wire.connect(t, port)
  await until(async () => (await fetchFrom(wire, 't', 0)).highWatermark >= 10_000, 'a first batch')
  const reader = seglog(t, [
    'consume',
    't',
    '--from-beginning',
    '--max-messages',
    '20000',
    ...server,
  ])
  await until(() => reader.stdout() !== '', 'a first record')
  first.child.kill('SIGKILL')
  await first.exited
  child.stdin.end(lines.slice(15_000).join(''))
  await ready(start(port))
  assert.equal(await exited, 0)
  assert.equal(await reader.exited, 0)
  assert.equal(reader.stdout(), lines.join(''))
})

test('what a broker refuses is one line and exit code 1', async (t) => {
  const { server } = await scene(t)
  const program = seglog(t, ['topics', 'create', 't', ...server])
  assert.equal(await program.exited, 1)
  assert.match(program.stderr(), /^seglog: topic t: TOPIC_ALREADY_EXISTS .*\n$/)
})
