import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { EventEmitter, once } from 'node:events'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { type TestContext, test } from 'node:test'
import { Broker } from '../../src/broker.js'
import { serve } from '../../src/cli/broker.js'
import { silentLogger } from '../../src/logger.js'
import { SimEnv } from '../support/sim-env.js'
import { temporaryDirectory } from '../support/tmp.js'
import { until } from '../support/until.js'

/** A process that is told to stop, with a start that settles when the test says so. */
function scene() {
  const env = new SimEnv()
  const signals = new EventEmitter()
  const exits: number[] = []
  let settle: (broker: Promise<Broker>) => void = () => {}
  const starting = new Promise<Broker>((resolve) => {
    settle = resolve
  })
  const stdout = new PassThrough()
  const around = {
    io: { stdout, stderr: new PassThrough() },
    logger: silentLogger,
    signals,
    env,
    exit: (code: number) => void exits.push(code),
  }
  const start = (t: TestContext) =>
    settle(Broker.start({ port: 0, dataDir: temporaryDirectory(t) }))
  return { env, signals, exits, stdout, served: serve(() => starting, around), start }
}

test('a signal repeated at once, as by Ctrl-C under npm, stops the broker in order', async (t) => {
  const { env, signals, exits, stdout, served, start } = scene()
  start(t)
  await once(stdout, 'data')
  signals.emit('SIGINT')
  await env.advance(999)
  signals.emit('SIGINT')
  assert.equal(await served, 0)
  assert.deepEqual(exits, [])
})

test('the same signal again after a second, and another one at any time, end at once', async () => {
  for (const [again, afterMs] of [
    ['SIGINT', 1000],
    ['SIGTERM', 0],
  ] as const) {
    const { env, signals, exits } = scene()
    signals.emit('SIGINT')
    await env.advance(afterMs)
    signals.emit(again)
    assert.deepEqual(exits, [1])
  }
})

test('a broker that is told to stop while it starts is closed and never says ready', async (t) => {
  const { env, signals, exits, stdout, served, start } = scene()
  signals.emit('SIGTERM')
  start(t)
  assert.equal(await served, 0)
  assert.equal(stdout.read(), null)
  await env.advance(10_000)
  assert.deepEqual(exits, [])
})

test('a start that does not end after a signal is left behind after two seconds', async () => {
  const { env, signals, exits } = scene()
  signals.emit('SIGTERM')
  await env.advance(1999)
  assert.deepEqual(exits, [])
  await env.advance(1)
  assert.deepEqual(exits, [0])
})

test('SIGTERM to npm start reaches the broker, which stops in order', async (t) => {
  const data = temporaryDirectory(t)
  const overrides = [`log.dirs=${data}`, 'listeners=PLAINTEXT://127.0.0.1:0']
  const args = ['start', '--', ...overrides.flatMap((override) => ['--override', override])]
  const cwd = join(import.meta.dirname, '..', '..', '..')
  const npm = spawn('npm', args, { cwd, stdio: ['ignore', 'pipe', 'pipe'], detached: true })
  t.after(() => {
    // The whole group, so that a broker which npm left behind does not stay.
    if (npm.exitCode === null && npm.pid !== undefined) process.kill(-npm.pid, 'SIGKILL')
  })
  let out = ''
  npm.stdout.on('data', (chunk) => {
    out += chunk
  })
  npm.stderr.resume()
  await until(() => out.includes(' ready on '), 'the line that says ready')
  npm.kill('SIGTERM')
  assert.deepEqual(await once(npm, 'exit'), [0, null])
  assert.ok(existsSync(join(data, '.kafka_cleanshutdown')))
})
