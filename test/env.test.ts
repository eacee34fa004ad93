import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { test } from 'node:test'
import { portOf, systemEnv } from '../src/env.js'

const module = new URL('../src/env.js', import.meta.url).href

test('the wall clock is that of the system, and the other one never goes back', () => {
  assert.ok(Math.abs(systemEnv.now() - Date.now()) < 1000)
  const first = systemEnv.monotonic()
  assert.ok(systemEnv.monotonic() >= first)
})

test('a timer calls once, and not at all after it was cancelled', async () => {
  const called: string[] = []
  const cancelled = systemEnv.after(1, () => called.push('cancelled'))
  cancelled.cancel()
  cancelled.cancel()
  const last = new Promise<void>((resolve) => systemEnv.after(20, resolve))
  const kept = systemEnv.after(1, () => called.push('kept'))
  // Timers of the env do not keep the process alive, so something else must.
  const alive = setTimeout(() => {}, 5000)
  await last
  clearTimeout(alive)
  kept.cancel()
  assert.deepEqual(called, ['kept'])
})

test('a timer does not keep the process alive', () => {
  const code = `import { systemEnv } from '${module}'; systemEnv.after(60_000, () => {})`
  const args = ['--input-type=module', '--eval', code]
  assert.equal(spawnSync(process.execPath, args, { timeout: 10_000 }).status, 0)
})

test('soon comes after what runs now and before the next timer of a ms', async () => {
  const order: string[] = []
  const done = new Promise<void>((resolve) =>
    systemEnv.soon(() => resolve(void order.push('soon'))),
  )
  order.push('now')
  await done
  assert.deepEqual(order, ['now', 'soon'])
})

test('random bytes, numbers and ids are of their size and range', () => {
  assert.equal(systemEnv.random.bytes(16).length, 16)
  for (let i = 0; i < 100; i++) {
    const number = systemEnv.random.below(3)
    assert.ok(Number.isInteger(number) && number >= 0 && number < 3)
  }
  assert.match(systemEnv.random.uuid(), /^[0-9a-f]{8}-([0-9a-f]{4}-){3}[0-9a-f]{12}$/)
  assert.notEqual(systemEnv.random.uuid(), systemEnv.random.uuid())
})

test('a server listens on a free port and a client reaches it', async (t) => {
  const accepted = new Promise<void>((resolve) => {
    void systemEnv
      .listen({ host: '127.0.0.1', port: 0, onConnection: (socket) => resolve(void socket.end()) })
      .then((server) => {
        t.after(() => server.close())
        const socket = systemEnv.connect('127.0.0.1', portOf(server))
        t.after(() => socket.destroy())
        return once(socket, 'connect')
      })
  })
  await accepted
})

test('an address that is taken rejects', async (t) => {
  const options = { host: '127.0.0.1', port: 0, onConnection() {} }
  const server = await systemEnv.listen(options)
  t.after(() => server.close())
  await assert.rejects(systemEnv.listen({ ...options, port: portOf(server) }), /EADDRINUSE/)
})
