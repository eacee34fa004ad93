/** Memory that the addon lends to JavaScript and takes back. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { native, POOLED_BYTES_MAX, Status } from '../src/native.js'

test('a pooled Buffer has the length that was asked for', () => {
  for (const length of [1, 65536, 65537, POOLED_BYTES_MAX]) {
    const buffer = native.pooledBuffer(length)
    assert.ok(Buffer.isBuffer(buffer))
    assert.equal(buffer.length, length)
    assert.equal(buffer.fill(7)[length - 1], 7)
  }
})

test('Buffers that are in use do not share memory', () => {
  const buffers = Array.from({ length: 20 }, () => native.pooledBuffer(1000) as Buffer)
  for (const [index, buffer] of buffers.entries()) buffer.fill(index)
  for (const [index, buffer] of buffers.entries()) {
    assert.ok(buffer.every((byte) => byte === index))
  }
})

test('a length that is none is refused', () => {
  for (const length of [0, -1, 1.5, Number.NaN, POOLED_BYTES_MAX + 1]) {
    assert.equal(native.pooledBuffer(length), Status.BAD_ARGUMENT)
  }
})

test('a pool that has lent all it may says so, and lends again what was collected', () => {
  const script = `
    import { native } from ${JSON.stringify(new URL('../src/native.js', import.meta.url).href)}
    let held = []
    for (;;) {
      const buffer = native.pooledBuffer(2 << 20)
      if (typeof buffer === 'number') break
      held.push(buffer)
    }
    const lent = held.length
    held = []
    let again = 0
    for (let round = 0; again < 2 * lent && round < 1000; round++) {
      globalThis.gc()
      await new Promise((resolve) => setImmediate(resolve))
      if (typeof native.pooledBuffer(2 << 20) === 'object') again++
    }
    process.stdout.write(JSON.stringify([lent, again]))
  `
  const args = ['--expose-gc', '--input-type=module', '-e', script]
  const { status, stdout } = spawnSync(process.execPath, args, {
    encoding: 'utf8',
    cwd: fileURLToPath(new URL('.', import.meta.url)),
    timeout: 20_000,
  })
  assert.equal(status, 0)
  assert.deepEqual(JSON.parse(stdout), [32, 64])
})
