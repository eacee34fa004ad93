import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { EmbeddedCoordination } from '../../src/coordination/embedded.js'
import { temporaryDirectory } from '../support/tmp.js'

const text = (value: string) => Buffer.from(value)

async function fixture(t: TestContext) {
  const path = join(temporaryDirectory(t), 'tree.json')
  return { path, tree: await EmbeddedCoordination.open(path) }
}

test('a znode is there after a restart, with its version', async (t) => {
  const { path, tree } = await fixture(t)
  await tree.create('/a/b', text('one'))
  assert.equal(await tree.set('/a/b', text('two'), 0), 1)
  const again = await EmbeddedCoordination.open(path)
  assert.deepEqual(await again.get('/a/b'), { data: text('two'), version: 1 })
  assert.deepEqual(await again.children('/a'), ['b'])
})

test('an ephemeral znode is gone after a restart', async (t) => {
  const { path, tree } = await fixture(t)
  await tree.create('/ids/0', text('x'), { ephemeral: true })
  assert.deepEqual(await tree.children('/ids'), ['0'])
  const again = await EmbeddedCoordination.open(path)
  assert.equal(await again.get('/ids/0'), undefined)
})

test('creating what exists, and writing with a stale version, are refused', async (t) => {
  const { tree } = await fixture(t)
  await tree.create('/a', text('1'))
  await assert.rejects(tree.create('/a', text('2')), { code: 'EXISTS' })
  await assert.rejects(tree.set('/a', text('2'), 7), { code: 'CONFLICT' })
  await assert.rejects(tree.delete('/a', 1), { code: 'CONFLICT' })
  await assert.rejects(tree.set('/b', text('2'), 0), { code: 'NOT_FOUND' })
  assert.deepEqual(await tree.get('/a'), { data: text('1'), version: 0 })
})

test('of two writes with the same version one wins', async (t) => {
  const { tree } = await fixture(t)
  await tree.create('/a', text(''))
  const writes = [tree.set('/a', text('x'), 0), tree.set('/a', text('y'), 0)]
  const states = (await Promise.allSettled(writes)).map(({ status }) => status)
  assert.deepEqual(states.sort(), ['fulfilled', 'rejected'])
})

test('children are the direct ones only', async (t) => {
  const { tree } = await fixture(t)
  await tree.create('/a/b/c', text(''))
  await tree.create('/ab', text(''))
  assert.deepEqual(await tree.children('/a'), ['b'])
  assert.deepEqual(await tree.children('/'), ['a', 'ab'])
  assert.deepEqual(await tree.children('/none'), [])
})

test('a damaged file is an error that names it, and stays as it is', async (t) => {
  const { path, tree } = await fixture(t)
  await tree.create('/a', text('1'))
  for (const damage of ['', '{', '{"version":2,"znodes":{}}', 'null', '{"version":1}']) {
    writeFileSync(path, damage)
    await assert.rejects(EmbeddedCoordination.open(path), (error: Error & { code: string }) => {
      return error.code === 'CORRUPT' && error.message.includes(path)
    })
    assert.equal(readFileSync(path, 'utf8'), damage)
  }
})
