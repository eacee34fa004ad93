import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { ProducerIds } from '../../src/controller/producer-ids.js'
import type { Coordination } from '../../src/coordination/coordination.js'
import { EmbeddedCoordination } from '../../src/coordination/embedded.js'
import { producerIdBlockZNode } from '../../src/coordination/znodes.js'
import { temporaryDirectory } from '../support/tmp.js'

test('ids count up from 0, and go on across blocks', async (t) => {
  const tree = await EmbeddedCoordination.open(join(temporaryDirectory(t), 'tree'))
  const ids = new ProducerIds(tree, 0)
  for (let expected = 0; expected < 2001; expected++) assert.equal(await ids.next(), expected)
  const znode = await tree.get(producerIdBlockZNode.path)
  assert.equal(producerIdBlockZNode.decode(znode!.data), 2999)
})

test('a restart begins a block of its own', async (t) => {
  const path = join(temporaryDirectory(t), 'tree')
  assert.equal(await new ProducerIds(await EmbeddedCoordination.open(path), 0).next(), 0)
  assert.equal(await new ProducerIds(await EmbeddedCoordination.open(path), 0).next(), 1000)
})

test('a block begins above the ids that the logs know', async (t) => {
  const tree = await EmbeddedCoordination.open(join(temporaryDirectory(t), 'tree'))
  let known = 4
  const ids = new ProducerIds(tree, 0, () => known)
  for (let expected = 5; expected < 1005; expected++) assert.equal(await ids.next(), expected)
  known = 7000
  assert.equal(await ids.next(), 7001)
})

test('askers at the same time share one block and no id', async (t) => {
  const tree = await EmbeddedCoordination.open(join(temporaryDirectory(t), 'tree'))
  const ids = new ProducerIds(tree, 0)
  const given = await Promise.all(Array.from({ length: 100 }, () => ids.next()))
  assert.deepEqual(
    given,
    Array.from({ length: 100 }, (_, i) => i),
  )
})

test('a tree that cannot be written gives no id, and one when it can', async (t) => {
  const tree = await EmbeddedCoordination.open(join(temporaryDirectory(t), 'tree'))
  let broken = true
  const flaky = {
    get: (path: string) => tree.get(path),
    create: (path: string, data: Buffer) =>
      broken ? Promise.reject(new Error('no disk')) : tree.create(path, data),
  } as Coordination
  const ids = new ProducerIds(flaky, 0)
  await assert.rejects(ids.next(), /no disk/)
  broken = false
  assert.equal(await ids.next(), 0)
})
