import assert from 'node:assert/strict'
import { test } from 'node:test'
import { TransactionalIds } from '../../src/coordinator/transactional-ids.js'
import { KafkaError } from '../../src/errors.js'

function start(idsMax?: number): TransactionalIds {
  let next = 1000
  return new TransactionalIds(async () => next++, idsMax)
}

test('each producer of a transactional id gets the next epoch of one producer id', async () => {
  const ids = start()
  assert.deepEqual(await ids.begin('a'), { producerId: 1000, producerEpoch: 0 })
  assert.deepEqual(await ids.begin('a'), { producerId: 1000, producerEpoch: 1 })
  assert.deepEqual(await ids.begin('b'), { producerId: 1001, producerEpoch: 0 })
})

test('who says what it has gets the next epoch, and the same one where it asks again', async () => {
  const ids = start()
  await ids.begin('a')
  const claimed = { producerId: 1000, producerEpoch: 0 }
  assert.deepEqual(await ids.begin('a', claimed), { producerId: 1000, producerEpoch: 1 })
  assert.deepEqual(await ids.begin('a', claimed), { producerId: 1000, producerEpoch: 1 })
})

test('who had an epoch before another came is fenced, and so is a stranger', async () => {
  const ids = start()
  await ids.begin('a')
  await ids.begin('a')
  const fenced = KafkaError.PRODUCER_FENCED
  assert.equal(await ids.begin('a', { producerId: 1000, producerEpoch: 0 }), fenced)
  assert.equal(await ids.begin('a', { producerId: 1000, producerEpoch: 2 }), fenced)
  assert.equal(await ids.begin('a', { producerId: 5, producerEpoch: 1 }), fenced)
})

test('where nothing is known of an id, whoever claims it gets a new producer id', async () => {
  const claimed = { producerId: 5, producerEpoch: 7 }
  assert.deepEqual(await start().begin('a', claimed), { producerId: 1000, producerEpoch: 0 })
})

test('epochs that are used up go on with another producer id', async () => {
  const ids = start()
  for (let epoch = 0; epoch <= 32_766; epoch++) {
    assert.deepEqual(await ids.begin('a'), { producerId: 1000, producerEpoch: epoch })
  }
  const last = { producerId: 1000, producerEpoch: 32_766 }
  const next = { producerId: 1001, producerEpoch: 0 }
  assert.deepEqual(await ids.begin('a', last), next)
  // Its answer was lost.
  assert.deepEqual(await ids.begin('a', last), next)
})

test('two that begin at once get two epochs', async () => {
  const ids = start()
  const both = await Promise.all([ids.begin('a'), ids.begin('a')])
  assert.deepEqual(
    both.map((each) => typeof each === 'object' && each.producerEpoch),
    [0, 1],
  )
})

test('the id that was not asked for longest is forgotten', async () => {
  const ids = start(2)
  for (const id of ['a', 'b', 'a', 'c']) await ids.begin(id)
  assert.deepEqual(await ids.begin('a'), { producerId: 1000, producerEpoch: 2 })
  assert.deepEqual(await ids.begin('b'), { producerId: 1003, producerEpoch: 0 })
})
